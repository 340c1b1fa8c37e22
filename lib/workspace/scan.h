/* SPDX-License-Identifier: MIT */
/*
 * scan.h - which files of a workspace are new, changed or gone.
 *
 * A scan walks `data` without following anything; its own list is the "before" of the next one.
 * Changed = inode, size, mtime or ctime differs; where these can lie (coarse clocks, a file
 * younger than 20 ms at the last scan) the content's hash decides. One that met an error finds no
 * deletions and does not count (scan_disown). What was known of a folder that is closed is known
 * on. Version control, caches and
 * virtual environments are not entered. A scan works in slices of SCAN_SLICE_MS and never blocks
 * the loop for longer.
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
	SCAN_PATHS_MAX = 4 << 20, /* bytes of all paths, with those of folders */
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

/* Remembers `workspace` (borrowed). The first scan's result is the start: no changes. */
struct scan *scan_new(struct loop *loop, const struct workspace *workspace, void *data);
void *scan_data(const struct scan *scan);
void scan_free(struct scan *scan);
/* Starts a scan; `done` runs once, from the loop or before this returns when it was quick;
 * it may be NULL, and may free the scan. Not while another runs. */
void scan_start(struct scan *scan, void (*done)(struct scan *scan));
bool scan_running(const struct scan *scan);
/* Brings one that runs to its end at once, however long that takes: for the end of a session. */
void scan_finish(struct scan *scan);
/*
 * The last finished scan does not count: the next one is compared with what that was compared with,
 * so that its changes come once more. Not for the first one.
 */
void scan_disown(struct scan *scan);
/* Of the last finished scan; valid until the next one starts. Sorted by path. */
const struct change *scan_changes(const struct scan *scan, size_t *ret_count);
const struct file_info *scan_files(const struct scan *scan, size_t *ret_count);
/* What all the files of the last finished scan take of the disk, without those that it leaves out.
 */
uint64_t scan_disk_bytes(const struct scan *scan);
/* The errno for which something could not be looked at, as a lack of descriptors; 0: none. */
int scan_error(const struct scan *scan);
/* True when files beyond SCAN_FILES_MAX or SCAN_PATHS_MAX were left out. */
bool scan_capped(const struct scan *scan);

#endif
