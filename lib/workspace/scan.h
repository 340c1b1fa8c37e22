/* SPDX-License-Identifier: MIT */
/*
 * scan.h - finds which files of a workspace are new, changed or deleted.
 *
 * A scan walks `data` without following links and compares its list with that of the scan before. A
 * file is changed if its inode, size, mtime or ctime differs. Where times are not reliable (coarse
 * clocks, a file younger than 20 ms at the last scan), the hash of the content decides. A scan that
 * met an error reports no deletions and does not count (scan_disown). Files in a folder that became
 * unreadable are still listed. Folders that never hold results by their names are not entered
 * (keepname_is_skipped). A scan works in slices of SCAN_SLICE_MS and never blocks the loop for
 * longer.
 */
#ifndef WORKSPACE_SCAN_H
#define WORKSPACE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

enum {
	SCAN_FILES_MAX = 20000,
	SCAN_PATHS_MAX = 4 << 20, /* bytes of all paths, folders included */
	SCAN_SLICE_MS = 5,
};

enum change_kind { CHANGE_NEW, CHANGE_CHANGED, CHANGE_DELETED };

struct file_info {
	char *path; /* relative to data */
	uint64_t size;
	uint64_t mtime_ns;
	bool is_link; /* listed, never followed or attached */
};

struct change {
	enum change_kind kind;
	struct file_info file;
};

struct scan;

/*
 * Makes a scan; scan_start() runs it, any number of times. `workspace` is borrowed until
 * scan_free(). The first run only records the start: it has no changes.
 */
struct scan *scan_new(struct loop *loop, const struct workspace *workspace, void *data);
void *scan_data(const struct scan *scan);
void scan_free(struct scan *scan);
/*
 * Starts a scan; none may be running. `done` is called once, from the loop, or before this returns
 * if the scan was quick. It may be NULL, and may free the scan.
 */
void scan_start(struct scan *scan, void (*done)(struct scan *scan));
bool scan_running(const struct scan *scan);
/* Completes a running scan at once, however long that takes, for the end of a session. */
void scan_finish(struct scan *scan);
/*
 * Discards the last finished scan: the next one is compared with the scan before it, so that its
 * changes are reported again. Must not be called for the first scan.
 */
void scan_disown(struct scan *scan);
/*
 * Returns the changes of the last finished scan, sorted by path. Borrowed until the next scan
 * starts.
 */
const struct change *scan_changes(const struct scan *scan, size_t *ret_count);
const struct file_info *scan_files(const struct scan *scan, size_t *ret_count);
/*
 * Returns the disk space of the files of the last finished scan, also of those beyond the maxima.
 * Folders that a scan does not enter are not counted.
 */
uint64_t scan_disk_bytes(const struct scan *scan);
/* Returns the errno with which something could not be read, such as a lack of descriptors, or 0. */
int scan_error(const struct scan *scan);
/*
 * Returns the first folder that its permissions keep from being read ("" for the top), if it is
 * another one than at the last call; else NULL. Borrowed until the next scan starts.
 */
const char *scan_tell_closed(struct scan *scan);
/* Returns true if files beyond SCAN_FILES_MAX or SCAN_PATHS_MAX were left out. */
bool scan_capped(const struct scan *scan);

#endif
