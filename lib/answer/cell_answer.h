/* SPDX-License-Identifier: MIT */
/* cell_answer.h - answers a call of exec_code or interact with a cell's result. */
#ifndef ANSWER_CELL_ANSWER_H
#define ANSWER_CELL_ANSWER_H

#include "config/settings.h"

struct exec_result;
struct history;
struct mcp_call;

/* Ends the call with the result, in the form that `results` names. `history` has the cell's record.
 */
void cell_answer_finish(struct mcp_call *call, enum settings_results results,
			const struct history *history, const struct exec_result *result);

#endif
