/* SPDX-License-Identifier: MIT */
/*
 * lookout.h - looks into folders that a session may write, for repositories that its code made.
 *
 * A look is a run of ptycell-files (cmd/files/look.h): bounded, and apart from the server, so that
 * a disk that does not answer holds nobody up. What git would run of it is renamed there. The
 * first look learns what configs had before any code ran; the last one has no bound that matters.
 */
#ifndef WORKSPACE_LOOKOUT_H
#define WORKSPACE_LOOKOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

struct lookout;

enum { LOOKOUT_ENTRIES = 50000 /* of a look, but the last */ };

struct lookout_spec {
	struct loop *loop;
	const struct home *home;
	const char *helper;       /* ptycell-files */
	const char *const *paths; /* of the folders */
	const int *fds;           /* the same, open */
	size_t count;
	const char *who; /* for the log */
	/* Both from the loop: sentences for the session's next answer; a look has ended. */
	void (*told)(void *data, const char *text);
	void (*looked)(void *data);
	void *data;
};

/* What the arrays hold, `home` and `helper` are borrowed until it is freed. It learns at once. */
struct lookout *lookout_new(const struct lookout_spec *spec);
/* A look that begins from here on, now or after the one that runs: its number. */
uint64_t lookout_ask(struct lookout *lookout);
bool lookout_has_ended(const struct lookout *lookout, uint64_t number);
/* Ends one that runs; nothing is told after this. NULL is allowed. */
void lookout_quiet(struct lookout *lookout);
/* A quiet one looks a last time, at all there is, and frees itself; `done` comes from the loop. */
void lookout_last(struct lookout *lookout_own, void (*done)(void *data), void *data);
/* NULL is allowed. */
void lookout_free(struct lookout *lookout);

#endif
