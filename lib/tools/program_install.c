/* SPDX-License-Identifier: MIT */
/* program_install.c - has the broker do what a program asks for, and answers the program. */
#include "tools/program_install.h"

#include <stdlib.h>
#include <string.h>

#include "answer/audit_events.h"
#include "answer/audit_log.h"
#include "answer/history.h"
#include "answer/install_result.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/mem.h"
#include "install/broker.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "runtime/language.h"
#include "session/asking.h"
#include "text/truncate.h"
#include "tools/service.h"

struct program_wait {
	struct list node;
	struct ask *ask;
	struct install *install;
	bool removes;
};

/* A character takes six bytes of JSON at most, beside the few of the other members. */
enum { TEXT_CHARS_MAX = ASKING_ANSWER_MAX / 8, SHA256_CHARS = 64, REPORT_ENTRIES_MAX = 1000 };

/* `code` is that of an error, or NULL. */
static void answer(struct ask *ask, const char *code, const char *text)
{
	cleanup_json json_t *answer = json_object();
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *line = NULL;

	json_put_bool(answer, "ok", code == NULL);
	json_put_str(answer, "code", code);
	(void)truncate_text(&shown, text, strlen(text), TEXT_CHARS_MAX);
	json_put_str(answer, "text", buf_str(&shown));
	line = json_write_text(answer);
	asking_answer(ask, line);
}

static void end_wait(struct program_wait *wait, const char *code, const char *text)
{
	struct ask *ask = wait->ask;

	list_remove(&wait->node);
	free(wait);
	answer(ask, code, text);
}

static void on_done(void *data, const json_t *result, const char *problem)
{
	struct program_wait *wait = data;
	cleanup_free char *text = NULL;

	if (result != NULL)
		text = wait->removes ? install_result_removal(result)
				     : install_result_sentence(result);
	end_wait(wait, result != NULL ? NULL : "failed", result != NULL ? text : problem);
}

/* `list` may be NULL. */
static bool are_texts(const json_t *list)
{
	size_t n;
	json_t *text;

	if (list != NULL && !json_is_array(list))
		return false;
	json_array_foreach (list, n, text)
		if (!json_is_string(text))
			return false;
	return true;
}

/* Returns the rows of lines in the form of sha256sum. */
static json_t *rows_of_sums(const json_t *lines)
{
	json_t *rows = json_array();
	size_t n;
	const json_t *line;

	json_array_foreach (lines, n, line) {
		const char *text = json_string_value(line);
		json_t *row;

		if (strspn(text, "0123456789abcdef") != SHA256_CHARS ||
		    strncmp(text + SHA256_CHARS, "  ", 2) != 0)
			continue;
		row = json_object();
		json_put_str(row, "file", text + SHA256_CHARS + 2);
		json_put(row, "sha256", json_make_text(text, SHA256_CHARS));
		json_append(rows, row);
	}
	return rows;
}

/* Returns true for a list of a report; `list` may be NULL. The request as a whole is bounded, too.
 */
static bool are_few_texts(const json_t *list)
{
	return are_texts(list) && json_array_size(list) <= REPORT_ENTRIES_MAX;
}

/* Notes for the audit what a program says that it installed from the session's own files. */
static void take_report(struct service *service, struct session *session, struct ask *ask,
			const json_t *request)
{
	const char *of = json_string_value(json_object_get(request, "language"));
	const struct language *language = of != NULL ? language_find(of) : NULL;
	json_t *packages = json_object_get(request, "packages");
	json_t *installed = json_object_get(request, "installed");
	json_t *files = json_object_get(request, "files");
	cleanup_json json_t *fields = json_object();

	if (language == NULL || json_array_size(packages) == 0 || !are_few_texts(packages) ||
	    !are_few_texts(installed) || !are_few_texts(files)) {
		answer(ask, err_code_name(ERR_INVALID),
		       "this is no report of an installation, or it has too many entries");
		return;
	}
	json_put_str(fields, "language", language->name);
	json_put(fields, "asked", json_incref(packages));
	json_put_str(fields, "from", "files of the session");
	json_put(fields, "own", json_incref(installed));
	json_put(fields, "files", rows_of_sums(files));
	audit_events_own_installation(audit_log_events(history_audit_log(service->history)),
				      session, session_newest_cell(session), fields);
	answer(ask, NULL, "");
}

static struct install *start(struct service *service, struct session *session,
			     struct program_wait *wait, const json_t *request, struct err *err)
{
	const char *command = json_string_value(json_object_get(request, "command"));
	const char *of = json_string_value(json_object_get(request, "language"));
	const struct install_request wish = { .language = of != NULL ? language_find(of) : NULL,
					      .packages = json_object_get(request, "packages"),
					      .locked = json_object_get(request, "locked"),
					      .cell = session_newest_cell(session) };
	struct broker *broker = service_broker(service, err);

	if (broker == NULL)
		return NULL;
	wait->removes = command != NULL && str_eq(command, "uninstall");
	if (wish.language == NULL || command == NULL ||
	    (!wait->removes && !str_eq(command, "install")) || !are_texts(wish.packages) ||
	    !are_texts(wish.locked)) {
		(void)err_set(err, ERR_INVALID, "this is no request for packages");
		return NULL;
	}
	return wait->removes ? broker_remove(broker, session, &wish, on_done, wait, err)
			     : broker_install(broker, session, &wish, on_done, wait, err);
}

void program_install_start(struct service *service, struct session *session, struct ask *ask,
			   const char *text, size_t len)
{
	struct program_wait *wait;
	struct err err;
	cleanup_json json_t *request = json_parse(text, len, &err);
	const char *command = json_string_value(json_object_get(request, "command"));

	if (command != NULL && str_eq(command, "report")) {
		take_report(service, session, ask, request);
		return;
	}
	wait = xcalloc(1, sizeof(*wait));
	list_init(&wait->node);
	wait->ask = ask;
	if (request != NULL)
		wait->install = start(service, session, wait, request, &err);
	if (wait->install != NULL)
		list_append(&service->program_installs, &wait->node);
	else
		end_wait(wait, err_code_name(err.code), err.msg);
}

void program_install_gone(struct service *service, const struct ask *ask)
{
	list_for_each (struct program_wait, wait, &service->program_installs, node) {
		if (wait->ask != ask)
			continue;
		list_remove(&wait->node);
		broker_cancel(wait->install);
		free(wait);
		return;
	}
}
