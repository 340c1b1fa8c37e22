/* SPDX-License-Identifier: MIT */
/*
 * request.h - one request to a storage: sent, judged by its response, and retried when that may
 * help.
 */
#ifndef FETCH_REQUEST_H
#define FETCH_REQUEST_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "backend.h"
#include "base/list.h"
#include "job.h"

enum { REQUEST_TRIES_MAX = 6 };

struct request {
	struct list node; /* in the list of those that wait */
	struct sending sending;
	struct upload *upload;      /* NULL for STEP_CONTAINER */
	struct curl_handle *handle; /* set while the request is sent */
	struct reception reception;
	uint64_t sent; /* bytes of the body */
	unsigned int tries;
	uint64_t not_before; /* on clock_ms() */
	bool eager;          /* the body is sent without waiting for a 100 (Continue) */
	bool body_failed;
	struct err err;   /* why, and the error of a failed try */
	struct err doubt; /* of STEP_LOOK: the error to report unless the file is found */
	bool settled;     /* of STEP_LOOK: that error is an answer, and no storage that fails */
};

/* The meaning of a reply of the storage, or of its absence, for the request. */
enum storage_reply {
	STORAGE_REPLY_GOOD,
	STORAGE_REPLY_AGAIN,        /* may succeed later: not_before is set */
	STORAGE_REPLY_NO_CONTAINER, /* the container does not exist */
	STORAGE_REPLY_BAD,
	STORAGE_REPLY_HOPELESS, /* as will be all other requests */
};

/* Returns a new request. Takes ownership of `sending`'s contents. */
struct request *request_new(const struct sending *sending, struct upload *upload);
void request_free(struct request *request);
/* Returns true when a request that was judged as failed may have succeeded. */
bool request_doubtful(const struct request *request, const struct backend *backend);
/* Turns the request into a STEP_LOOK. */
void request_look(struct request *request);
/*
 * Returns true when a STEP_LOOK did not find the file and another upload may help: a storage
 * answered both times. This covers a key that may write but not read.
 */
bool request_in_vain(const struct request *request);
/*
 * Prepares the handle for a try. It belongs to the request until request_judge. Returns -1 and sets
 * *err.
 */
int request_prepare(struct request *request, const struct backend *backend, const struct job *job,
		    struct err *err) MUST_CHECK;
/*
 * Judges a finished transfer and frees its handle. Sets request->err unless it returns
 * STORAGE_REPLY_GOOD.
 */
enum storage_reply request_judge(struct request *request, const struct backend *backend,
				 CURLcode code);

#endif
