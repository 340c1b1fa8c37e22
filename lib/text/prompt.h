/* SPDX-License-Identifier: MIT */
/*
 * prompt.h - the prompt of untrusted code: whether it asks for a secret, and how a question to the
 * user quotes it.
 */
#ifndef TEXT_PROMPT_H
#define TEXT_PROMPT_H

#include <stdbool.h>

/*
 * Returns whether a prompt has a known word for a secret: a password, key, code or number of a
 * card, in one of some thirty languages. It compares in any case and width of letters, with
 * lookalike letters, and with invisible characters between, as they are or as sanitize.h writes
 * them. A harmless prompt ("secret number") may count too; unknown words do not. Text that is not
 * UTF-8 does not count.
 */
bool prompt_asks_for_secret(const char *prompt);
/*
 * Returns the prompt as sanitize_quote does, with ' in place of every quotation mark and its
 * lookalikes: no part of it can pass for the end of the quotation. The caller frees it.
 */
char *prompt_quote(const char *prompt);

#endif
