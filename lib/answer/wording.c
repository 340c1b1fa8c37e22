/* SPDX-License-Identifier: MIT */
/*
 * wording.c - makes the texts of an answer: those of explain, and the status line with the call
 * that continues the cell.
 *
 * A renderer puts them into blocks or an object, and reads no other facts but files and media.
 */
#include "answer/wording.h"

#include <stdlib.h>

#include "answer/artifact.h"
#include "answer/explain.h"
#include "answer/storage_links.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "session/session.h"
#include "text/status_line.h"

static void fill_changes(struct status *status, const struct cell *cell)
{
	static const char signs[] = {
		[CHANGE_NEW] = '+', [CHANGE_CHANGED] = '~', [CHANGE_DELETED] = '-'
	};
	struct status_change *changes = xcalloc(cell->change_count, sizeof(*changes));

	for (size_t i = 0; i < cell->change_count; i++) {
		const struct change *change = &cell->changes[i];

		if (!artifact_is_hidden(change->file.path))
			changes[status->change_count++] =
				(struct status_change){ .kind = signs[change->kind],
							.path = change->file.path,
							.size = change->file.size };
	}
	status->changes = changes;
}

static bool runs_cell(const struct session *session, const char *language)
{
	const struct runner *runner;

	for (size_t i = 0; (runner = session_runner(session, i)) != NULL; i++)
		if (str_eq(runner_language(runner)->name, language))
			return runner_current(runner) != NULL || runner_queued(runner) > 0;
	return false;
}

/* Returns a call of interact, with the language where the session has several. */
static char *interact_call(const struct exec_result *result, const char *argument)
{
	bool several = session_runner(result->session, 1) != NULL;

	return xasprintf("interact {\"session_id\":\"%s\"%s%s%s,%s}", session_id(result->session),
			 several ? ",\"language\":\"" : "", several ? result->cell->language : "",
			 several ? "\"" : "", argument);
}

/* Returns the call that continues a cell which is not over, or NULL. */
static char *next_call(const struct exec_result *result)
{
	const struct cell *cell = result->cell;

	if (cell->session_ended)
		return NULL;
	if (cell->state == CELL_WAITING)
		return interact_call(result, "\"input\":\"...\"");
	if (cell_goes_on(cell) ||
	    (cell->state == CELL_NOT_STARTED && runs_cell(result->session, cell->language)))
		return interact_call(result, "\"action\":\"wait\"");
	return NULL;
}

static void build_status(struct buf *line, const struct exec_result *result,
			 const struct confinement_facts *facts)
{
	const struct cell *cell = result->cell;
	cleanup_free char *try_call = next_call(result);
	struct status status = {
		.id = session_id(result->session),
		.cell = cell->number,
		.state = cell_state_name(cell->state),
		.seconds = (double)cell->elapsed_us / 1e6,
		.has_exit_code = cell->has_exit_code,
		.exit_code = cell->exit_code,
		.names = cell->names,
		.cwd = cell->cwd,
		.output_shown = cell->text_shown,
		.output_total = cell->text_total,
		.output_path = cell->spool_path,
		.output_cut = cell->spool_cut,
		.background_chars = cell->background,
		.children = cell->children,
		.unconfined = facts->tier == POLICY_UNCONFINED,
		.saved = result->saved,
		.saving = result->saving,
		.try_call = try_call,
	};

	fill_changes(&status, cell);
	status_write(line, &status);
	free((void *)(uintptr_t)status.changes);
}

struct wording wording_make(const struct exec_result *result)
{
	const struct confinement_facts facts =
		confinement_facts(session_confinement(result->session));
	struct wording wording = {
		.text = BUF_INIT(BUF_UNBOUNDED),
		.links = BUF_INIT(BUF_UNBOUNDED),
		.status = BUF_INIT(BUF_UNBOUNDED),
		.earlier = xcalloc(result->earlier_count, sizeof(struct buf)),
		.earlier_count = result->earlier_count,
		.is_error = explain_is_error(result->cell),
	};

	for (size_t i = 0; i < result->earlier_count; i++) {
		buf_init(&wording.earlier[i], BUF_UNBOUNDED);
		explain_earlier(&wording.earlier[i], &result->earlier[i], &facts);
	}
	explain_text(&wording.text, result, &facts);
	storage_links_explain(&wording.links, result);
	build_status(&wording.status, result, &facts);
	return wording;
}

void wording_release(struct wording *wording)
{
	for (size_t i = 0; i < wording->earlier_count; i++)
		buf_release(&wording->earlier[i]);
	free(wording->earlier);
	buf_release(&wording->text);
	buf_release(&wording->links);
	buf_release(&wording->status);
}
