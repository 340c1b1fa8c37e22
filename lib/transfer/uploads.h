/* SPDX-License-Identifier: MIT */
/*
 * uploads.h - a session's results on their way to the storage that the person set, and their links.
 *
 * ptycell-fetch does it, one process a batch: files that come later do not wait for a large one.
 * A file that is handed over again while it is under way goes once more. What the helper says is
 * checked: a link is a URL in plain ASCII.
 */
#ifndef TRANSFER_UPLOADS_H
#define TRANSFER_UPLOADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "event/loop.h"
#include "storage/target.h"
#include "workspace/workspace.h"

struct uploads;

enum { UPLOADS_RENEW_S = 300 };

/* A file went to the storage, or (`expires` is not 0) a link to it was signed. */
struct uploads_event {
	const char *session_id;
	const char *path; /* relative to data */
	const char *name; /* in the storage */
	uint64_t size;
	time_t expires;
};

typedef void uploads_told_fn(void *data, const struct uploads_event *event);

struct uploads_spec {
	struct loop *loop;
	const struct workspace *workspace;
	const char *helper; /* path of ptycell-fetch */
	const struct storage_target *target;
	char *const *environment; /* for proxies */
	const char *session_id;
	/* From the loop, whenever something is over. */
	void (*changed)(struct uploads *uploads, void *data);
	void *data;
	/* From the loop, also after uploads_free; or NULL. */
	uploads_told_fn *told;
	void *told_data;
};

struct uploads_limits {
	uint64_t bytes_max;
	uint64_t files_max;
	uint64_t link_hours;
};

/* A file that lies in the storage. */
struct uploaded {
	const char *path; /* relative to data */
	const char *url;  /* NULL: none can be made, or the file has changed and is not there yet */
	time_t expires;
};

struct uploads_file {
	const char *path; /* below output/ */
	uint64_t size;    /* as the scan saw it */
};

/* All is borrowed, for longer than uploads_free only `loop`. */
struct uploads *uploads_new(const struct uploads_spec *spec);
/* What is under way goes on to its end, or to that of its folder's home. NULL is allowed. */
void uploads_free(struct uploads *uploads);
void uploads_set_limits(struct uploads *uploads, const struct uploads_limits *limits);

/* Returns the number of this handing over, for uploads_pending. */
uint64_t uploads_put(struct uploads *uploads, const struct uploads_file *files, size_t count);
/* Hands over again what an earlier time could not be uploaded; nobody is to wait for that. */
void uploads_retry(struct uploads *uploads);
/* Whether something that was handed over by then, and not again since, is not over yet. */
bool uploads_pending(const struct uploads *uploads, uint64_t number);

/*
 * Links that are no longer good for UPLOADS_RENEW_S are made anew, which `changed` tells; returns
 * whether any are on their way. Nothing is sent anywhere: only the key is needed.
 */
bool uploads_renew(struct uploads *uploads);
bool uploads_renewing(const struct uploads *uploads);

/* False when it has no link that is still good. */
bool uploads_find(const struct uploads *uploads, const char *path, struct uploaded *ret_uploaded);
/*
 * New links since uploads_told, at most `max` of them into `out`; returns how many there are. What
 * they point at stays until the next turn of the loop.
 */
size_t uploads_news(const struct uploads *uploads, struct uploaded *out, size_t max);
/* Why files have no link, since uploads_told: a sentence that the caller frees, or NULL. */
char *uploads_problem(const struct uploads *uploads);
void uploads_told(struct uploads *uploads);
/* How many files are on their way, or wait for it. */
size_t uploads_under_way(const struct uploads *uploads);
/* Then: "'output/a' and 2 more are". NULL when none is; the caller frees it. */
char *uploads_name_under_way(const struct uploads *uploads);

size_t uploads_file_count(const struct uploads *uploads); /* that lie in the storage */
uint64_t uploads_byte_count(const struct uploads *uploads);
const struct storage_target *uploads_target(const struct uploads *uploads);
/* What the names of its files in the storage begin with: "SESSION-12345678". */
const char *uploads_folder(const struct uploads *uploads);

#endif
