/* SPDX-License-Identifier: MIT */
/*
 * uploads.h - uploads a session's results to the storage that the user configured, and signs links.
 *
 * Each batch is one process of ptycell-fetch, so that later files do not wait for a large one. A
 * file that is put again while its upload runs is uploaded once more. Replies of the helper are
 * checked: a link must be a URL in plain ASCII.
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

/* A file was uploaded, or (if `expires` is not 0) a link to it was signed. */
struct uploads_event {
	const char *session_id;
	const char *path; /* relative to data */
	const char *name; /* in the storage */
	uint64_t size;
	time_t expires;
};

typedef void uploads_report_fn(void *data, const struct uploads_event *event);

struct uploads_spec {
	struct loop *loop;
	const struct workspace *workspace;
	const char *helper; /* path of ptycell-fetch */
	struct list *all;   /* the uploads of all sessions to this storage; must live longer */
	const struct storage_target *target;
	char *const *environment; /* for proxies */
	const char *session_id;
	/* Called from the loop, whenever an upload or a renewal ended. */
	void (*changed)(struct uploads *uploads, void *data);
	void *data;
	/* Called from the loop, also after uploads_free. May be NULL. */
	uploads_report_fn *report;
	void *report_data;
};

enum { UPLOADS_FILES_MAX = 1000 }; /* of a session */

struct uploads_limits {
	uint64_t bytes_max;
	uint64_t files_max;
	uint64_t link_hours;
};

/* A file in the storage. */
struct uploaded {
	const char *path; /* relative to data */
	const char *url;  /* NULL: no link can be made, or the changed file is not uploaded yet */
	time_t expires;
};

struct uploads_file {
	const char *path; /* below output/ */
	uint64_t size;    /* as the scan found it */
};

/* Makes one without files. Everything in `spec` is borrowed until uploads_free; `loop` must live
 * longer. */
struct uploads *uploads_new(const struct uploads_spec *spec);
/*
 * Frees `uploads`, which may be NULL. Running uploads continue to their end, or to the end of the
 * home.
 */
void uploads_free(struct uploads *uploads);
void uploads_set_limits(struct uploads *uploads, const struct uploads_limits *limits);

/* Queues files for upload. Returns the number of this call, for uploads_pending. */
uint64_t uploads_put(struct uploads *uploads, const struct uploads_file *files, size_t count);
/* Queues again the files whose upload failed before. No caller waits for these. */
void uploads_retry(struct uploads *uploads);
/*
 * Returns true while a file that was put with this number or before, and not again since, is not
 * finished.
 */
bool uploads_pending(const struct uploads *uploads, uint64_t number);

/*
 * Renews the links that expire within UPLOADS_RENEW_S. Returns true if any renewal runs; `changed`
 * is called when it ends. Nothing is sent: only the key is needed.
 */
bool uploads_renew(struct uploads *uploads);
bool uploads_renewing(const struct uploads *uploads);

/* Returns false if the file has no valid link. */
bool uploads_find(const struct uploads *uploads, const char *path, struct uploaded *ret_uploaded);
/*
 * Writes at most `max` of the links that are new since uploads_mark_reported into `out`. Returns
 * how many there are. The strings are borrowed until the next turn of the loop.
 */
size_t uploads_news(const struct uploads *uploads, struct uploaded *out, size_t max);
/*
 * Returns a sentence that explains why files have no link, since uploads_mark_reported, or NULL.
 * The caller frees it.
 */
char *uploads_problem(const struct uploads *uploads);
/* Marks all new links and problems as reported. */
void uploads_mark_reported(struct uploads *uploads);
/* Returns how many files are being uploaded or queued. */
size_t uploads_under_way(const struct uploads *uploads);
/*
 * Names these files: "'output/a' and 2 more are". Returns NULL if there are none. The caller frees
 * it.
 */
char *uploads_name_under_way(const struct uploads *uploads);

size_t uploads_file_count(const struct uploads *uploads); /* in the storage */
uint64_t uploads_byte_count(const struct uploads *uploads);
const struct storage_target *uploads_target(const struct uploads *uploads);
/* Returns the prefix of this session's names in the storage: "SESSION-12345678". */
const char *uploads_folder(const struct uploads *uploads);

#endif
