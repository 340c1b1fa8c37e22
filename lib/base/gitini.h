/* SPDX-License-Identifier: MIT */
/*
 * gitini.h - the entries of a git configuration file.
 *
 * It reads what git itself writes. A line that continues on the next one, and any other line that
 * git does not write, is reported as odd.
 */
#ifndef BASE_GITINI_H
#define BASE_GITINI_H

#include <stdbool.h>
#include <stddef.h>

struct gitini_entry {
	const char *section;    /* in lower case; ends with "." if it has a subsection */
	const char *subsection; /* without its quotes; "" if there is none */
	const char *name;       /* in lower case */
	const char *value;
	const char *odd; /* a line that is not understood: all other members are NULL */
};

typedef void gitini_fn(void *data, const struct gitini_entry *entry);

/*
 * Calls `fn` for each entry. If an entry stands in the line of its section, `fn` gets the entry and
 * then that line as odd.
 */
void gitini_each(const char *text, size_t len, gitini_fn *fn, void *data);
/*
 * Returns whether the value is the path of another configuration, relative to this one's folder.
 * Must not be called for an odd entry.
 */
bool gitini_is_include(const struct gitini_entry *entry);
/*
 * Returns whether the value is a folder of hooks, relative to where git runs them. Must not be
 * called for an odd entry.
 */
bool gitini_is_hooks(const struct gitini_entry *entry);
/* Returns true for core.worktree. */
bool gitini_is_worktree(const struct gitini_entry *entry);
/*
 * Returns whether the value is a command line that git runs unasked in status, add, commit, diff,
 * fetch and similar, from the folder where git was called. An alias is not one: git runs it only
 * when the user names it. Must not be called for an odd entry.
 */
bool gitini_is_command(const struct gitini_entry *entry);
/*
 * Calls `fn` for each word of a command line that may be a path, and for what follows an expansion
 * in it, below the current and the home folder. It cuts words where a shell does, or more often.
 */
void gitini_each_word(const char *command, void (*fn)(void *data, const char *word), void *data);
/*
 * Returns the part of a value that begins with ~ below `folder`, "" for the folder itself. It
 * assumes that `folder` is stored in the home folder that is meant, and does not check it. Returns
 * NULL if the value names nothing there. Borrowed from `value`.
 */
const char *gitini_below_home(const char *value, const char *folder);

#endif
