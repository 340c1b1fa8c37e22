/* SPDX-License-Identifier: MIT */
/*
 * backend.h - the interface of a kind of storage: how each request looks and is signed, what a
 * response carries, and how a link is made.
 */
#ifndef FETCH_BACKEND_H
#define FETCH_BACKEND_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct storage_target;
struct upload;

/*
 * The requests that upload one file: WHOLE, or BEGIN where the storage has one, PARTs and FINISH.
 * LOOK asks whether the file is stored after all, when the response to the last request does not
 * say so.
 */
enum step { STEP_WHOLE, STEP_BEGIN, STEP_PART, STEP_FINISH, STEP_LOOK, STEP_ABORT, STEP_CONTAINER };

enum { BACKEND_CODE_MAX = 64, BACKEND_TOKEN_LEN = 16 };

/* One request. It is prepared anew for every try. */
struct sending {
	enum step step;
	const struct upload *upload; /* NULL for STEP_CONTAINER */
	unsigned int part;           /* of STEP_PART, from 0 */
	int fd;                      /* the body: this range of a file, */
	uint64_t offset;
	uint64_t length;
	struct buf text; /* or this text when there is no descriptor */
	/* Set by the backend: */
	const char *method;
	char *url;
	struct curl_slist *headers;
};

/* A response that reports a failure, or the head of one that reports success. */
struct reception {
	long status;
	char code[BACKEND_CODE_MAX + 1]; /* the service's error code, "" for none */
	/* the region that S3 names for the bucket, "" for none */
	char region[BACKEND_CODE_MAX + 1];
	struct buf body;
	char *etag; /* may be NULL */
	char token[BACKEND_TOKEN_LEN +
		   1]; /* the token that the object was uploaded with, "" for none */
};

struct backend {
	void *owner; /* the functions' own data */
	/* Sets method, URL, headers and signature of `sending`. Returns -1 and sets *err. */
	int (*prepare)(const struct backend *backend, struct sending *sending, CURL *curl,
		       struct err *err);
	/*
	 * Takes from a successful response what the next steps need. `upload` is NULL for
	 * STEP_CONTAINER. Returns -1 and sets *err when the response is a failure after all:
	 * ERR_BUSY when a retry may help.
	 */
	int (*accept)(const struct backend *backend, struct upload *upload,
		      const struct sending *sending, const struct reception *reception,
		      struct err *err);
	/*
	 * Returns a URL that reads the object for `seconds`; the caller frees it. Returns NULL and
	 * sets *err.
	 */
	char *(*link)(const struct backend *backend, const char *name, uint64_t seconds,
		      struct err *err);
	void (*free)(struct backend *backend);
	bool has_look;  /* a repeated last request may fail although the first one succeeded */
	bool has_begin; /* a file in parts begins with a request of its own, and can be aborted */
	bool makes_container; /* a missing container is created */
	unsigned int parts_max;
	const char *key_names; /* the settings that a refusal's message names */
};

/* Sets *err: the response did not come from a storage. Always returns -1. */
int backend_no_storage(const struct reception *reception, struct err *err);
/*
 * Returns a backend for a complete `target`, which is borrowed until free. Returns NULL and sets
 * *err.
 */
struct backend *azure_backend_new(const struct storage_target *target, struct err *err) MUST_CHECK;
struct backend *s3_backend_new(const struct storage_target *target, struct err *err) MUST_CHECK;

#endif
