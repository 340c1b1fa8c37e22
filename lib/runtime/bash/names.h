/* SPDX-License-Identifier: MIT */
/*
 * names.h - the variables and functions of a bash, as of the end of its last cell.
 *
 * `text` is the output of `declare -p` and `declare -F`. The output forms are those of
 * runtime/frame.h.
 */
#ifndef RUNTIME_BASH_NAMES_H
#define RUNTIME_BASH_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct name;

/* Zero-initialised. */
struct names {
	struct name *items; /* sorted */
	size_t count;
	size_t cap;
};

void names_release(struct names *names);
/*
 * Takes the new names and appends the changes as the part `names`. An empty text changes nothing.
 */
void names_take(struct names *names, const char *text, size_t len, struct buf *changed);
/* Marks the current names as the language's own: they are reported only after a change. */
void names_settle(struct names *names);
/* Appends the part `vars`, at most `limit` lines. Returns how many names there are. */
size_t names_rows(const struct names *names, const char *text, size_t len, uint64_t limit,
		  struct buf *rows);

#endif
