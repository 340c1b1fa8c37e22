/* SPDX-License-Identifier: MIT */
/*
 * uploads_internal.h - the state that the parts of uploads share. uploads.c holds the files,
 * uploads_batch.c the helpers that upload them, uploads_renewal.c the helper that renews links.
 */
#ifndef TRANSFER_UPLOADS_INTERNAL_H
#define TRANSFER_UPLOADS_INTERNAL_H

#include <jansson.h>

#include "base/list.h"
#include "transfer/uploads.h"
#include "workspace/home.h"

struct helper;
struct map;

#define UPLOADS_NO_WAITER UINT64_MAX /* `number` of an item that is retried */

enum {
	UPLOADS_BATCHES_MAX = 3,        /* helpers of a session at a time */
	UPLOADS_BATCH_FILES_MAX = 500,  /* files of one batch */
	UPLOADS_BATCH_MS_MAX = 3600000, /* then it is aborted */
};

/* A file that was put at least once. */
struct upload_item {
	struct list node;
	struct list queued;
	char *path;
	char *name; /* in the storage */
	uint64_t number;
	uint64_t size; /* when it was put last, then as it was uploaded */
	bool wanted;   /* to be uploaded, and not in a batch yet */
	bool running;
	bool stored;
	uint64_t stored_at; /* time of the loop */
	uint64_t stored_size;
	char *url;
	time_t expires;
	char *problem; /* of the last upload */
	bool again;    /* a retry may succeed */
	bool news;
};

struct upload_batch {
	struct list node;
	struct uploads *uploads;
	struct helper *helper;
	struct upload_item **items;
	size_t count;
	uint64_t started_at;
	int folder; /* the data folder, locked against its removal */
};

struct upload_renewal;

struct uploads {
	struct home_job job; /* in the home's list after uploads_free, while batches run */
	struct list node;    /* in spec.all until uploads_free */
	bool freed;
	struct uploads_spec spec;
	struct uploads_limits limits;
	char *helper;
	char *session_id;
	char *folder;
	const struct home *home;
	struct list items;
	struct list queue;
	struct list batches;
	struct map *by_path;
	struct loop_defer start;
	struct upload_renewal *renewal; /* or NULL */
	uint64_t number;
	char *no_link; /* why uploaded files have no links */
	bool no_link_reported;
	size_t refused_count; /* files beyond a limit, since the last report */
	char *refused_path;   /* the first of them */
	char *refused_why;
};

/* The files in the storage, and those that are being uploaded or queued. */
struct upload_totals {
	uint64_t files;
	uint64_t bytes;
};

/* uploads.c */
struct upload_totals uploads_totals(const struct uploads *uploads);
void uploads_release(struct uploads *uploads);
/*
 * Forgets the files of all sessions that were stored before: they are gone from the storage, and
 * uploads_retry uploads them again.
 */
void uploads_forget_stored(struct list *all, uint64_t before);
void uploads_set_problem(struct upload_item *item, const char *problem, bool again);
/* uploads_batch.c */
/* Starts helpers for the queue, up to the maximum. */
void uploads_start(struct uploads *uploads);
void uploads_batch_free(struct upload_batch *batch);
/* Returns a request with the storage and the lifetime of its links. The caller frees it. */
json_t *uploads_request(const struct uploads *uploads, const char *operation);
/* Takes the helper's link for the item, or the reason why there is none. */
void uploads_take_link(struct uploads *uploads, struct upload_item *item, const json_t *progress);
void uploads_report_change(struct uploads *uploads);
/* uploads_renewal.c */
void uploads_renewal_free(struct upload_renewal *renewal); /* `renewal` may be NULL */

#endif
