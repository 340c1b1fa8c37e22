/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a step of an installation is, as its program reports before its reply.
 *
 *   {"progress": {"name": NAME, "done": BYTES, "total": BYTES}}
 *
 * This is one line; the numbers may be missing. It is only shown to the client, because untrusted
 * package code may have run beside the program.
 */
#ifndef INSTALL_PROGRESS_H
#define INSTALL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_NAME_MAX = 80, PROGRESS_LINE_MAX = 1000 };

struct progress {
	uint64_t done; /* bytes; 0: not known */
	uint64_t total;
	char name[PROGRESS_NAME_MAX + 1]; /* printable ASCII; "" if it is not known */
};

/* Reads a line without its end. Returns false, and leaves *ret, if it is no line of progress. */
bool progress_read(const char *line, size_t len, struct progress *ret);
/*
 * Sets the name, which is untrusted, or as much of it as fits. Characters other than printable
 * ASCII become "?".
 */
void progress_set_name(struct progress *progress, const char *name);
/* Returns "DOING NAME: 11.2 of 12.9 MB", as far as the numbers are known. The caller frees it. */
char *progress_text(const struct progress *progress, const char *doing);

#endif
