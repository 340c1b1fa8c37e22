/* SPDX-License-Identifier: MIT */
/*
 * arrivals.h - files on their way into sessions, and the calls of upload_file that wait for them.
 *
 * A call is answered when its file is whole, and at the latest when the settings' call budget is
 * over; the file comes on, and the same call (source, name and overwrite alike) finds it again.
 * One that ended while no call waited is told to the same call when that comes, and by a notice of
 * the session's next answer when that comes first. When the last call that waits is cancelled, the
 * transfer is.
 */
#ifndef TOOLS_WAIT_UPLOAD_H
#define TOOLS_WAIT_UPLOAD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct wait_upload;
struct intake_spec;
struct mcp_call;
struct service;
struct session;

enum {
	WAIT_UPLOAD_ENDED_MAX = 16,        /* that are kept for the same call, of all sessions */
	WAIT_UPLOAD_ENDED_MS = 600 * 1000, /* and for how long */
};

/* All is borrowed for the call but `call`. */
struct arrival_request {
	struct mcp_call *call;
	struct session *session;
	const char *source;   /* as it was given: a URL or a path */
	const char *filename; /* or NULL */
	bool overwrite;
};

/* `service` is borrowed. */
struct wait_upload *wait_upload_new(struct service *service);
/* All must be over. NULL is allowed. */
void wait_upload_free(struct wait_upload *arrivals);

/* Whether the file is on its way, or has just ended: then the call waits for it, or is answered. */
bool wait_upload_join(struct wait_upload *arrivals, const struct arrival_request *request);
/* What is told of the file. All is borrowed for the call but `from`. */
struct arrival_told {
	const char *name;   /* how people know it without a filename; NULL: nobody knows */
	const char *from;   /* static: "url" or "path" */
	const char *origin; /* NULL, or the source as the audit has it */
};

/* The call waits, or is answered with the reason why not. */
void wait_upload_start(struct wait_upload *arrivals, const struct arrival_request *request,
		       const struct arrival_told *told, const struct intake_spec *spec);
/* The session of this folder (workspace_name) ends, and so does what was for it. NULL is allowed.
 */
void wait_upload_end_folder(struct wait_upload *arrivals, const char *folder);

/* Those that are on their way into a session; NULL when there are none. NULL is allowed. */
json_t *wait_upload_describe(const struct wait_upload *arrivals, const struct session *session);
/* A file is there, relative to the session's folder: session and subscribers are told. */
void wait_upload_tell(struct service *service, struct session *session, const char *path);
/* What the call that brought it is answered. New reference. */
json_t *wait_upload_answer(struct session *session, const char *path, uint64_t size);

#endif
