/* SPDX-License-Identifier: MIT */
/*
 * cell_answer.c - makes an answer in two steps: the words first, then their form.
 *
 * The record in _meta is the one that the journal got, if the cell is over.
 */
#include "answer/cell_answer.h"

#include "answer/cell_json.h"
#include "answer/history.h"
#include "answer/render.h"
#include "answer/render_json.h"
#include "answer/wording.h"
#include "session/session.h"

void cell_answer_finish(struct mcp_call *call, enum settings_results results,
			const struct history *history, const struct exec_result *result)
{
	struct wording wording = wording_make(result);

	if (results == RESULTS_JSON)
		render_json_finish(call, &wording, result);
	else
		render_finish(call, &wording,
			      result->ended ? history_record(history, result)
					    : cell_json_make(result),
			      result);
	wording_release(&wording);
}
