/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the files of one scan, sorted by path, and how two scans differ.
 *
 * Parallel arrays keep what callers see apart from what only comparing needs. Sorting is done in
 * steps, because twenty thousand paths take longer than the loop may be held.
 */
#ifndef WORKSPACE_SNAPSHOT_H
#define WORKSPACE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "workspace/scan.h"

struct stamp {
	uint64_t ino;
	uint64_t ctime_ns;
	uint64_t hash;  /* of the content when `young` */
	bool young;     /* the clock may not have moved since: compare the content */
	uint8_t folder; /* of snapshot.folders, when it is not `unsure` */
};

/* Of a folder when it was listed. */
struct folder_stamp {
	const char *path; /* "" for the top */
	uint64_t device;
	uint64_t ino;
	uint64_t mtime_ns;
	uint64_t ctime_ns;
};

enum { SNAPSHOT_FOLDERS = 16 };

struct chunk;

struct snapshot {
	struct file_info *files;
	struct stamp *stamps;
	size_t count;
	size_t cap;
	struct chunk *chunks; /* the paths' bytes */
	size_t path_bytes;    /* of files and folders */
	bool capped;
	int error;           /* the errno for which something could not be looked at; 0: none */
	uint64_t started_ns; /* real time, to compare with ctime */
	uint64_t disk_bytes; /* that its files take, those beyond the cap, too */
	/* For recheck.h. */
	struct folder_stamp folders[SNAPSHOT_FOLDERS];
	size_t folder_count;
	bool unsure; /* more folders, or one whose stamps may hide a change */
};

struct snapshot_sort {
	uint32_t *order;
	uint32_t *spare;
	size_t width; /* of the sorted runs; 0: these are being made */
	size_t at;    /* the next run, or pair of runs */
};

void snapshot_release(struct snapshot *snapshot);
/*
 * "folder/name", or "name" when `folder` is empty; lives as long as the snapshot. NULL when its
 * paths have SCAN_PATHS_MAX bytes: it is then capped.
 */
char *snapshot_path(struct snapshot *snapshot, const char *folder, const char *name);
void snapshot_add(struct snapshot *snapshot, const struct file_info *file,
		  const struct stamp *stamp);
/* Of a sorted one: how many files lie below the folder `path`, and which is the first. */
size_t snapshot_below(const struct snapshot *snapshot, const char *path, size_t *ret_first);
/* The file `path`, or where it would be. */
size_t snapshot_find(const struct snapshot *snapshot, const char *path);

/* A zeroed `sort` begins; true when done, and the snapshot is then sorted. */
bool snapshot_sort_step(struct snapshot *snapshot, struct snapshot_sort *sort);
void snapshot_sort_release(struct snapshot_sort *sort);

#endif
