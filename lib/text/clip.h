/* SPDX-License-Identifier: MIT */
/* clip.h - a long text as head and tail. */
#ifndef TEXT_CLIP_H
#define TEXT_CLIP_H

#include <stddef.h>

#include "base/buf.h"

/*
 * Appends `s`, well-formed UTF-8, when it has at most `max_chars` characters. Else its head (two
 * thirds) and tail, cut at line borders where one is near, else at character borders, with one
 * line of ours between them: "[... N characters left out ...]", which is not counted. Returns
 * the characters of `s` shown.
 */
size_t clip_text(struct buf *out, const char *s, size_t len, size_t max_chars);

#endif
