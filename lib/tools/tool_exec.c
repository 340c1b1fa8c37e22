/* SPDX-License-Identifier: MIT */
/*
 * tool_exec.c - exec_code: reads the arguments once, installs dependencies, then runs the cell.
 *
 * The arguments wait with an installation, which may take minutes. Refusals (confinement, audit)
 * are checked again before the cell runs, because they may have changed.
 */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "confinement/confinement.h"
#include "install/broker.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"
#include "redact/redact.h"
#include "runtime/language.h"
#include "session/restore.h"
#include "session/session.h"
#include "text/sanitize.h"
#include "tools/forgive.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_cell.h"
#include "tools/wait_install.h"

static const char *const known[] = { "session_id", "language",     "code",   "timeout",
				     "wait",       "dependencies", "config", "title" };

enum {
	QUERY_SHOWN_MAX = 200, /* bytes of a query that a message repeats */
	TITLE_CHARS_MAX = 120, /* a heading in one line */
};

static bool is_sql(const char *language)
{
	return strcasecmp(language, "sql") == 0;
}

static int get_timeout(const struct settings *settings, json_t *arguments, uint64_t *ret_ms,
		       struct err *err)
{
	double seconds = 0;

	if (json_get_number(arguments, "arguments", "timeout", &seconds, err) < 0)
		return -1;
	if (!json_is_number(json_object_get(arguments, "timeout")))
		return 0;
	if (!(seconds > 0 && seconds <= (double)settings->exec_timeout_max))
		return err_set(err, ERR_INVALID,
			       "arguments.timeout must be seconds above 0 and at most %ju "
			       "(PTYCELL_EXEC_TIMEOUT_MAX)",
			       (uintmax_t)settings->exec_timeout_max);
	*ret_ms = (uint64_t)(seconds * 1000.0 + 0.999);
	return 0;
}

/*
 * Cleans the title in place. One without a visible character is none. It is shortened last, as the
 * beginning of a secret would not be recognised.
 */
static int take_title(struct service *service, json_t *arguments, const char **ret, struct err *err)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *clean = NULL;
	const char *title = NULL;
	size_t len = 0;

	if (json_get_text(arguments, "arguments", "title", &title, &len, err) < 0)
		return -1;
	if (title == NULL)
		return 0;
	sanitize_line(&line, title, len, SIZE_MAX);
	clean = xstrdup(buf_str(&line));
	redact_string(service->settings->redact, &clean);
	buf_clear(&line);
	sanitize_line(&line, clean, strlen(clean), TITLE_CHARS_MAX);
	json_put_str(arguments, "title", buf_str(&line));
	if (strspn(buf_str(&line), " ") < line.len)
		*ret = json_string_value(json_object_get(arguments, "title"));
	return 0;
}

/* Everything the call asks for, read once. It points into `arguments`. */
struct exec_args {
	json_t *arguments;
	json_t *config;       /* or NULL */
	json_t *dependencies; /* or NULL */
	struct exec_request request;
};

/* Takes the code out of its fence, whose word names the language where the call names none. */
static int take_fence(json_t *arguments, struct exec_request *request, struct err *err)
{
	const char *given = json_string_value(json_object_get(arguments, "language"));
	const struct language *fenced;
	cleanup_free char *name = NULL;
	const char *word;
	size_t len;

	if (!forgive_fence(&request->code, &request->code_len, &word, &len))
		return 0;
	name = xasprintf("%.*s", (int)len, word);
	fenced = language_find(name);
	if (given == NULL && (fenced != NULL || is_sql(name)))
		json_put_str(arguments, "language", name);
	if (given == NULL || fenced == NULL || language_find(given) == fenced)
		return 0;
	return err_set(err, ERR_INVALID,
		       "arguments.code is in a fence of %s, but arguments.language is %s; send "
		       "the code without the fence",
		       fenced->name,
		       language_find(given) != NULL ? language_find(given)->name : "not");
}

/* Names the call that a query needs, with the query where it is short. */
static int refuse_sql(json_t *arguments, const struct exec_request *request, struct err *err)
{
	cleanup_json json_t *call = json_object();
	cleanup_free char *text = NULL;

	json_put(call, "session_id", json_incref(json_object_get(arguments, "session_id")));
	json_put(call, "query",
		 request->code_len <= QUERY_SHOWN_MAX
			 ? json_make_text(request->code, request->code_len)
			 : json_make_str("..."));
	text = json_write_text(call);
	return err_set(err, ERR_INVALID, "SQL is run by another tool; call exec_sql %s", text);
}

static int read_args(struct service *service, json_t *arguments, struct exec_args *ret,
		     struct err *err)
{
	const char *language = NULL;
	struct exec_request *request = &ret->request;
	static const char *const required[] = { "session_id", "code" };

	ret->arguments = arguments;
	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    tool_require(arguments, required, ARRAY_SIZE(required), err) < 0 ||
	    json_get_text(arguments, "arguments", "language", &language, NULL, err) < 0 ||
	    json_get_text(arguments, "arguments", "code", &request->code, &request->code_len, err) <
		    0 ||
	    get_timeout(service->settings, arguments, &request->timeout_ms, err) < 0 ||
	    tool_get_wait(service, arguments, &request->wait_ms, &request->wait_cut, err) < 0 ||
	    json_get_object(arguments, "arguments", "config", &ret->config, err) < 0 ||
	    tool_check_config(service, ret->config, err) < 0 ||
	    json_get_texts(arguments, "arguments", "dependencies", &ret->dependencies, err) < 0 ||
	    take_title(service, arguments, &request->title, err) < 0)
		return -1;
	if (take_fence(arguments, request, err) < 0)
		return -1;
	request->assumed = json_string_value(json_object_get(arguments, "language")) == NULL;
	language = tool_language_name(service, arguments);
	if (is_sql(language))
		return refuse_sql(arguments, request, err);
	request->language = tool_find_language(service, language, err);
	return request->language == NULL ? -1 : 0;
}

/* Answers and returns true when no code may run: with the reason and the remedy. */
static bool refused(struct mcp_call *call, struct service *service)
{
	const struct confinement *confinement = service_confinement(service);
	const char *why = confinement != NULL ? confinement_facts(confinement).refusal : NULL;
	cleanup_free char *text = NULL;

	if (why == NULL)
		return tool_audit_refused(call, service);
	text = xasprintf("%s%sTo see all that was tried: ptycell doctor", why,
			 why[strlen(why) - 1] == '\n' ? "" : "\n");
	tool_fail_text(call, service, text);
	return true;
}

static void run_cell(struct mcp_call *call, struct service *service, const struct exec_args *args)
{
	const struct language *language = args->request.language;
	struct session *session;
	struct wait_cell *waiter;
	struct err err;

	if (refused(call, service))
		return;
	session = tool_session_for(service, args->arguments, language, &err);
	if (session == NULL || session_restore_check(session, &err) < 0 ||
	    tool_configure(service, session, args->config, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	waiter = wait_cell_new(call, service);
	wait_cell_start(waiter, session_exec(session, &args->request, wait_cell_done, waiter, &err),
			&err);
}

static void on_installed(const struct wait_install *wait, const json_t *result, const char *problem)
{
	cleanup_free char *text = NULL;

	if (result != NULL) {
		run_cell(wait->call, wait->service, wait->data);
		return;
	}
	text = xasprintf("The cell was not run, because its dependencies were not installed. %s",
			 problem);
	tool_fail_text(wait->call, wait->service, text);
}

static void on_late(const struct wait_install *wait)
{
	tool_fail_text(wait->call, wait->service,
		       "The cell was not run: its dependencies are still being installed. Send it "
		       "again to go on.");
}

/* Returns whether the call waits for the packages of the cell, or was answered. */
static bool install_first(struct mcp_call *call, struct service *service,
			  const struct exec_args *args)
{
	const struct language *language = args->request.language;
	struct broker *broker = service->broker;
	struct session *session;
	struct err err;

	if (json_array_size(args->dependencies) == 0)
		return false;
	if (refused(call, service))
		return true;
	session = tool_session(service, args->arguments, true, &err);
	if (session == NULL || session_restore_check(session, &err) < 0) {
		tool_fail(call, service, &err);
		return true;
	}
	if (broker != NULL && broker_has(broker, session, language, args->dependencies))
		return false;
	const struct wait_install_request wanted = { .call = call,
						     .service = service,
						     .session = session,
						     .language = language,
						     .packages = args->dependencies,
						     .arguments = args->arguments,
						     .data = args,
						     .data_size = sizeof(*args),
						     .wait_ms = args->request.wait_ms,
						     .done = on_installed,
						     .late = on_late };
	if (wait_install_start(&wanted, &err) < 0)
		tool_fail(call, service, &err);
	return true;
}

void tool_exec_code(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	struct exec_args args = { .arguments = NULL };
	struct err err;

	if (wait_cell_resume(call, service, arguments))
		return;
	if (read_args(service, arguments, &args, &err) < 0)
		tool_fail(call, service, &err);
	else if (!install_first(call, service, &args))
		run_cell(call, service, &args);
}
