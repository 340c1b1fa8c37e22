/* SPDX-License-Identifier: MIT */
#include "tools/catalog.h"

#include "base/util.h"
#include "tools/tool.h"

static const char instructions[] =
	"Runs code in stateful sessions on the user's own machine. Use one session_id per "
	"conversation, a topic plus four random characters such as sales-k3f9, and reuse it: "
	"variables, imports and files stay until the session ends. Give one step per cell and read "
	"the status line that ends each answer: [id#cell state seconds | files ... | names ...].\n"
	"Files: the working folder holds input/ (what you upload) and output/ (results for the "
	"user: figures go there automatically). The user's files and chat attachments are "
	"not here: bring them in with upload_file (url, path or content), or open a folder that the user shares. Links into the session do not open for the "
	"user: tell them the path after 'saved' in the status line, where results are kept.\n"
	"A call answers within 45 s; its code runs on (state running) until interact tells its end, and "
	"waits where it reads the terminal (waiting_for_input) for interact's input. When an answer says "
	"that state was lost, run the setup again. More: resource ptycell://guide.";

#define SESSION_ID_SCHEMA "\"session_id\":{\"type\":\"string\"}"
#define ONLY_SESSION_SCHEMA                                                                        \
	"{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA "},"                             \
	"\"required\":[\"session_id\"],\"additionalProperties\":false}"
#define CLOSED "{\"destructiveHint\":false,\"openWorldHint\":false}"
#define READ_ONLY "{\"readOnlyHint\":true,\"openWorldHint\":false}"

static const struct mcp_tool tools[] = {
	{
		.name = "exec_code",
		.title = "Run code",
		.description =
			"Runs a cell; the interpreter's state stays. Answers with output, last value, "
			"figures (no plt.show()), changed files and a status line. In Python !cmd and "
			"%magics work. Code that takes longer than wait, or waits for input, goes on "
			"with interact.",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{"
			"\"session_id\":{\"type\":\"string\",\"description\":\"made at first use\"},"
			"\"language\":{\"type\":\"string\",\"description\":\"python, javascript, bash or r\"},"
			"\"code\":{\"type\":\"string\"},"
			"\"dependencies\":{\"type\":\"array\",\"description\":\"packages to install first\"},"
			"\"timeout\":{\"type\":\"number\",\"description\":\"seconds; else the "
			"session's exec_timeout\"},"
			"\"wait\":{\"type\":\"number\",\"description\":\"seconds until the answer; "
			"default 45\"}},"
			"\"required\":[\"session_id\",\"language\",\"code\"],"
			"\"additionalProperties\":false}",
		.annotations = CLOSED,
		.call = tool_exec_code,
	},
	{
		.name = "interact",
		.title = "Continue a running cell",
		.description =
			"Continues a cell that runs on or waits for input. Answers with what is new when "
			"it ends, waits, wrote the text until, or after wait seconds. Give one of input "
			"(a line; raw: without Enter), key (enter, ctrl-d, up ...), action: wait, "
			"interrupt (variables stay), terminate or kill (they go).",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
			"\"language\":{\"type\":\"string\"},"
			"\"input\":{\"type\":\"string\"},"
			"\"raw\":{\"type\":\"boolean\"},"
			"\"key\":{\"type\":\"string\"},"
			"\"action\":{\"enum\":[\"wait\",\"interrupt\",\"terminate\",\"kill\"]},"
			"\"until\":{\"type\":\"string\"},"
			"\"wait\":{\"type\":\"number\"}},"
			"\"required\":[\"session_id\"],\"additionalProperties\":false}",
		.annotations = "{\"destructiveHint\":false,\"openWorldHint\":false}",
		.call = tool_interact,
	},
	{
		.name = "exec_sql",
		.title = "Query a database",
		.description =
			"Runs one SELECT. database: a name of session_info, a SQLite file, or files: "
			"CSV files as tables (default if none is configured).",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"query\":{\"type\":\"string\"},"
				"\"params\":{\"type\":\"array\"},"
				"\"database\":{\"type\":\"string\"}},"
				"\"required\":[\"session_id\",\"query\"],"
				"\"additionalProperties\":false}",
		.annotations = "{\"readOnlyHint\":true,\"openWorldHint\":true}",
		.call = tool_exec_sql,
	},
	{
		.name = "install_packages",
		.title = "Install packages",
		.description = "Installs packages into a session, e.g. [\"pandas>=2\"]. "
			       "language: python (default).",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"packages\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
				"\"language\":{\"type\":\"string\"}},"
				"\"required\":[\"session_id\",\"packages\"],"
				"\"additionalProperties\":false}",
		.annotations = "{\"destructiveHint\":false,\"openWorldHint\":true}",
		.call = tool_install_packages,
	},
	{
		.name = "upload_file",
		.title = "Put a file into a session",
		.description =
			"Puts a file into input/, from url, path (in a folder the user shares) or "
			"content with filename (encoding base64 if binary).",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"url\":{\"type\":\"string\"},"
				"\"path\":{\"type\":\"string\"},"
				"\"filename\":{\"type\":\"string\"},"
				"\"content\":{\"type\":\"string\"},"
				"\"encoding\":{\"enum\":[\"utf-8\",\"base64\"]},"
				"\"overwrite\":{\"type\":\"boolean\"}},"
				"\"required\":[\"session_id\"],\"additionalProperties\":false}",
		.annotations = "{\"destructiveHint\":false,\"openWorldHint\":true}",
		.call = tool_upload_file,
	},
	{
		.name = "list_artifacts",
		.title = "List files",
		.description = "Files of a session: path, size, type, resource uri. pattern is a "
			       "glob (*.csv, output/**); more pages by cursor.",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"pattern\":{\"type\":\"string\"},"
				"\"cursor\":{\"type\":\"string\"}},"
				"\"required\":[\"session_id\"],\"additionalProperties\":false}",
		.annotations = READ_ONLY,
		.call = tool_list_artifacts,
	},
	{
		.name = "session_info",
		.title = "Session details",
		.description =
			"State, folders, languages and limits of a session, made "
			"when new. config lowers limits for it, e.g. {\"exec_timeout\": 60}.",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
			"\"config\":{\"type\":\"object\"},"
			"\"include\":{\"type\":\"array\",\"items\":{\"enum\":[\"variables\","
			"\"packages\"]}}},"
			"\"required\":[\"session_id\"],\"additionalProperties\":false}",
		.annotations = READ_ONLY,
		.call = tool_session_info,
	},
	{
		.name = "list_sessions",
		.title = "List sessions",
		.description = "Live sessions: state, age, idle time.",
		.input_schema = "{\"type\":\"object\",\"additionalProperties\":false}",
		.annotations = READ_ONLY,
		.call = tool_list_sessions,
	},
	{
		.name = "destroy_session",
		.title = "End a session",
		.description =
			"Ends the session: processes, variables and folder go; saved results "
			"stay.",
		.input_schema = ONLY_SESSION_SCHEMA,
		.annotations = "{\"destructiveHint\":true,\"openWorldHint\":false}",
		.call = tool_destroy_session,
	},
};

void catalog_features(struct mcp_features *features)
{
	features->name = "ptycell";
	features->title = "ptycell code interpreter";
	features->version = PTYCELL_VERSION;
	features->instructions = instructions;
	features->tools = tools;
	features->tool_count = ARRAY_SIZE(tools);
}

static bool shares_for_writing(const struct settings *settings)
{
	for (size_t i = 0; i < settings->share_count; i++)
		if (settings->shares[i].writable)
			return true;
	return false;
}

const char *catalog_code_annotations(const struct settings *settings)
{
	bool destructive = settings->unconfined || shares_for_writing(settings);
	bool open = settings->unconfined || settings->hosts != NULL;

	if (destructive && open)
		return "{\"destructiveHint\":true,\"openWorldHint\":true}";
	if (destructive)
		return "{\"destructiveHint\":true,\"openWorldHint\":false}";
	return open ? "{\"destructiveHint\":false,\"openWorldHint\":true}" : CLOSED;
}
