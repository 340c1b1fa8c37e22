/* SPDX-License-Identifier: MIT */
/*
 * cell_install.c - has the broker install what a cell asks for, and answers the cell.
 *
 * The session's end cancels the installation before the session is freed. Package names come from
 * session code; the broker checks them.
 */
#include "tools/cell_install.h"

#include <stdlib.h>
#include <string.h>

#include "answer/install_result.h"
#include "base/list.h"
#include "base/mem.h"
#include "install/broker.h"
#include "json/make.h"
#include "runner/cell.h"
#include "runtime/language.h"
#include "session/session.h"
#include "tools/service.h"

struct cell_wait {
	struct list node;
	struct install *install;
	struct session *session; /* its end cancels the installation first */
	const struct language *language;
	uint64_t cell;
};

static void answer_cell(struct cell_wait *w, bool ok, const char *text, const char *packages)
{
	session_installed(w->session, w->language, w->cell, ok, text, packages);
	list_remove(&w->node);
	free(w);
}

static void on_install_done(void *data, const json_t *result, const char *problem)
{
	cleanup_free char *text = result != NULL ? install_result_sentence(result) : NULL;
	cleanup_free char *lines = result != NULL ? install_result_lines(result) : NULL;

	if (result != NULL)
		answer_cell(data, true, text, lines);
	else
		answer_cell(data, false, problem, "");
}

static json_t *split_lines(const char *text)
{
	cleanup_free char *copy = xstrdup(text);
	json_t *list = json_array();
	char *rest = copy;
	const char *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		if (line[0] != '\0')
			json_append(list, json_make_str(line));
	return list;
}

static int start_install(struct service *service, const struct cell_install *request,
			 struct cell_wait *w, struct err *err)
{
	cleanup_json json_t *packages = split_lines(request->packages);
	const struct install_request wish = { .language = language_find(request->of),
					      .packages = packages,
					      .cell = request->cell };
	struct broker *broker = service_broker(service, err);

	if (broker == NULL)
		return -1;
	if (wish.language == NULL)
		return err_set(err, ERR_INVALID, "there is no such language");
	w->install = broker_install(broker, request->session, &wish, on_install_done, w, err);
	return w->install != NULL ? 0 : -1;
}

void cell_install_start(struct service *service, const struct cell_install *request)
{
	struct cell_wait *w = xcalloc(1, sizeof(*w));
	struct err err;

	list_init(&w->node);
	list_append(&service->cell_installs, &w->node);
	w->session = request->session;
	w->language = request->language;
	w->cell = request->cell;
	if (start_install(service, request, w, &err) < 0)
		answer_cell(w, false, err.msg, "");
}

void cell_install_end(struct service *service, const struct session *session,
		      const struct cell *cell)
{
	list_for_each (struct cell_wait, w, &service->cell_installs, node) {
		if (w->session != session || w->cell != cell->number ||
		    !str_eq(w->language->name, cell->language))
			continue;
		list_remove(&w->node);
		broker_cancel(w->install);
		free(w);
		return;
	}
}
