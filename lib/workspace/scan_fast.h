/* SPDX-License-Identifier: MIT */
/*
 * scan_fast.h - checks cheaply if a snapshot is still valid, before a full scan.
 *
 * Most cells touch no file. A folder whose stamps did not change has the same names and is not
 * listed again. Its files are still inspected one by one, because writing to a file changes no
 * folder. A folder or file that changed within YOUNG_NS before the snapshot may have changed again
 * at the same time stamp: the snapshot then counts as invalid.
 */
#ifndef WORKSPACE_SCAN_FAST_H
#define WORKSPACE_SCAN_FAST_H

#include <stdbool.h>

#include "workspace/snapshot.h"

enum {
	/* With more files, or more folders than SNAPSHOT_FOLDERS, it counts as invalid. */
	SCAN_FAST_FILES_MAX = 256,
	YOUNG_NS = 20 * 1000 * 1000,
};

/* Records the stamps of the folder open as `fd`, which is about to be listed. */
void scan_fast_note_folder(struct snapshot *snapshot, const char *path, int fd);
/*
 * Returns true if the snapshot is still valid, and false if this is not certain. `data_fd` is the
 * folder that was scanned.
 */
bool scan_fast_holds(const struct snapshot *snapshot, int data_fd);

#endif
