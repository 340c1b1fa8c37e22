/* SPDX-License-Identifier: MIT */
/*
 * forgive.h - takes arguments as a model meant them, before a tool checks them.
 *
 * Models write other names for arguments, numbers as texts, one text where a list is asked for, and
 * fences around code. Only what has one meaning is changed. The tools refuse the rest and say what
 * is allowed.
 */
#ifndef TOOLS_FORGIVE_H
#define TOOLS_FORGIVE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Changes the arguments of a tool to those that its schema names. `properties` is of the schema. */
void forgive_arguments(json_t *arguments, const char *tool, json_t *properties);
/* Returns true and sets *ret if the value is a number, or a text such as "60" or "60 s". */
bool forgive_number(const json_t *value, double *ret);
/*
 * Removes a Markdown fence that is around all of `*code`. Returns whether there was one;
 * `*ret_word` then is what stands behind its backticks ("python"), of `*ret_len` bytes.
 */
bool forgive_fence(const char **code, size_t *len, const char **ret_word, size_t *ret_len);

#endif
