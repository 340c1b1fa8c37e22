/* SPDX-License-Identifier: MIT */
/*
 * tool_install.c - install_packages: waits for the installation, then asks the interpreter.
 *
 * An interpreter that has imported an older copy of a package keeps using it. So a running one is
 * asked which of the new packages it has imported before, and the answer names them.
 */
#include <stdlib.h>

#include "answer/install_result.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "install/program.h"
#include "json/get.h"
#include "json/make.h"
#include "session/restore.h"
#include "session/session.h"
#include "session/table.h"
#include "text/sanitize.h"
#include "tools/service.h"
#include "tools/tool.h"
#include "tools/wait_install.h"

enum { OLDER_MAX = 4000 };

struct install_args {
	const struct language *language;
	json_t *packages;
};

static int read_args(const struct service *service, json_t *arguments, struct install_args *ret,
		     struct err *err)
{
	static const char *const known[] = { "session_id", "packages", "language" };
	static const char *const required[] = { "session_id", "packages" };
	const char *language = "python";

	if (tool_check(service, arguments, known, ARRAY_SIZE(known), err) < 0 ||
	    tool_require(arguments, required, ARRAY_SIZE(required), err) < 0 ||
	    json_get_texts(arguments, "arguments", "packages", &ret->packages, err) < 0 ||
	    json_get_text(arguments, "arguments", "language", &language, NULL, err) < 0)
		return -1;
	if (broker_check_packages(ret->packages, err) < 0)
		return -1;
	ret->language = tool_find_language(service, language, err);
	if (ret->language == NULL)
		return -1;
	if (program_find(ret->language->name) == NULL)
		return err_set(err, ERR_INVALID,
			       "arguments.language must be one of python, javascript, r, not '%s'",
			       ret->language->name);
	return 0;
}

/* An answer that waits for the interpreter's reply. */
struct older_query {
	struct mcp_call *call;
	struct service *service;
	json_t *answer;
	struct runner_query *query;
};

static void put_older(json_t *answer, const struct query_answer *reply)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (reply->len == 0)
		return;
	sanitize_block(&text, reply->lines, size_min(reply->len, OLDER_MAX));
	json_put_str(answer, "imported", buf_str(&text));
}

static void on_older(const struct query_answer *reply, void *data)
{
	struct older_query *f = data;

	put_older(f->answer, reply);
	tool_answer(f->call, f->service, f->answer);
	free(f);
}

static void on_older_cancel(struct mcp_call *call, void *data)
{
	struct older_query *f = data;

	runner_query_cancel(f->query);
	mcp_call_fail(call, "cancelled");
	json_decref(f->answer);
	free(f);
}

/* Returns whether the interpreter is asked: its reply then ends the call. */
static bool ask_older(const struct wait_install *wait, const json_t *result, json_t *answer)
{
	cleanup_free char *lines = install_result_lines(result);
	struct older_query *f;
	struct session *session;
	struct err err;

	if (lines[0] == '\0' || !wait->language->reports_imported)
		return false;
	session = table_find(wait->service->table, wait->session_id, &err);
	if (session == NULL)
		return false;
	f = xcalloc(1, sizeof(*f));
	f->query = session_query_imported(session, wait->language, lines, on_older, f);
	if (f->query == NULL) {
		free(f);
		return false;
	}
	f->call = wait->call;
	f->service = wait->service;
	f->answer = answer;
	mcp_call_on_cancel(f->call, on_older_cancel, f);
	return true;
}

static void on_installed(const struct wait_install *wait, const json_t *result, const char *problem)
{
	cleanup_free char *message = NULL;
	json_t *answer;

	if (result == NULL) {
		tool_fail_text(wait->call, wait->service, problem);
		return;
	}
	answer = json_object();
	message = install_result_sentence(result);
	json_put_str(answer, "session_id", wait->session_id);
	json_put_str(answer, "language", wait->language->name);
	json_put(answer, "packages", install_result_names(json_object_get(result, "packages")));
	json_put(answer, "present", install_result_names(json_object_get(result, "present")));
	if (json_object_get(result, "removed") != NULL)
		json_put(answer, "removed",
			 install_result_names(json_object_get(result, "removed")));
	json_put(answer, "cached", json_incref(json_object_get(result, "cached")));
	json_put_str(answer, "message", message);
	if (!ask_older(wait, result, answer))
		tool_answer(wait->call, wait->service, answer);
}

static void on_late(const struct wait_install *wait)
{
	tool_fail_text(wait->call, wait->service,
		       "Still installing. Call install_packages again with the same packages to "
		       "wait for it.");
}

void tool_install_packages(struct mcp_call *call, json_t *arguments, void *context)
{
	struct service *service = context;
	const struct confinement *confinement = service_confinement(service);
	struct install_args install_args = { .packages = NULL };
	struct session *session;
	struct err err;

	if (read_args(service, arguments, &install_args, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	if (confinement != NULL && confinement_facts(confinement).refusal != NULL) {
		tool_fail_text(call, service, confinement_facts(confinement).refusal);
		return;
	}
	if (tool_audit_refused(call, service))
		return;
	session = tool_session(service, arguments, true, &err);
	if (session == NULL || session_restore_check(session, &err) < 0) {
		tool_fail(call, service, &err);
		return;
	}
	const struct wait_install_request request = { .call = call,
						      .service = service,
						      .session = session,
						      .language = install_args.language,
						      .packages = install_args.packages,
						      .done = on_installed,
						      .late = on_late };
	if (wait_install_start(&request, &err) < 0)
		tool_fail(call, service, &err);
}
