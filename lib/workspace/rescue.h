/* SPDX-License-Identifier: MIT */
/*
 * rescue.h - exports the results of killed servers that were not exported yet.
 *
 * While a session lives, its server keeps a record that says where its results go
 * (rescue_record.h). If the server is killed, the next one reads the record and exports what is
 * missing there, one session at a time, before it removes the dead server's folder.
 *
 * A removal renames the session's folder (HOME_REMOVE_PREFIX), waits for a copy of results that
 * still runs, and then removes the record. If the removal is killed before that, the next server
 * finds the record in the renamed folder, and exports the results as above.
 *
 * The rules of beside.h decide which files are results. A file with the same name and another
 * content is kept beside the new copy. If notebook and report were exported, they are completed
 * from the session's events: the cell that was running has the state "killed". Its end is reported
 * for the audit if LOSTCELLS_RECORD (lostcells.h) is there.
 */
#ifndef WORKSPACE_RESCUE_H
#define WORKSPACE_RESCUE_H

#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

struct lostcells_report;

struct rescue_spec {
	struct loop *loop;
	const struct home *home;
	const char *helper;   /* path of ptycell-files */
	const char *name;     /* of home_take_stale; NULL: the sessions that last (lasting.h) */
	const char *root;     /* of this server's results, or NULL; for sessions without a record */
	uint64_t quota_bytes; /* for each session */
	uint64_t total_bytes; /* for all below the root (keeproom.h); 0: without a limit */
	/* Called for each session with cells that ran when its server was killed (lostcells.h). */
	void (*killed)(void *data, const struct lostcells_report *report);
};

struct rescue;

/*
 * Returns whether results of the ended session in this folder of LASTING_FOLDER are not exported
 * yet, or not all of them.
 */
bool rescue_is_due(const struct home *home, const char *name);
/*
 * Starts the export of a dead server's results. Sessions that last and ended in good order have
 * nothing to export. Each other one is marked when its results are exported, so that this happens
 * once; one that was destroyed (LASTING_FORGOTTEN) is removed then. Results that cannot be written,
 * as on a full disk, are due: the next server tries again. Returns a pointer that is valid until
 * `done` is called.
 *
 * `done` is called once, from the loop, when nothing is left to try. Its `name` is the folder that
 * the caller must remove. It is NULL if spec->name is. It is NULL, too, if the folder must stay,
 * because results in it are due or a part of it could not be read. If home_close() comes first,
 * `done` is not called, and the folder stays for the next server. Everything in `spec` but `loop`
 * and `home` is borrowed for the call.
 */
struct rescue *rescue_start(const struct rescue_spec *spec,
			    void (*done)(void *data, const char *name), void *data);
/*
 * Stops the export of the session in this folder, which was taken over: its new server exports what
 * is missing. The others follow.
 */
void rescue_skip(struct rescue *rescue, const char *name);

#endif
