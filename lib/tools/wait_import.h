/* SPDX-License-Identifier: MIT */
/*
 * wait_import.h - files on their way into sessions, and the calls of upload_file that wait for
 * them.
 *
 * A call is answered when its file is complete, and at the latest when the call budget is over. The
 * transfer continues then, and the same call (equal source, name and overwrite) finds it again. A
 * transfer that ends while no call waits is reported to the same call, or in a notice of the
 * session's next answer if that comes first. A transfer is cancelled with its last waiting call.
 */
#ifndef TOOLS_WAIT_IMPORT_H
#define TOOLS_WAIT_IMPORT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct wait_import;
struct import_spec;
struct mcp_call;
struct service;
struct session;

enum {
	WAIT_IMPORT_ENDED_MAX = 16,        /* ended transfers that are kept, of all sessions */
	WAIT_IMPORT_ENDED_MS = 600 * 1000, /* the longest time that one is kept */
};

/* Everything but `call` is borrowed until the function returns. */
struct wait_import_request {
	struct mcp_call *call;
	struct session *session;
	const char *source;   /* as the model wrote it: a URL or a path */
	const char *filename; /* or NULL */
	bool overwrite;
};

/* Makes an empty set that borrows `service`. */
struct wait_import *wait_import_new(struct service *service);
/* Frees it; every transfer must be over. `waits` may be NULL. */
void wait_import_free(struct wait_import *waits);

/* Returns whether the same transfer runs or has ended: then the call waits, or is answered. */
bool wait_import_join(struct wait_import *waits, const struct wait_import_request *request);
/* How the file is named in texts. Everything but `from` is borrowed until the function returns. */
struct wait_import_label {
	const char *name;   /* when the request has no filename; NULL: unknown */
	const char *from;   /* static: "url" or "path" */
	const char *origin; /* the source for the audit; or NULL */
};

/* Starts a transfer for which the call waits, or answers the call with the error. */
void wait_import_start(struct wait_import *waits, const struct wait_import_request *request,
		       const struct wait_import_label *label, const struct import_spec *spec);
/*
 * Ends the transfers into the session of this folder (workspace_name), which ends. `waits` may be
 * NULL.
 */
void wait_import_end_folder(struct wait_import *waits, const char *folder);

/*
 * Returns the running transfers into a session as a new reference, or NULL when there are none.
 * `waits` may be NULL.
 */
json_t *wait_import_describe(const struct wait_import *waits, const struct session *session);
/* Reports a new file, relative to the session's folder, to session and subscribers. */
void wait_import_report_file(struct service *service, struct session *session, const char *path);
/* Returns the answer for the call that brought the file, as a new reference. */
json_t *wait_import_answer(struct session *session, const char *path, uint64_t size);

#endif
