/* SPDX-License-Identifier: MIT */
/*
 * cursor_keys.h - which bytes the arrow keys send. A program that draws its screen asks for those
 * of xterm's application mode (CSI ? 1 h) and, if it uses curses, knows no others.
 */
#ifndef RUNNER_CURSOR_KEYS_H
#define RUNNER_CURSOR_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is a new terminal. */
struct cursor_keys {
	unsigned char matched; /* bytes of a request that may be unfinished */
	bool application;
};

/* Follows the requests in a terminal's output, which comes in chunks of any size. */
void cursor_keys_feed(struct cursor_keys *keys, const char *data, size_t len);
/* Changes the bytes of an arrow, of Home or End to those that the program asked for. */
void cursor_keys_convert(const struct cursor_keys *keys, char *key, size_t len);

#endif
