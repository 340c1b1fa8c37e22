/* SPDX-License-Identifier: MIT */
/*
 * values.h - the saved variables of a session, in the folder of its journal.
 *
 *   <session>/journal/variables              what is saved: a record of this server
 *   <session>/journal/variables-<random>     the file with the variables, which only drivers read
 *   <session>/spool/variables                the same file, while an interpreter may read it
 *
 * No session code reaches the first two, and only the user can read them. A file counts from the
 * moment when the record names it: a server that is killed meanwhile leaves the earlier one. No
 * file is synced, because the server must not wait for the disk: after a power failure the record
 * may name a file that is shorter than it says. Then nothing is saved.
 */
#ifndef WORKSPACE_VALUES_H
#define WORKSPACE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "workspace/workspace.h"

enum { VALUES_NAME_MAX = 32 };

/* Cells that were lost with an interpreter, because nothing was saved after them. */
struct values_gap {
	uint64_t first; /* 0: there are none */
	uint64_t last;
};

struct values_record {
	char file[VALUES_NAME_MAX]; /* its name; "" when nothing is saved */
	uint64_t cell;              /* after which it was saved */
	uint64_t first_cell;        /* since which its interpreter ran, or had earlier variables */
	struct values_gap gap;      /* cells between these two whose changes may be missing */
	uint64_t names;
	uint64_t ms; /* that bringing them back may take */
};

/* Reads what is saved; nothing if the record is damaged, or its file is gone or has another size.
 */
void values_read(int journal_fd, struct values_record *ret);
/* Removes files that no record names, and what an interpreter could read. */
void values_tidy(const struct workspace *workspace);

struct values_file;

/* Makes a new file of at most `max_bytes`. Returns NULL and sets *err. */
struct values_file *values_begin(const struct workspace *workspace, uint64_t max_bytes,
				 struct err *err) MUST_CHECK;
/* Returns false if the piece does not fit, or the disk is full. */
bool values_write(struct values_file *file, const char *data, size_t len);
/*
 * Makes the new file the saved one, and removes the earlier one. Sets record->file. Returns -1 and
 * sets *err; then the earlier one stays. Frees `file_own`.
 */
int values_commit(struct values_file *file_own, struct values_record *record,
		  struct err *err) MUST_CHECK;
/* Removes the new file and frees `file_own`, which may be NULL. */
void values_drop(struct values_file *file_own);

/*
 * Lets the session's code read the file, until values_take_back. Returns its path as the session
 * sees it, which the caller frees. Returns NULL and sets *err.
 */
char *values_lend(const struct workspace *workspace, const struct values_record *record,
		  struct err *err) MUST_CHECK;
void values_take_back(const struct workspace *workspace, const struct values_record *record);

#endif
