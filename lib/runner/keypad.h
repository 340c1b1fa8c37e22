/* SPDX-License-Identifier: MIT */
/*
 * keypad.h - which bytes the arrow keys send. A program that draws its screen asks for those of
 * xterm's application mode (CSI ? 1 h) and, if it uses curses, knows no others.
 */
#ifndef RUNNER_KEYPAD_H
#define RUNNER_KEYPAD_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed struct is a new terminal. */
struct keypad {
	unsigned char matched; /* bytes of a request that may be unfinished */
	bool application;
};

/* Follows the requests in a terminal's output, which comes in chunks of any size. */
void keypad_feed(struct keypad *keypad, const char *data, size_t len);
/* Changes the bytes of an arrow, of Home or End to those that the program asked for. */
void keypad_convert(const struct keypad *keypad, char *key, size_t len);

#endif
