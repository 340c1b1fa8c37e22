/* SPDX-License-Identifier: MIT */
#include "tools/tool.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"
#include "runtime/language.h"
#include "session/table.h"
#include "text/clean.h"
#include "text/mime.h"
#include "text/percent.h"
#include "text/redact.h"
#include "tools/auditor.h"
#include "tools/history.h"
#include "tools/links.h"
#include "tools/service.h"
#include "workspace/scan.h"

enum {
	ARTIFACT_COST = 300, /* bytes of an artifact in an answer, its path aside */
	/* And of each byte of the path: it is there twice and in the uri, escaped, as an object and
	 * as text. */
	ARTIFACT_PATH_COST = 18,
};

void tool_fail(struct mcp_call *call, const struct service *service, const struct err *err)
{
	tool_fail_text(call, service, err->msg);
}

bool tool_audit_refused(struct mcp_call *call, struct service *service)
{
	cleanup_free char *why = auditor_refusal(history_auditor(service_history(service)));

	if (why != NULL)
		tool_fail_text(call, service, why);
	return why != NULL;
}

void tool_fail_text(struct mcp_call *call, const struct service *service, const char *message)
{
	json_t *object;
	json_t *content;
	cleanup_free char *text = NULL;

	if (service_settings(service)->results == RESULTS_BLOCKS) {
		mcp_call_fail(call, message);
		return;
	}
	object = json_object();
	content = json_array();
	json_put_str(object, "status", "error");
	json_put_str(object, "error", message);
	text = json_write_text(object);
	json_append(content, mcp_text(text, strlen(text)));
	json_decref(object);
	mcp_call_finish(call, content, NULL, NULL, false);
}

void tool_answer(struct mcp_call *call, const struct service *service, json_t *object_own)
{
	json_t *content = json_array();
	cleanup_free char *text = NULL;

	if (service_settings(service)->results == RESULTS_JSON &&
	    json_object_get(object_own, "status") == NULL)
		json_put_str(object_own, "status", "success");
	if (service_settings(service)->unconfined &&
	    json_object_get(object_own, "confinement") == NULL)
		json_put_str(object_own, "confinement", "unconfined");
	text = json_write_text(object_own);
	json_append(content, mcp_text(text, strlen(text)));
	mcp_call_finish(call, content, object_own, NULL, false);
}

int tool_check(const struct service *service, json_t *arguments, const char *const *known,
	       size_t known_count, struct err *err)
{
	const struct settings *settings = service_settings(service);

	if (settings->problem != NULL)
		return err_set(err, ERR_INVALID, "%s", settings->problem);
	return json_get_only(arguments, "arguments", known, known_count, err);
}

static struct table *find_table(struct service *service, json_t *arguments, const char **ret_id,
				struct err *err)
{
	if (json_get_required(arguments, "arguments", "session_id", err) < 0 ||
	    json_get_text(arguments, "arguments", "session_id", ret_id, NULL, err) < 0 ||
	    session_id_check(*ret_id, err) < 0)
		return NULL;
	return service_table(service, err);
}

struct session *tool_session(struct service *service, json_t *arguments, bool make, struct err *err)
{
	const char *id = NULL;
	struct table *table = find_table(service, arguments, &id, err);

	if (table == NULL)
		return NULL;
	return make ? table_open(table, id, NULL, err) : table_find(table, id, err);
}

struct session *tool_session_for(struct service *service, json_t *arguments,
				 const struct language *language, struct err *err)
{
	const char *id = NULL;
	struct table *table = find_table(service, arguments, &id, err);

	return table != NULL ? table_open(table, id, language, err) : NULL;
}

int tool_get_wait(const struct service *service, json_t *arguments, uint64_t *ret_ms,
		  struct err *err)
{
	const struct settings *settings = service_settings(service);
	double seconds = (double)settings->call_budget;

	if (json_get_number(arguments, "arguments", "wait", &seconds, err) < 0)
		return -1;
	if (!(seconds >= 0 && seconds <= (double)settings->exec_timeout_max))
		return err_set(err, ERR_INVALID,
			       "arguments.wait must be seconds from 0 to %ju; hosts give up after "
			       "60 or so",
			       (uintmax_t)settings->exec_timeout_max);
	/* Whoever set a budget knows when the host gives up; a model does not. */
	if (settings->call_budget_set && seconds > (double)settings->call_budget)
		seconds = (double)settings->call_budget;
	*ret_ms = (uint64_t)(seconds * 1000.0);
	return 0;
}

const char *tool_language_name(struct service *service, const json_t *arguments)
{
	const char *name = json_string_value(json_object_get(arguments, "language"));
	const char *id = json_string_value(json_object_get(arguments, "session_id"));
	struct table *table = service_table_if_any(service);
	const struct language *last = NULL;
	const struct session *session;
	struct err err;

	if (name != NULL)
		return name;
	session = table != NULL && id != NULL ? table_find(table, id, &err) : NULL;
	if (session != NULL)
		last = session_last_language(session);
	return last != NULL ? last->name : "python";
}

const struct language *tool_find_language(const struct service *service, const char *name,
					  struct err *err)
{
	const struct language *language = language_find(name);
	char *const *env = service_settings(service)->environment;
	cleanup_free char *quoted = NULL;
	cleanup_buf struct buf here = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf missing = BUF_INIT(BUF_UNBOUNDED);

	if (language != NULL)
		return language;
	quoted = clean_quote(name);
	language_list_here(env, &here);
	language_list_missing(env, &missing);
	(void)err_set(
		err, ERR_INVALID, "arguments.language '%s' does not run here%s; what does: %s%s%s",
		quoted, strcasecmp(name, "sql") == 0 ? ", queries are for exec_sql" : "",
		buf_str(&here), missing.len > 0 ? "; to be installed: " : "", buf_str(&missing));
	return NULL;
}

char *tool_told_path(const char *path, const struct redact *redact)
{
	char *told = xstrdup(path);

	redact_string(redact, &told);
	return told;
}

size_t tool_files_told(const struct file_info *files, size_t count, const char *path,
		       const struct redact *redact)
{
	size_t i = redact == NULL || strstr(path, "[secret ") == NULL ? count : 0;

	for (; i < count; i++) {
		cleanup_free char *told = tool_told_path(files[i].path, redact);

		if (str_eq(told, path))
			break;
	}
	return i;
}

size_t tool_files_after(const struct file_info *files, size_t count, const char *path,
			const struct redact *redact)
{
	size_t told = tool_files_told(files, count, path, redact);
	size_t i = 0;

	if (told < count)
		return told + 1;
	/* Nobody knows where it was: better twice than never. */
	if (redact != NULL && strstr(path, "[secret ") != NULL)
		return 0;
	while (i < count && strcmp(files[i].path, path) <= 0)
		i++;
	return i;
}

char *tool_file_uri(const char *session_id, const char *path, const struct redact *redact)
{
	cleanup_free char *told = tool_told_path(path, redact);
	cleanup_free char *encoded = percent_encode(told);

	return xasprintf("session://%s/files/%s", session_id, encoded);
}

/* In lower case, as those who compare it expect. "" when it is none that can be shown. */
static json_t *extension(const char *name)
{
	cleanup_free char *lower = clean_path_string(mime_extension(name));

	if (lower[0] == '"')
		lower[0] = '\0';

	for (char *c = lower; *c != '\0'; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
	return json_make_str(lower);
}

static bool fits(size_t *left, const struct session *session, const struct file_info *file)
{
	size_t cost = ARTIFACT_COST + ARTIFACT_PATH_COST * strlen(file->path);

	if (cost > *left || !links_fit(left, session, file->path) || cost > *left)
		return false;
	*left -= cost;
	return true;
}

static json_t *describe(const struct session *session, const struct file_info *file)
{
	json_t *artifact = json_object();
	cleanup_free char *uri =
		tool_file_uri(session_id(session), file->path, session_settings(session)->redact);
	const char *slash = strrchr(file->path, '/');
	const char *base = slash != NULL ? slash + 1 : file->path;
	cleanup_free char *path = clean_path_string(file->path);
	cleanup_free char *name = clean_path_string(base);

	json_put_str(artifact, "path", path);
	json_put_str(artifact, "filename", name);
	json_put(artifact, "extension", extension(base));
	json_put_int(artifact, "size_bytes", (json_int_t)file->size);
	json_put_str(artifact, "mime_type", mime_of_name(file->path));
	json_put_str(artifact, "uri", uri);
	links_put(artifact, session, file->path);
	return artifact;
}

json_t *tool_artifact(const struct session *session, const struct file_info *file, size_t *left)
{
	return fits(left, session, file) ? describe(session, file) : NULL;
}
