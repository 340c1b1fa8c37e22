/* SPDX-License-Identifier: MIT */
/*
 * gitini.h - the entries of a config of git.
 *
 * What git writes is read; a line that goes on in the next, and others that git does not write,
 * are odd.
 */
#ifndef BASE_GITINI_H
#define BASE_GITINI_H

#include <stdbool.h>
#include <stddef.h>

struct gitini_entry {
	const char *section;    /* in lower case; with a "." behind when it has a subsection */
	const char *subsection; /* without its quotes; "" */
	const char *name;       /* in lower case */
	const char *value;
	const char *odd; /* a line that is not understood: all else is NULL */
};

typedef void gitini_fn(void *data, const struct gitini_entry *entry);

/* Calls `fn` for each; an entry in the line of its section comes, and that line as an odd one. */
void gitini_each(const char *text, size_t len, gitini_fn *fn, void *data);
/* Not of an odd one: its value is another config, counted from this one's folder. */
bool gitini_is_include(const struct gitini_entry *entry);
/* Likewise: a folder of hooks, counted from where git runs them. */
bool gitini_is_hooks(const struct gitini_entry *entry);
/*
 * Likewise: a command line, which git runs by itself in status, add, commit, diff, fetch and their
 * like, from where it is called. An alias is run only when the user names it.
 */
bool gitini_is_command(const struct gitini_entry *entry);
/*
 * Calls `fn` for each word of a command line that may be a path, as a shell cuts them, or more
 * often.
 */
void gitini_each_word(const char *command, void (*fn)(void *data, const char *word), void *data);
/*
 * What a value that begins with ~ names below `folder`, "" for itself, if that lies in the home
 * folder that is meant, which is not asked for; NULL: nothing. Borrowed.
 */
const char *gitini_below_home(const char *value, const char *folder);

#endif
