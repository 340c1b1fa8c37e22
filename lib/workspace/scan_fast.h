/* SPDX-License-Identifier: MIT */
/*
 * recheck.h - does a snapshot still hold? The cheap look before a scan, as most cells touch no
 * file.
 *
 * A folder whose stamps did not change has the names that it had: it is not listed again. Its files
 * are looked at one by one as a scan does, because writing to one changes no folder. A folder or
 * file that was changed within YOUNG_NS before the snapshot may have been changed once more at the
 * same time of the clock: then the answer is no.
 */
#ifndef WORKSPACE_SCAN_FAST_H
#define WORKSPACE_SCAN_FAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workspace/snapshot.h"

enum {
	SCAN_FAST_FILES_MAX =
		256, /* with more the answer is no, as with more than SNAPSHOT_FOLDERS */
	YOUNG_NS = 20 * 1000 * 1000,
};

/* Notes the folder that is open as `fd` and about to be listed. */
void scan_fast_note_folder(struct snapshot *snapshot, const char *path, int fd);
/* False as well when it cannot be told. `data_fd` is the folder that was scanned. */
bool scan_fast_holds(const struct snapshot *snapshot, int data_fd);

#endif
