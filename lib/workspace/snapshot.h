/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the files of one scan, sorted by path.
 *
 * Parallel arrays separate what callers see from what only the comparison needs. Sorting is done in
 * steps, because twenty thousand paths take longer than the loop may be blocked.
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
	uint64_t hash;  /* of the content if `young` */
	bool young;     /* the clock may not have moved since: compare the content */
	uint8_t folder; /* index in snapshot.folders, unless `unsure` */
};

/* The stamps of a folder when it was listed. */
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
	struct chunk *chunks; /* storage of the paths */
	size_t path_bytes;    /* of the paths of files and folders */
	bool capped;
	const char *closed;  /* the first folder that its permissions keep from being read */
	int error;           /* the errno with which something could not be read; 0: none */
	uint64_t started_ns; /* real time, to compare with ctime */
	uint64_t disk_bytes; /* of its files, also those beyond the cap */
	/* For scan_fast.h. */
	struct folder_stamp folders[SNAPSHOT_FOLDERS];
	size_t folder_count;
	bool unsure; /* more folders, or one whose stamps may hide a change */
};

struct snapshot_sort {
	uint32_t *order;
	uint32_t *spare;
	size_t width; /* of the sorted runs; 0: the first runs are being made */
	size_t at;    /* the next run, or pair of runs */
};

void snapshot_release(struct snapshot *snapshot);
/*
 * Returns "folder/name", or "name" if `folder` is empty. Borrowed until snapshot_release(). Returns
 * NULL and marks the snapshot as capped if its paths exceed SCAN_PATHS_MAX bytes.
 */
char *snapshot_path(struct snapshot *snapshot, const char *folder, const char *name);
void snapshot_add(struct snapshot *snapshot, const struct file_info *file,
		  const struct stamp *stamp);
/*
 * Returns how many files are below the folder `path`, and sets *ret_first to the index of the
 * first. The snapshot must be sorted.
 */
size_t snapshot_below(const struct snapshot *snapshot, const char *path, size_t *ret_first);
/* Returns the index of the file `path`, or the index where it would be inserted. */
size_t snapshot_find(const struct snapshot *snapshot, const char *path);

/* Does one step of sorting; a zeroed `sort` begins. Returns true when the snapshot is sorted. */
bool snapshot_sort_step(struct snapshot *snapshot, struct snapshot_sort *sort);
void snapshot_sort_release(struct snapshot_sort *sort);

#endif
