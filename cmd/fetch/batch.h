/* SPDX-License-Identifier: MIT */
/* batch.h - uploads many files, with several requests at a time. */
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
	const struct job *job;
	const struct backend *backend;
	int folder_fd;
	struct upload *uploads;
	size_t count;
	/* Called once for each file, when it is uploaded or has failed. */
	void (*on_upload_done)(struct batch *batch, size_t index);
	/*
	 * Called when the container was created: all earlier objects of a container of that name
	 * are gone.
	 */
	void (*on_container_made)(struct batch *batch);
	/* Private: */
	CURLM *multi;
	struct list waiting; /* requests to be sent again */
	size_t running;
	bool container_tried;
	/* a request succeeded, so bodies are sent without waiting for a 100 (Continue) */
	bool proven;
	bool hopeless;
	struct err why; /* why, when `hopeless` is set */
};

/* Runs until every file is uploaded or has failed. Returns -1 and sets *err. */
int batch_run(struct batch *batch, struct err *err) MUST_CHECK;

#endif
