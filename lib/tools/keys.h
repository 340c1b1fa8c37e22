/* SPDX-License-Identifier: MIT */
/* key.h - what the keys of a terminal send (xterm's, without application modes). */
#ifndef TOOLS_KEYS_H
#define TOOLS_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of "enter", "ctrl-d", "page-up" ..., static; false when there is no such key. */
bool keys_find(const char *name, const char **ret_bytes, size_t *ret_len);

#endif
