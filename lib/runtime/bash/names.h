/* SPDX-License-Identifier: MIT */
/*
 * names.h - the variables and functions of a bash, as they stood when its last cell ended.
 *
 * `text` is what `declare -p` and `declare -F` print. The forms are those of runtime/frame.h.
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
/* Appends what changed since, as the part `names`. An empty text tells nothing: all stays. */
void names_take(struct names *names, const char *text, size_t len, struct buf *changed);
/* What there is now is the language's own: it is told of only when it changes. */
void names_settle(struct names *names);
/* Appends the part `vars`, at most `limit` lines. Returns how many there are. */
size_t names_rows(const struct names *names, const char *text, size_t len, uint64_t limit,
		  struct buf *rows);

#endif
