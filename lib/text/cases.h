/* SPDX-License-Identifier: MIT */
/* cases.h - lower and upper case of letters of all alphabets. */
#ifndef TEXT_CASES_H
#define TEXT_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Return the text in lower or upper case, allocated by malloc and without a final NUL; NULL if
 * memory runs out. Ill-formed UTF-8 becomes U+FFFD. The caller frees the result.
 */
char *cases_lower(const char *s, size_t len, size_t *ret_len);
char *cases_upper(const char *s, size_t len, size_t *ret_len);
/*
 * Returns the first character and sets *ret_len to its length; 0 at the end, U+FFFD for ill-formed
 * text.
 */
uint32_t cases_first(const char *s, size_t len, size_t *ret_len);
/* Returns whether they are one character, or one letter in its two cases. */
bool cases_are_same(uint32_t a, uint32_t b);

#endif
