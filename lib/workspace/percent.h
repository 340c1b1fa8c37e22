/* SPDX-License-Identifier: MIT */
/*
 * percent.h - file names as ASCII text, for orders to a helper and its answers.
 *
 * A name is bytes, JSON text is Unicode: every byte but letters, digits and "-._~/ " becomes %XX.
 */
#ifndef WORKSPACE_PERCENT_H
#define WORKSPACE_PERCENT_H

/* Both return a string that the caller frees. */
char *percent_encode(const char *bytes);
/* NULL for text that percent_encode does not make, and for a NUL. */
char *percent_decode(const char *text);

#endif
