/* SPDX-License-Identifier: MIT */
/* request.h - one request to a storage: sent, answered, judged, and sent again when that may help.
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
	struct list node; /* of those that wait */
	struct sending sending;
	struct upload *upload;      /* NULL for STEP_CONTAINER */
	struct curl_handle *handle; /* while it is sent */
	struct reception reception;
	uint64_t sent; /* bytes of the body */
	unsigned int tries;
	uint64_t not_before; /* on clock_ms() */
	bool eager;          /* the body does not wait for a word of the storage that it may come */
	bool body_failed;
	struct err err;   /* then, and of a try that failed */
	struct err doubt; /* of STEP_LOOK: why the file does not lie there unless this finds it */
};

enum verdict {
	VERDICT_GOOD,
	VERDICT_AGAIN,        /* it may go well later: not_before is set */
	VERDICT_NO_CONTAINER, /* it is not there */
	VERDICT_BAD,
	VERDICT_HOPELESS, /* and nothing else will be better */
};

/* `sending` is taken. */
struct request *request_new(const struct sending *sending, struct upload *upload);
void request_free(struct request *request);
/* Whether it may have gone well although its verdict is that it is bad. */
bool request_doubtful(const struct request *request, const struct backend *backend);
/* Makes it one that looks. */
void request_look(struct request *request);
/* A handle that is ready to go; of the request until request_judge. */
int request_prepare(struct request *request, const struct backend *backend, const struct job *order,
		    struct err *err) MUST_CHECK;
/* After the transfer, whose handle goes. `err` of the request says why it is not good. */
enum verdict request_judge(struct request *request, const struct backend *backend, CURLcode code);

#endif
