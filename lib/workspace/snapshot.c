/* SPDX-License-Identifier: MIT */
/*
 * snapshot.c - the arrays of a scan and their sort: a bottom-up merge sort over indexes, which can
 * stop after each merge. Paths are stored in chunks, so that they do not move when more are added.
 */
#include "workspace/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { CHUNK_SIZE = 32 << 10, FIRST_CHUNK_SIZE = 1 << 10, FIRST_RUN = 16 };

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	char data[];
};

void snapshot_release(struct snapshot *snapshot)
{
	while (snapshot->chunks != NULL) {
		struct chunk *next = snapshot->chunks->next;

		free(snapshot->chunks);
		snapshot->chunks = next;
	}
	free(snapshot->files);
	free(snapshot->stamps);
	memset(snapshot, 0, sizeof(*snapshot));
}

static char *take_bytes(struct snapshot *snapshot, size_t len)
{
	struct chunk *chunk = snapshot->chunks;
	char *bytes;

	if (chunk == NULL || chunk->size - chunk->used < len) {
		size_t size = chunk == NULL ? FIRST_CHUNK_SIZE : CHUNK_SIZE;

		if (size < len)
			size = len;
		chunk = xcalloc(1, sizeof(*chunk) + size);
		chunk->size = size;
		chunk->next = snapshot->chunks;
		snapshot->chunks = chunk;
	}
	bytes = chunk->data + chunk->used;
	chunk->used += len;
	return bytes;
}

char *snapshot_path(struct snapshot *snapshot, const char *folder, const char *name)
{
	size_t folder_len = strlen(folder);
	size_t name_size = strlen(name) + 1;
	size_t size = folder_len + 1 + name_size;
	char *path;
	char *p;

	if (snapshot->path_bytes + size > SCAN_PATHS_MAX) {
		snapshot->capped = true;
		return NULL;
	}
	snapshot->path_bytes += size;
	path = take_bytes(snapshot, size);
	p = path;
	memcpy(p, folder, folder_len);
	p += folder_len;
	if (folder_len > 0)
		*p++ = '/';
	memcpy(p, name, name_size);
	return path;
}

void snapshot_add(struct snapshot *snapshot, const struct file_info *file,
		  const struct stamp *stamp)
{
	if (snapshot->count == snapshot->cap) {
		size_t cap = snapshot->cap > 0 ? snapshot->cap * 2 : 16;

		snapshot->files = xrealloc(snapshot->files, cap * sizeof(*snapshot->files));
		snapshot->stamps = xrealloc(snapshot->stamps, cap * sizeof(*snapshot->stamps));
		snapshot->cap = cap;
	}
	snapshot->files[snapshot->count] = *file;
	snapshot->stamps[snapshot->count++] = *stamp;
}

size_t snapshot_find(const struct snapshot *snapshot, const char *path)
{
	size_t low = 0;
	size_t high = snapshot->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(snapshot->files[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * The files below `path` begin with it and a slash. They are adjacent, because the paths are
 * sorted.
 */
size_t snapshot_below(const struct snapshot *snapshot, const char *path, size_t *ret_first)
{
	cleanup_free char *first = xasprintf("%s/", path);
	cleanup_free char *behind = xasprintf("%s%c", path, '/' + 1);

	*ret_first = snapshot_find(snapshot, first);
	return snapshot_find(snapshot, behind) - *ret_first;
}

/* ---- sorting: bottom-up merge sort, one run or pair of runs per step ---- */

static int compare(const struct snapshot *snapshot, uint32_t a, uint32_t b)
{
	return strcmp(snapshot->files[a].path, snapshot->files[b].path);
}

static void sort_start(const struct snapshot *snapshot, struct snapshot_sort *sort)
{
	sort->order = xcalloc(snapshot->count + 1, sizeof(uint32_t));
	sort->spare = xcalloc(snapshot->count + 1, sizeof(uint32_t));
}

/* Sorts the next of the first runs. Merging begins after the last one. */
static void sort_run(const struct snapshot *snapshot, struct snapshot_sort *sort)
{
	size_t run = sort->at;
	size_t end = size_min(run + FIRST_RUN, snapshot->count);

	for (size_t i = run; i < end; i++) {
		size_t at = i;

		while (at > run && compare(snapshot, (uint32_t)i, sort->order[at - 1]) < 0) {
			sort->order[at] = sort->order[at - 1];
			at--;
		}
		sort->order[at] = (uint32_t)i;
	}
	sort->at = end;
	if (end == snapshot->count) {
		sort->width = FIRST_RUN;
		sort->at = 0;
	}
}

static void merge(const struct snapshot *snapshot, struct snapshot_sort *sort)
{
	size_t left = sort->at;
	size_t middle = size_min(left + sort->width, snapshot->count);
	size_t end = size_min(middle + sort->width, snapshot->count);
	size_t right = middle;

	for (size_t i = left; i < end; i++) {
		bool from_left = left < middle &&
				 (right == end ||
				  compare(snapshot, sort->order[left], sort->order[right]) <= 0);

		sort->spare[i] = sort->order[from_left ? left++ : right++];
	}
}

static void sort_finish(struct snapshot *snapshot, struct snapshot_sort *sort)
{
	struct snapshot sorted = { .cap = snapshot->count };

	if (snapshot->count > 0) {
		sorted.files = xcalloc(snapshot->count, sizeof(*sorted.files));
		sorted.stamps = xcalloc(snapshot->count, sizeof(*sorted.stamps));
		for (size_t i = 0; i < snapshot->count; i++)
			snapshot_add(&sorted, &snapshot->files[sort->order[i]],
				     &snapshot->stamps[sort->order[i]]);
		free(snapshot->files);
		free(snapshot->stamps);
		snapshot->files = sorted.files;
		snapshot->stamps = sorted.stamps;
		snapshot->cap = sorted.cap;
	}
	snapshot_sort_release(sort);
}

bool snapshot_sort_step(struct snapshot *snapshot, struct snapshot_sort *sort)
{
	uint32_t *merged;

	if (sort->order == NULL)
		sort_start(snapshot, sort);
	if (sort->width == 0) {
		sort_run(snapshot, sort);
		if (sort->width == 0)
			return false;
	} else if (sort->width < snapshot->count) {
		merge(snapshot, sort);
		sort->at += sort->width * 2;
		if (sort->at < snapshot->count)
			return false;
		merged = sort->spare;
		sort->spare = sort->order;
		sort->order = merged;
		sort->width *= 2;
		sort->at = 0;
	}
	if (sort->width < snapshot->count)
		return false;
	sort_finish(snapshot, sort);
	return true;
}

void snapshot_sort_release(struct snapshot_sort *sort)
{
	free(sort->order);
	free(sort->spare);
	memset(sort, 0, sizeof(*sort));
}
