/* SPDX-License-Identifier: MIT */
/* quotation.h - quotes text so that nothing in it can pass for the end of the quotation. */
#ifndef TEXT_QUOTATION_H
#define TEXT_QUOTATION_H

#include <stdbool.h>
#include <stdint.h>

/* Returns whether the character is a quotation mark of any script, or looks like one. */
bool quotation_is_mark(uint32_t cp);
/*
 * Returns a path or name for a sentence, at most SANITIZE_QUOTE_MAX characters of it, then "...":
 * 'path', or a JSON string as of sanitize_path_string, in which every quotation mark is \uXXXX. The
 * caller frees it.
 */
char *quotation_of_path(const char *path);

#endif
