/* SPDX-License-Identifier: MIT */
#include "tools/catalog.h"

#include "base/mem.h"
#include "base/util.h"
#include "tools/tool.h"

/* With the call budget. */
static const char instructions[] =
	"Runs code in stateful sessions on the user's own machine. Use one session_id per "
	"conversation, a topic plus four random characters such as sales-k3f9, and reuse it: "
	"variables, imports and files stay until the session ends. Give one step per cell and read "
	"the status line that ends each answer: [id#cell state seconds | files ... | names ...].\n"
	"Files: the working folder holds input/ (what you upload) and output/ (results for the "
	"user: figures go there automatically). The user's files and chat attachments are "
	"not here: bring them in with upload_file (url, path or content), or open a folder that the "
	"user shares. Links into the session do not open for the user: tell them the path after 'saved' in "
	"the status line (other new files: its files/).\n"
	"A call answers within %ju s; its code runs on (state running) until interact tells its end, and "
	"waits where it reads the terminal (waiting_for_input) for interact's input. When an answer says "
	"that state was lost, run the setup again. More: resource ptycell://guide.";

#define SESSION_ID_SCHEMA "\"session_id\":{\"type\":\"string\"}"
#define ONLY_SESSION_SCHEMA                                                                        \
	"{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA "},"                             \
	"\"required\":[\"session_id\"]}"
/* Hints say what differs from the protocol's own: destructive, in an open world. */
#define ADDS "{\"destructiveHint\":false}"
#define CLOSED "{\"destructiveHint\":false,\"openWorldHint\":false}"
#define CONFIGURES "{\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}"
#define READ_ONLY "{\"readOnlyHint\":true,\"openWorldHint\":false}"

static const struct mcp_tool tools[] = {
	{
		.name = "exec_code",
		.title = "Run code",
		.description =
			"Runs a cell; variables stay. Answers with output, last value, figures (no "
			"plt.show()), changed files and a status line. In Python !cmd and %magics "
			"work. Code that outlasts wait or waits for input goes on with interact.",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{"
			"\"session_id\":{\"type\":\"string\",\"description\":\"made at first use\"},"
			"\"language\":{\"type\":\"string\",\"description\":\"python, javascript, bash, r\"},"
			"\"code\":{\"type\":\"string\"},"
			"\"dependencies\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
			"\"description\":\"to install first\"},"
			"\"config\":{\"type\":\"object\"},"
			"\"timeout\":{\"type\":\"number\",\"description\":\"seconds\"},"
			"\"wait\":{\"type\":\"number\",\"description\":\"seconds\"}},"
			"\"required\":[\"session_id\",\"code\"]}",
		.annotations = CLOSED,
		.call = tool_exec_code,
	},
	{
		.name = "interact",
		.title = "Continue a cell",
		.description =
			"For a cell that runs on or waits for input. Answers with what is new when it "
			"ends, waits, wrote the text until, or after wait seconds. Give one of input "
			"(a line; raw: without Enter), key (enter, ctrl-d, up ...), action: wait, "
			"interrupt (variables stay), terminate or kill (they go).",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"language\":{\"type\":\"string\"},"
				"\"input\":{\"type\":\"string\"},"
				"\"raw\":{\"type\":\"boolean\"},"
				"\"key\":{\"type\":\"string\"},"
				"\"action\":{\"type\":\"string\"},"
				"\"until\":{\"type\":\"string\"},"
				"\"wait\":{\"type\":\"number\"}},"
				"\"required\":[\"session_id\"]}",
		.annotations = CLOSED,
		.call = tool_interact,
	},
	{
		.name = "exec_sql",
		.title = "Run SQL",
		.description =
			"One SELECT. database: one of session_info (PostgreSQL, MariaDB, MySQL), a "
			"SQLite file, or files: CSVs as tables (default).",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"query\":{\"type\":\"string\"},"
				"\"params\":{\"type\":\"array\",\"items\":{}},"
				"\"database\":{\"type\":\"string\"}},"
				"\"required\":[\"session_id\",\"query\"]}",
		.annotations = ADDS,
		.call = tool_exec_sql,
	},
	{
		.name = "install_packages",
		.title = "Install packages",
		.description = "Installs packages, e.g. [\"pandas>=2\"]. "
			       "language: python (default), javascript, r.",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"packages\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
				"\"language\":{\"type\":\"string\"}},"
				"\"required\":[\"session_id\",\"packages\"]}",
		.annotations = ADDS,
		.call = tool_install_packages,
	},
	{
		.name = "upload_file",
		.title = "Add a file",
		.description =
			"Puts a file into input/, from url, path (in a folder the user shares) or "
			"content with filename (encoding base64 if binary).",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"url\":{\"type\":\"string\"},"
				"\"path\":{\"type\":\"string\"},"
				"\"filename\":{\"type\":\"string\"},"
				"\"content\":{\"type\":\"string\"},"
				"\"encoding\":{\"type\":\"string\"},"
				"\"overwrite\":{\"type\":\"boolean\"}},"
				"\"required\":[\"session_id\"]}",
		.annotations = "{\"destructiveHint\":true}", /* overwrite */
		.call = tool_upload_file,
	},
	{
		.name = "list_artifacts",
		.title = "List files",
		.description = "Files. pattern: a glob (*.csv, output/**); more by cursor.",
		.input_schema = "{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
				"\"pattern\":{\"type\":\"string\"},"
				"\"cursor\":{\"type\":\"string\"}},"
				"\"required\":[\"session_id\"]}",
		.annotations = READ_ONLY,
		.call = tool_list_artifacts,
	},
	{
		.name = "session_info",
		.title = "Session",
		.description = "State, folders, languages and limits; config lowers them: "
			       "{\"exec_timeout\": 60}.",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{" SESSION_ID_SCHEMA ","
			"\"config\":{\"type\":\"object\"},"
			"\"include\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"enum\":[\"variables\","
			"\"packages\"]}}},"
			"\"required\":[\"session_id\"]}",
		.annotations = CONFIGURES,
		.call = tool_session_info,
	},
	{
		.name = "list_sessions",
		.title = "List sessions",
		.description = "Live sessions: state, age, idle time.",
		.input_schema =
			"{\"type\":\"object\",\"properties\":{},\"additionalProperties\":false}",
		.annotations = READ_ONLY,
		.call = tool_list_sessions,
	},
	{
		.name = "destroy_session",
		.title = "End a session",
		.description = "Its processes, variables and folder go; saved results stay.",
		.input_schema = ONLY_SESSION_SCHEMA,
		.annotations = "{\"openWorldHint\":false}",
		.call = tool_destroy_session,
	},
};

void catalog_features(struct mcp_features *features)
{
	features->name = "ptycell";
	features->title = "ptycell code interpreter";
	features->version = PTYCELL_VERSION;
	features->tools = tools;
	features->tool_count = ARRAY_SIZE(tools);
}

char *catalog_instructions(const struct settings *settings)
{
	return xasprintf(instructions, (uintmax_t)settings->call_budget);
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
