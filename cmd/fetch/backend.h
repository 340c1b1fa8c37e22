/* SPDX-License-Identifier: MIT */
/*
 * backend.h - what is particular to a kind of storage: how each request looks and is signed, what
 * an answer brings, and how a link is made.
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
 * The requests that a file takes: WHOLE, or BEGIN where there is one, PARTs and FINISH. LOOK asks
 * whether it lies there after all, when what was answered to its last request does not say so.
 */
enum step { STEP_WHOLE, STEP_BEGIN, STEP_PART, STEP_FINISH, STEP_LOOK, STEP_ABORT, STEP_CONTAINER };

enum { BACKEND_CODE_MAX = 64, BACKEND_TOKEN_LEN = 16 };

/* One request, set up anew for every try. */
struct sending {
	enum step step;
	const struct upload *upload; /* NULL for STEP_CONTAINER */
	unsigned int part;           /* of STEP_PART, from 0 */
	int fd;                      /* the body: this part of a file, */
	uint64_t offset;
	uint64_t length;
	struct buf text; /* or this when there is no descriptor */
	/* What the backend makes of it: */
	const char *method;
	char *url;
	struct curl_slist *headers;
};

/* An answer of the storage that is no success, or the head of one that is. */
struct reception {
	long status;
	char code[BACKEND_CODE_MAX + 1];   /* the service's own word, "" when it gave none */
	char region[BACKEND_CODE_MAX + 1]; /* where S3 says that the bucket is; "" likewise */
	struct buf body;
	char *etag; /* NULL: none */
	char token[BACKEND_TOKEN_LEN +
		   1]; /* that the object was uploaded with, "" when none is told */
};

struct backend {
	void *owner; /* of the functions below */
	/* Method, URL, headers and signature of `sending`. */
	int (*prepare)(const struct backend *backend, struct sending *sending, CURL *curl,
		       struct err *err);
	/*
	 * Takes what the next steps need of a good answer; -1 when it is none after all, ERR_BUSY
	 * when another try may help. `upload` is NULL for STEP_CONTAINER.
	 */
	int (*accept)(const struct backend *backend, struct upload *upload,
		      const struct sending *sending, const struct reception *reception,
		      struct err *err);
	/* The URL to read the object by until then; NULL when none can be made. */
	char *(*link)(const struct backend *backend, const char *name, uint64_t seconds,
		      struct err *err);
	void (*free)(struct backend *backend);
	bool has_look;  /* a last request that was sent twice does not simply go well again */
	bool has_begin; /* a file in parts begins with a request of its own, and has an abort */
	bool makes_container; /* one that is not there is made */
	unsigned int parts_max;
	const char *key_names; /* the settings that a refusal is about */
};

/* Says that what answered was no storage. Always -1. */
int backend_no_storage(const struct reception *reception, struct err *err);
/* `target` is settled, and borrowed until free. */
struct backend *azure_backend_new(const struct storage_target *target, struct err *err) MUST_CHECK;
struct backend *s3_backend_new(const struct storage_target *target, struct err *err) MUST_CHECK;

#endif
