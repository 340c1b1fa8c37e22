/* SPDX-License-Identifier: MIT */
/* upload.h - a file on its way to the storage: in one request when it is small, else in parts. */
#ifndef FETCH_UPLOAD_H
#define FETCH_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "backend.h"

enum {
	UPLOAD_WHOLE_MAX = 16 << 20, /* bytes in one request */
	UPLOAD_PART_SIZE = 8 << 20,  /* larger only where the storage limits the number of parts */
};

enum upload_state {
	UPLOAD_NEW,
	UPLOAD_BUSY,
	UPLOAD_PARTS,
	UPLOAD_STALE, /* its file has changed: running requests end, then it starts again */
	UPLOAD_DONE,
	UPLOAD_FAILED,
};

struct upload {
	enum upload_state state;
	char *path; /* below the folder */
	char *name; /* in the storage */
	uint64_t size_max;
	int fd;           /* -1 unless it is running */
	struct stat seen; /* the file when it was opened */
	unsigned int restarts;
	uint64_t size;
	uint64_t part_size;
	unsigned int part_count;
	unsigned int next_part;
	unsigned int parts_done;
	unsigned int running;              /* requests that are sent, or wait for a retry */
	char token[BACKEND_TOKEN_LEN + 1]; /* unique, also among uploads of the same name */
	bool aborting;
	bool reported;
	bool repeated;  /* it was started again, as it is unknown whether it is stored */
	bool unfit;     /* failed because of the file itself: a retry would not help */
	char *id;       /* of a file in parts, where the storage gives one */
	char **etags;   /* of its parts; NULL where the storage needs none */
	struct err err; /* of UPLOAD_FAILED */
};

void upload_release(struct upload *upload);
/*
 * Sets *ret_sending to the next request and returns true, if there is one now. Opens the file for
 * the first one. A failure fails the upload.
 */
bool upload_next(struct upload *upload, const struct backend *backend, int folder_fd,
		 struct sending *ret_sending);
/*
 * Restarts the upload, or fails it, when its file has changed since it was opened, and returns
 * true. Returns false when the file is unchanged, and for a file in one request that changes too
 * often: the hash in that request belongs to one moment.
 */
bool upload_restart(struct upload *upload);
/*
 * Starts the upload again, once, when it is not known whether it is stored. Returns false the
 * second time.
 */
bool upload_repeat(struct upload *upload);
/* Records that one of the upload's requests succeeded or has finally failed. */
void upload_step_done(struct upload *upload, enum step step);
/* Fails the upload with *err, unless it has ended already. */
void upload_fail(struct upload *upload, const struct err *err);

#endif
