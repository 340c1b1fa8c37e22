/* SPDX-License-Identifier: MIT */
/*
 * prompts.c - analyse a file, query a database, continue a session: one message of the user each.
 *
 * A prompt says what the model should do first, because a model that begins with the answer skips
 * the look at the data. Completion offers what there is: shares, databases, live sessions and the
 * folders of kept results, each of which stands for its session.
 */
#include "tools/prompts.h"

#include <dirent.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "json/parse.h"
#include "query/databases.h"
#include "session/session.h"
#include "session/table.h"
#include "tools/service.h"
#include "workspace/keepname.h"

enum {
	KEPT_MAX = 1000, /* folders of kept results that are looked at */
	NOTE_MAX = 64 << 10,
};

static const char *text_of(const json_t *arguments, const char *name, const char *missing)
{
	const char *text = json_string_value(json_object_get(arguments, name));

	return text != NULL && text[0] != '\0' ? text : missing;
}

static void answer_prompt(struct mcp_call *call, const char *description, json_t *text_own)
{
	json_t *result = json_object();
	json_t *message = json_object();
	json_t *messages = json_array();
	json_t *content = json_object();

	json_put_str(content, "type", "text");
	json_put(content, "text", text_own);
	json_put_str(message, "role", "user");
	json_put(message, "content", content);
	json_append(messages, message);
	json_put_str(result, "description", description);
	json_put(result, "messages", messages);
	mcp_call_finish_result(call, result);
}

static void get_file(struct mcp_call *call, json_t *arguments, void *context)
{
	(void)context;
	answer_prompt(
		call, "Analyse a file",
		json_make_fmt(
			"Analyse the file '%s' with ptycell. Bring it in with upload_file unless code "
			"finds it already: by its path if a folder that I share has it, by its url, or "
			"by its content if I attached it here. Look at its first rows, its columns and "
			"what is missing before you compute anything. %s Plot what matters, write "
			"results to output/, and tell me the folder that the status line names after "
			"'saved'.",
			text_of(arguments, "file", ""),
			text_of(arguments, "question", "Then tell me what is remarkable.")));
}

static void get_database(struct mcp_call *call, json_t *arguments, void *context)
{
	const struct service *service = context;
	const char *name = text_of(arguments, "database", NULL);
	const char *which = "the database";
	cleanup_buf struct buf names = BUF_INIT(BUF_UNBOUNDED);

	if (name != NULL) {
		buf_putf(&names, "'%s'", name);
	} else {
		databases_put_names(service->settings, &names);
		if (service->settings->database_count > 0)
			which = "the right one of the databases";
	}
	answer_prompt(call, "Query a database",
		      json_make_fmt("Answer this from %s %s with exec_sql of ptycell: %s Look at "
				    "its tables and columns first. Read the notes of each answer. "
				    "Show me the query that gave each number, and plot what "
				    "compares more than five numbers.",
				    which, buf_str(&names), text_of(arguments, "question", "")));
}

/* Returns whether `path` ends in the folder `name`. */
static bool is_last_part(const char *path, const char *name)
{
	const char *slash = path == NULL ? NULL : strrchr(path, '/');

	return slash != NULL && str_eq(slash + 1, name);
}

/* Reads what ptycell wrote about a folder of kept results, or returns NULL. */
static json_t *read_note(const char *keep, const char *folder)
{
	cleanup_free char *path = xasprintf("%s/%s/" KEEPNAME_NOTE, keep, folder);
	struct err ignored;
	size_t len;
	cleanup_free char *text = fd_read_regular(path, NOTE_MAX, &len, &ignored);

	return text != NULL ? json_parse(text, len, &ignored) : NULL;
}

/*
 * Returns the id of the session that has this folder of kept results, or NULL: as an id, the name
 * of the folder would begin a new session. The caller frees it.
 */
static char *id_of_folder(const struct service *service, const char *folder)
{
	const char *keep = service->settings->keep;
	cleanup_json json_t *note = NULL;
	struct err ignored;
	const char *id;

	if (keep == NULL || !keepname_is_folder(folder) || strchr(folder, '/') != NULL)
		return NULL;
	for (size_t i = 0; service->table != NULL && table_at(service->table, i) != NULL; i++)
		if (is_last_part(session_keep_folder(table_at(service->table, i)), folder))
			return xstrdup(session_id(table_at(service->table, i)));
	note = read_note(keep, folder);
	id = json_string_value(json_object_get(note, "session_id"));
	return id != NULL && session_id_check(id, &ignored) == 0 ? xstrdup(id) : NULL;
}

static void get_session(struct mcp_call *call, json_t *arguments, void *context)
{
	const struct service *service = context;
	const char *keep = service->settings->keep;
	const char *name = text_of(arguments, "session", "");
	cleanup_free char *id = id_of_folder(service, name);
	bool is_folder = id != NULL;

	answer_prompt(
		call, "Continue a session",
		json_make_fmt(
			"Continue the session '%s' of ptycell. Call session_info with include: "
			"[\"variables\"] first. If it lives, tell me what is defined and which files "
			"there are, and go on. If it has ended, run a cell in it: the answer says "
			"whether its files and its record came back, and which calls of interact bring "
			"back its variables. If nothing came back, ask me for its notebook and files "
			"from its folder%s%s%s%s, and bring them in with upload_file.",
			is_folder ? id : name, is_folder ? " " : "", is_folder ? name : "",
			keep != NULL ? " in " : "", keep != NULL ? keep : ""));
}

static const struct mcp_prompt prompts[] = {
	{ .name = "analyse_file",
	  .description = "Look at a file, compute and plot what matters",
	  .arguments =
		  "[{\"name\":\"file\",\"description\":\"path in a shared folder, URL, or name of an "
		  "attachment\",\"required\":true},"
		  "{\"name\":\"question\",\"description\":\"what you want to know\"}]",
	  .get = get_file },
	{ .name = "query_database",
	  .description = "Answer a question from a database or from CSV files",
	  .arguments =
		  "[{\"name\":\"question\",\"description\":\"what you want to know\",\"required\":"
		  "true},{\"name\":\"database\",\"description\":\"its name; files: the CSV files "
		  "of the session\"}]",
	  .get = get_database },
	{ .name = "continue_session",
	  .description = "Go on where an earlier conversation stopped",
	  .arguments =
		  "[{\"name\":\"session\",\"description\":\"its id, or the name of its folder of "
		  "results\",\"required\":true}]",
	  .get = get_session },
};

/* ---- completion ---- */

/* Appends the text if it begins with what the user has typed. */
static void offer(json_t *values, const char *typed, const char *text)
{
	if (strncasecmp(text, typed, strlen(typed)) == 0)
		json_append(values, json_make_str(text));
}

static void offer_shares(json_t *values, const char *typed, const struct settings *settings)
{
	for (size_t i = 0; i < settings->share_count; i++)
		offer(values, typed, settings->shares[i].path);
}

static void offer_databases(json_t *values, const char *typed, const struct settings *settings)
{
	cleanup_json json_t *names = databases_list(settings);
	size_t index;
	const json_t *name;

	json_array_foreach (names, index, name)
		offer(values, typed, json_string_value(name));
}

static void offer_kept(json_t *values, const char *typed, const char *keep)
{
	DIR *folder = keep != NULL ? opendir(keep) : NULL;
	const struct dirent *entry;

	for (int i = 0; folder != NULL && i < KEPT_MAX && (entry = readdir(folder)) != NULL; i++)
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			offer(values, typed, entry->d_name);
	if (folder != NULL)
		(void)closedir(folder);
}

static void offer_sessions(json_t *values, const char *typed, const struct table *table)
{
	for (size_t i = 0; table != NULL && table_at(table, i) != NULL; i++)
		offer(values, typed, session_id(table_at(table, i)));
}

static void complete(struct mcp_call *call, json_t *ref, json_t *argument, void *context)
{
	const struct service *service = context;
	const char *name = json_string_value(json_object_get(argument, "name"));
	const char *typed = json_string_value(json_object_get(argument, "value"));
	json_t *values = json_array();

	(void)ref;
	if (str_eq(name, "file"))
		offer_shares(values, typed, service->settings);
	else if (str_eq(name, "database"))
		offer_databases(values, typed, service->settings);
	else if (str_eq(name, "session") || str_eq(name, "id"))
		offer_sessions(values, typed, service->table);
	if (str_eq(name, "session"))
		offer_kept(values, typed, service->settings->keep);
	mcp_call_finish_completion(call, values);
}

void prompts_features(struct mcp_features *features)
{
	features->prompts = prompts;
	features->prompt_count = ARRAY_SIZE(prompts);
	features->complete = complete;
}
