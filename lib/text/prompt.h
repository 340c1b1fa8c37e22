/* SPDX-License-Identifier: MIT */
/* prompt.h - the prompt of untrusted code: what it asks for, and how a question to the user quotes
 * it. */
#ifndef TEXT_PROMPT_H
#define TEXT_PROMPT_H

#include <stdbool.h>

/*
 * Returns whether a prompt has a known word for a secret: a password, key, code or number of a
 * card, in one of some thirty languages, in any case and width of letters, with letters that look
 * like others and with invisible ones between, as they are or as clean.h writes them. It may also
 * hold for a harmless prompt ("secret number"), and does not for words that are not known. What is
 * not UTF-8 asks for none.
 */
bool prompt_asks_for_secret(const char *prompt);
/*
 * Returns the prompt as sanitize_quote does, with ' in place of every quotation mark and of what
 * looks like one: no reader takes a part of it for the end of the quotation. The caller frees it.
 */
char *prompt_quote(const char *prompt);

#endif
