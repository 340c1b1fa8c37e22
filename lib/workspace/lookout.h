/* SPDX-License-Identifier: MIT */
/*
 * lookout.h - inspects folders that a session may write, for repositories that session code made.
 *
 * An inspection is a run of ptycell-files (cmd/files/inspect.h). It is bounded, and outside of the
 * server, so that an unresponsive disk delays no session. Files of a repository that git would run
 * are renamed. The first inspection learns what configs contained before any session code ran. One
 * that met its bound is followed by another, and the last one is one, that has no practical bound.
 */
#ifndef WORKSPACE_LOOKOUT_H
#define WORKSPACE_LOOKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

struct lookout;

enum { LOOKOUT_ENTRIES = 50000 /* of an inspection that an answer waits for */ };

struct lookout_spec {
	struct loop *loop;
	const struct home *home;
	const char *helper;       /* ptycell-files */
	const char *const *paths; /* of the folders */
	const int *fds;           /* descriptors of the same folders */
	size_t count;
	const char *who; /* for the log */
	/*
	 * Both are called from the loop: with sentences for the session's next answer; when an
	 * inspection ended.
	 */
	void (*notice)(void *data, const char *text);
	void (*inspected)(void *data);
	void *data;
};

/*
 * Starts the first inspection at once. `home`, `helper` and the contents of the arrays are borrowed
 * until lookout_free().
 */
struct lookout *lookout_new(const struct lookout_spec *spec);
/* Requests an inspection that begins now, or after the running one. Returns its number. */
uint64_t lookout_ask(struct lookout *lookout);
bool lookout_has_ended(const struct lookout *lookout, uint64_t number);
/* Ends a running inspection; nothing is reported after this. `lookout` may be NULL. */
void lookout_quiet(struct lookout *lookout);
/*
 * Makes a last, complete inspection and frees the lookout. lookout_quiet() must have been called.
 * `done` is called from the loop.
 */
void lookout_last(struct lookout *lookout_own, void (*done)(void *data), void *data);
/* Frees `lookout`, which may be NULL. */
void lookout_free(struct lookout *lookout);

#endif
