/* SPDX-License-Identifier: MIT */
/* copy.h - copies one regular file into a folder, where it gets its name once it is whole. */
#ifndef FILES_COPY_H
#define FILES_COPY_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

/* The prefix of an unfinished copy's name, where the file system has no unnamed files. */
#define COPY_HALF_PREFIX ".ptycell-"

enum { COPY_DEPTH_MAX = 60 /* of folders in which such names are looked for */ };

/* An earlier copy of the same file: what `stat` must show for it to be replaced. */
struct copy_known {
	bool known;
	json_int_t ino;
	json_int_t mtime_ns;
	json_int_t size;
};

/*
 * An open file. Its first `stat.st_size` bytes and its mtime are copied. `suffix`, which may be
 * NULL, is appended.
 */
struct copy_source {
	int fd;
	struct stat stat;
	const char *suffix;
	/* sync the file before it gets its name, so that a power cut leaves no half copy */
	bool durable;
	void (*moved)(void); /* called repeatedly during the copy, to report progress */
};

struct copy_made {
	char *name; /* the name that was free; the caller frees it */
	struct stat stat;
};

/*
 * Copies `source` to `name` in `dir_fd` with mode 0600. A file there that is not `known` stays; the
 * copy is then called "name-2" and so on. A known one with the same bytes stays and gets the new
 * mtime. Returns -1 and sets *err.
 */
int copy_file(const struct copy_source *source, int dir_fd, const char *name,
	      const struct copy_known *known, struct copy_made *ret_made,
	      struct err *err) MUST_CHECK;
/*
 * Opens the folder `name` in `dir_fd`, or creates it. Where `name` is not a folder, "name-2" and so
 * on is tried. Returns the descriptor; the caller frees *ret_taken. Returns -1 and sets *err.
 */
int copy_enter(int dir_fd, const char *name, char **ret_taken, struct err *err) MUST_CHECK;
/*
 * Renames `name` in `dir_fd` to `to`, or to "to-2" and so on. `known` may be NULL. Returns the new
 * name, which the caller frees. Returns NULL and sets *err, also when `name` is missing or not what
 * `known` describes.
 */
char *copy_move(int dir_fd, const char *name, const char *to, const struct copy_known *known,
		struct err *err) MUST_CHECK;
/*
 * Copies the first `left` bytes of one open file to another, sharing blocks where the file system
 * can. Returns -1 and sets *err.
 */
int copy_bytes(int from, int to, off_t left, struct err *err) MUST_CHECK;
/*
 * Returns true when two open regular files have the same bytes. `moved` is called as during a copy.
 */
bool copy_is_same(int one, int other, void (*moved)(void));
/*
 * Removes the unfinished copies of a killed helper in a folder, which is `depth` below the kept one
 * (1: itself), and in the folders in it. No helper may copy to it meanwhile.
 */
void copy_remove_halves(int folder_fd, int depth);
/* Returns true if `name` is the known copy, as it was made. */
bool copy_is_known(int dir_fd, const char *name, const struct copy_known *known);
json_int_t copy_mtime_ns(const struct stat *st);
/* Describes a file as it is now, to replace it. */
struct copy_known copy_describe(const struct stat *st);

#endif
