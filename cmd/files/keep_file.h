/* SPDX-License-Identifier: MIT */
/* keep_file.h - copies one file of an export (keep.h). */
#ifndef FILES_KEEP_FILE_H
#define FILES_KEEP_FILE_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/list.h"
#include "copy.h"
#include "room.h"
#include "source.h"

/* An export. */
struct keep_job {
	struct source_folder data;
	struct source_folder spool;  /* their fd is -1 unless a file comes from there */
	struct source_folder inputs; /* the originals of uploads */
	int folder_fd;               /* the destination */
	int drawn_fd;                /* the report; -1 if it could not be drawn */
	char *report;                /* its name, once it was copied */
	json_t *logs;                /* files that are logs of databases; NULL: none is copied */
	struct list placed;          /* databases, as logs.h notes them */
	struct room room;
	bool durable;
	bool names;   /* progress has "from" */
	bool compare; /* copies that are not known are found by their content */
};

/* A file of the request. */
struct keep_file {
	char *from;
	char *to;
	struct copy_known known;
	bool spare;
	bool whole;
	bool report;          /* it is drawn_fd */
	bool along;           /* it may be unchanged */
	bool anew;            /* no file at `to` counts as a copy */
	const char *suffix;   /* borrowed from the request; NULL for a copy of the whole file */
	json_int_t take;      /* with a suffix: how many bytes come before it */
	json_int_t stays;     /* with a suffix: how many of them the known copy begins with */
	json_int_t seen_size; /* an earlier copy at `to` has these; a time of 0: not known */
	json_int_t seen_mtime;
	const json_t *copies; /* borrowed; earlier copies, one of which may be at `to` */
};

/* Reads a file of the request. The caller releases it, also after -1. */
int keep_file_parse(const json_t *value, struct keep_file *ret_file, struct err *err) MUST_CHECK;
void keep_file_release(struct keep_file *file);
#define cleanup_keep_file __attribute__((cleanup(keep_file_release)))

/* Reads the values of a known copy. */
void keep_file_parse_known(const json_t *value, struct copy_known *ret_known);
/*
 * Shows the server that this helper is alive, as the server ends one that is not. When the server
 * is dead, the alarm ends it: reading a network folder that does not respond would wait for ever.
 */
void keep_file_show_life(void);
/*
 * Opens the folder for `path` and returns the descriptor. Appends the folder's name with a slash to
 * `parent`, and sets *ret_name to the last part.
 */
int keep_file_open_parent(int folder_fd, const char *path, struct buf *parent,
			  const char **ret_name, struct err *err) MUST_CHECK;
/* Opens a file for reading and returns the descriptor. */
int keep_file_open_source(const struct keep_job *job, const struct keep_file *file,
			  bool *ret_linked, struct stat *ret_stat, struct err *err) MUST_CHECK;
/* Returns true for a file of the session that is a database by its first bytes. */
bool keep_file_is_database(const struct keep_job *job, const struct keep_file *file);
/*
 * Returns true if a file that is no copy of ours is where the copy of a log must go. Only files of
 * the session are logs.
 */
bool keep_file_is_displaced(const struct keep_job *job, struct keep_file *file);
/* Has the file copied to a name that no file has. */
void keep_file_set_anew(struct keep_file *file);
/*
 * Copies a file and adds its result to `progress`. Returns -1 and sets *err. The log of a database
 * is copied only beside the copy of its database.
 */
int keep_file_copy(struct keep_job *job, struct keep_file *file, json_t *progress,
		   struct err *err) MUST_CHECK;

#endif
