/* SPDX-License-Identifier: MIT */
/* batch.h - uploads of many files, several requests at a time. */
#ifndef FETCH_BATCH_H
#define FETCH_BATCH_H

#include <curl/curl.h>
#include <stddef.h>

#include "backend.h"
#include "base/list.h"
#include "job.h"
#include "upload.h"

enum { BATCH_REQUESTS_MAX = 6 /* at a time */ };

struct batch {
	const struct job *order;
	const struct backend *backend;
	int folder_fd;
	struct upload *uploads;
	size_t count;
	/* Told once of each, when it is done or has failed. */
	void (*told)(struct batch *batch, size_t index);
	/* The container was made: what lay in one of its name is gone. */
	void (*made)(struct batch *batch);
	/* This module's: */
	CURLM *multi;
	struct list waiting; /* requests to be sent again */
	size_t running;
	bool container_tried;
	bool proven; /* a request went well: bodies need not be asked for any more */
	bool hopeless;
	struct err why; /* then */
};

/* To the end of all of them. */
int batch_run(struct batch *batch, struct err *err) MUST_CHECK;

#endif
