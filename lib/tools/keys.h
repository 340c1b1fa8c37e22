/* SPDX-License-Identifier: MIT */
/*
 * keys.h - the bytes that the keys of a terminal send (xterm's; runner/cursor_keys.h has its
 * application mode).
 */
#ifndef TOOLS_KEYS_H
#define TOOLS_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* Sets the static bytes of "enter", "ctrl-d", "page-up" ... Returns false for an unknown key. */
bool keys_find(const char *name, const char **ret_bytes, size_t *ret_len);

#endif
