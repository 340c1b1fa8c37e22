/* SPDX-License-Identifier: MIT */
/* upload.h - a file on its way to the storage: whole when it is small, else in parts. */
#ifndef FETCH_UPLOAD_H
#define FETCH_UPLOAD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "backend.h"

enum {
	UPLOAD_WHOLE_MAX = 16 << 20, /* bytes in one request */
	UPLOAD_PART_SIZE = 8 << 20,  /* where there are not too many of them */
};

enum upload_state {
	UPLOAD_NEW,
	UPLOAD_BUSY,
	UPLOAD_PARTS,
	UPLOAD_STALE, /* its file has changed: what is under way ends, then it begins anew */
	UPLOAD_DONE,
	UPLOAD_FAILED,
};

struct upload {
	enum upload_state state;
	char *path; /* below the folder, to be opened */
	char *name; /* in the storage */
	uint64_t size_max;
	int fd;           /* -1 unless it is under way */
	struct stat seen; /* the file, when it was opened */
	unsigned int restarts;
	uint64_t size;
	uint64_t part_size;
	unsigned int part_count;
	unsigned int next_part;
	unsigned int parts_done;
	unsigned int running;              /* requests that are sent, or wait to be sent again */
	char token[BACKEND_TOKEN_LEN + 1]; /* what no other upload has, of that name neither */
	bool aborting;
	bool told;
	bool unfit;     /* failed by what the file is: no other time would be better */
	char *id;       /* of a file in parts, when the storage gave one */
	char **etags;   /* of its parts; NULL where none are needed */
	struct err err; /* of UPLOAD_FAILED */
};

void upload_release(struct upload *upload);
/* The next request, if there is one now; opens the file for the first. Failure is the upload's. */
bool upload_next(struct upload *upload, const struct backend *backend, int folder_fd,
		 struct sending *ret_sending);
/*
 * False while its file is as it was when it was opened, and of a file in one request that changes
 * too often: the hash that goes with that is of one moment. Else it begins anew, or fails.
 */
bool upload_restart(struct upload *upload);
/* A request of it went well, or will never. */
void upload_step_done(struct upload *upload, enum step step);
void upload_fail(struct upload *upload, const struct err *err);

#endif
