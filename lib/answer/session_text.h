/* SPDX-License-Identifier: MIT */
/* session_text.h - a session in the few lines that a model needs of session_info. */
#ifndef ANSWER_SESSION_TEXT_H
#define ANSWER_SESSION_TEXT_H

#include <jansson.h>
#include <stdbool.h>

struct buf;

/* Returns whether `include` of session_info may have this word. */
bool session_text_knows(const char *word);
/*
 * Appends the fields of `answer`, which session_json_describe or session_json_none made, as text.
 * Each word of `include` adds a field whole, as JSON; "all" adds each. It may be NULL.
 */
void session_text_put(struct buf *text, const json_t *answer, const json_t *include);

#endif
