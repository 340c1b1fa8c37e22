/* SPDX-License-Identifier: MIT */
/* cases.h - the two cases of letters of all alphabets. */
#ifndef TEXT_CASES_H
#define TEXT_CASES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The text in small or in capital letters, from malloc and without a NUL at its end, NULL without
 * memory. What is no UTF-8 becomes U+FFFD. */
char *cases_lower(const char *s, size_t len, size_t *ret_len);
char *cases_upper(const char *s, size_t len, size_t *ret_len);
/* The first character, whose length is *ret_len; 0 at the end, U+FFFD for what is none. */
uint32_t cases_first(const char *s, size_t len, size_t *ret_len);
/* Whether they are one, or one letter in its two cases. */
bool cases_are_same(uint32_t a, uint32_t b);

#endif
