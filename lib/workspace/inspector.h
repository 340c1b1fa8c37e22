/* SPDX-License-Identifier: MIT */
/*
 * inspector.h - inspects folders that a session may write, for repositories that session code made.
 *
 * An inspection is a run of ptycell-files (cmd/files/inspect.h). It is bounded, and outside of the
 * server, so that an unresponsive disk delays no session. Files of a repository that git would run
 * are renamed. The first inspection learns what was there before any session code ran. If code of
 * another session has run, its inspector's knowledge is taken over instead. A later inspection that
 * meets its bound is followed by one without a practical bound. The last inspection has no
 * practical bound either.
 */
#ifndef WORKSPACE_INSPECTOR_H
#define WORKSPACE_INSPECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

struct inspector;

enum { INSPECTOR_ENTRIES = 50000 /* of an inspection that an answer waits for */ };

struct inspector_spec {
	struct loop *loop;
	const struct home *home;
	const char *helper;       /* ptycell-files */
	const char *const *paths; /* of the folders */
	const int *fds;           /* descriptors of the same folders */
	size_t count;
	const char *who; /* the session's id */
	/* Called from the loop, with sentences for the session's next answer. */
	void (*notice)(void *data, const char *text);
	/* Called from the loop, when an inspection has ended. */
	void (*inspected)(void *data);
	void *data;
};

/*
 * Starts the first inspection at once, unless what was there is known. `home`, `helper` and the
 * contents of the arrays are borrowed until inspector_free().
 */
struct inspector *inspector_new(const struct inspector_spec *spec);
/* Requests an inspection that begins now, or after the running one. Returns its number. */
uint64_t inspector_request(struct inspector *inspector);
bool inspector_has_ended(const struct inspector *inspector, uint64_t number);
/*
 * Notes that session code is about to run. From now on, findings, and the fact that a part was not
 * inspected, are also stored for an answer of another session (unreported.h): this session may have
 * none any more.
 */
void inspector_note_run(struct inspector *inspector);
/* Notes that an answer has all sentences of `notice` so far. */
void inspector_note_answer(struct inspector *inspector);
/* Ends a running inspection; nothing is reported after this. `inspector` may be NULL. */
void inspector_quiet(struct inspector *inspector);
/*
 * Makes a last, complete inspection and frees the inspector. inspector_quiet() must have been
 * called. `done` is called from the loop, with true if unreported_take() now returns something of
 * it.
 */
void inspector_finish(struct inspector *inspector_own, void (*done)(void *data, bool unreported),
		      void *data);
/* Frees `inspector`, which may be NULL. */
void inspector_free(struct inspector *inspector);

#endif
