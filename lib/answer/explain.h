/* SPDX-License-Identifier: MIT */
/* explain.h - the text of an answer: what a cell wrote, and sentences about it. */
#ifndef ANSWER_EXPLAIN_H
#define ANSWER_EXPLAIN_H

#include <stdbool.h>

#include "base/buf.h"

struct cell;
struct confinement_facts;
struct exec_result;

/* Appends the output, the value or traceback, then what happened and what to do next. */
void explain_text(struct buf *text, const struct exec_result *result,
		  const struct confinement_facts *facts);
/* Appends the text of a cell that ended before the answer's own, below a line that says so. */
void explain_earlier(struct buf *text, const struct exec_result *result,
		     const struct confinement_facts *facts);
/* Returns whether the code failed or did not run. */
bool explain_is_error(const struct cell *cell);

#endif
