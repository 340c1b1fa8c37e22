/* SPDX-License-Identifier: MIT */
/*
 * limit_hints.h - the sentence that names the limit or the layer that code ran into.
 *
 * Programs report only the kernel's error: "File too large". The sentence says which limit that
 * was, how much it is, and what to do. For errors of the network: answer/network_json.h.
 */
#ifndef ANSWER_LIMIT_HINTS_H
#define ANSWER_LIMIT_HINTS_H

#include "base/buf.h"

struct confinement_facts;
struct exec_result;

/*
 * Appends a line, or nothing when the cell did not end with such an error. `facts` are those of its
 * session.
 */
void limit_hints_explain(struct buf *out, const struct exec_result *result,
			 const struct confinement_facts *facts);

#endif
