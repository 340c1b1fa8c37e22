/* SPDX-License-Identifier: MIT */
/* copy.h - one regular file into a folder, where it gets its name once it is whole. */
#ifndef FILES_COPY_H
#define FILES_COPY_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

/* Of the names of copies that are under way, where they have one. */
#define COPY_HALF_PREFIX ".ptycell-"

/* What lies at the name from an earlier copy of the same file. */
struct copy_known {
	bool known;
	json_int_t ino;
	json_int_t mtime_ns;
	json_int_t size;
};

/*
 * A file that is open: its bytes, as many as `stat` says, and its mtime are what is copied; then
 * comes `suffix`, unless it is NULL.
 */
struct copy_source {
	int fd;
	struct stat stat;
	const char *suffix;
	bool durable;        /* after a power cut, too, its name is that of the whole file */
	void (*moved)(void); /* called again and again while it is copied */
};

struct copy_made {
	char *name; /* the one taken; the caller frees it */
	struct stat stat;
};

/*
 * Copies `source` to `name` in `dir_fd`, mode 0600. A file there that is not `known` stays, and
 * "name-2" and so on is tried. A known one with the same bytes is left as it is, with the new
 * mtime.
 */
int copy_file(const struct copy_source *source, int dir_fd, const char *name,
	      const struct copy_known *known, struct copy_made *ret_made,
	      struct err *err) MUST_CHECK;
/*
 * The folder `name` in `dir_fd`, made when there is none. What is no folder stays, and "name-2" and
 * so on is tried; the caller frees `*ret_taken`.
 */
int copy_enter(int dir_fd, const char *name, char **ret_taken, struct err *err) MUST_CHECK;
/*
 * Gives what is called `name` in `dir_fd` the name `to`, or "to-2" and so on; the caller frees it.
 * NULL when it is not there, and when `known`, unless NULL, does not know it.
 */
char *copy_move(int dir_fd, const char *name, const char *to, const struct copy_known *known,
		struct err *err) MUST_CHECK;
/* The first `left` bytes of one open file to another, shared where the file system can. */
int copy_bytes(int from, int to, off_t left, struct err *err) MUST_CHECK;
/* Two open regular files have the same bytes. `moved` as of a source. */
bool copy_is_same(int one, int other, void (*moved)(void));
json_int_t copy_mtime_ns(const struct stat *st);

#endif
