/* SPDX-License-Identifier: MIT */
/*
 * rescue.h - results that servers which were killed had not kept yet.
 *
 * Each session's journal folder holds where its results go, in the file RESCUE_RECORD:
 * {"root", "folder", "notebook"}, the root percent-encoded. The server that finds a dead server's
 * folder copies what lies in output/ there, or beside it as results do (beside.h), and is not in
 * that folder yet, a session at a time, before the folder is removed. What lies there under the
 * same name with another content stays beside it. Where the notebook was kept, it is finished from
 * the session's events: the cell that ran stands in it as killed.
 */
#ifndef WORKSPACE_RESCUE_H
#define WORKSPACE_RESCUE_H

#include <stdbool.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

#define RESCUE_RECORD "kept"

/* Writes the record; `notebook` is its name, or NULL. That it cannot be written is told in the log.
 */
void rescue_record(int journal_fd, const char *root, const char *folder, const char *notebook);

struct rescue_spec {
	struct loop *loop;
	const struct home *home;
	const char *helper;   /* the path of ptycell-files */
	const char *name;     /* of home_take_stale */
	uint64_t quota_bytes; /* for each session */
};

/*
 * `done` comes once, from the loop, when nothing is left to copy; not when home_close comes before:
 * the folder stays, and the next server goes on. All of `spec` is borrowed for the call but loop
 * and home.
 */
void rescue_start(const struct rescue_spec *spec, void (*done)(void *data, const char *name),
		  void *data);

#endif
