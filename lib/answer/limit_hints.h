/* SPDX-License-Identifier: MIT */
/*
 * limit_hints.h - the sentence that names the limit or the layer that code ran into.
 *
 * Programs report only the kernel's error: "File too large". The sentence says which limit that
 * was, how much it is, and what to do. For errors of the network: answer/network_json.h.
 */
#ifndef ANSWER_LIMIT_HINTS_H
#define ANSWER_LIMIT_HINTS_H

#include <stdbool.h>

#include "base/buf.h"

struct cell;
struct confinement_facts;
struct exec_result;

/*
 * Appends a line, or nothing when the cell did not end with such an error. `facts` are those of its
 * session.
 */
void limit_hints_explain(struct buf *out, const struct exec_result *result,
			 const struct confinement_facts *facts);

/*
 * Returns whether the interpreter of a cell ended because it got no memory. For a cell of bash,
 * also returns whether its last command was a program with V8 that ended so.
 */
bool limit_hints_died_for_memory(const struct cell *cell);

#endif
