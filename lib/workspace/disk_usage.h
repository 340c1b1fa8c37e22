/* SPDX-License-Identifier: MIT */
/*
 * disk.h - how much of the disk a session's folder takes.
 *
 * A walk over all of `data`, also over what a scan does not enter, by descriptor and through no
 * link, in slices of DISK_SLICE_MS. A file with several names counts a part with each. What was
 * deleted and is still open is not seen: the free space of the file system tells of that.
 */
#ifndef WORKSPACE_DISK_USAGE_H
#define WORKSPACE_DISK_USAGE_H

#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

enum {
	DISK_SLICE_MS = 5,
	DISK_OPEN_MAX = 64,       /* folders held open; deeper ones are found again from below */
	DISK_DEPTH_MAX = 1 << 20, /* of folders in each other */
	DISK_ENTRIES_MAX = 20 << 20,
};

/*
 * Instead of a size: nobody knows it, because there is more than the maxima above, because a folder
 * is closed to us, or because deep ones were moved during the walk.
 */
#define DISK_UNKNOWN UINT64_MAX
/* With less left a disk is full. */
#define DISK_ROOM_MIN (1ULL << 20)

struct disk;

/* `workspace` is borrowed until free. */
struct disk *disk_new(struct loop *loop, const struct workspace *workspace, void *data);
/* Ends a walk under way. NULL is allowed. */
void disk_free(struct disk *disk);
void *disk_data(const struct disk *disk);
/* `done` comes once, from the loop, and may free the disk. While one walks nothing is begun. */
void disk_start(struct disk *disk, void (*done)(struct disk *disk, uint64_t bytes));

/* How many files and folders the last whole walk met. */
uint64_t disk_entries(const struct disk *disk);
/* The size of the largest file that it met, and how long it took. */
uint64_t disk_largest(const struct disk *disk);
uint64_t disk_walk_ms(const struct disk *disk);

/* Bytes that are free for this user where the folder lies; UINT64_MAX when nobody knows. */
uint64_t disk_free_bytes(const struct workspace *workspace);
/* Is there no room for DISK_ROOM_MIN bytes, or for another file? */
bool disk_is_full(const struct workspace *workspace);

#endif
