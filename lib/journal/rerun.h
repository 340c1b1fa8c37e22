/* SPDX-License-Identifier: MIT */
/*
 * rerun.h - what the journal has of a cell so that it can be run again: its code, what was typed to
 * it, the files that came in before it, and what it left.
 */
#ifndef JOURNAL_RERUN_H
#define JOURNAL_RERUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct journal;

/* Values of `marks` in the event `asked`. */
#define RERUN_MARKS_PLAIN "plain"
#define RERUN_MARKS_OTHER "other"

enum rerun_marks {
	RERUN_NO_MARKS,
	RERUN_PLAIN, /* its marks of secrets stand for the values (redact_fill) */
	RERUN_OTHER, /* a secret was encoded in it: it cannot be made again */
};

struct rerun_text {
	char *data; /* may hold NUL; NUL-terminated */
	size_t len;
};

/* A file that upload_file brought before the cell. */
struct rerun_input {
	char *path;
	char *sha256; /* or NULL */
	uint64_t size;
};

struct rerun_cell {
	struct rerun_text code; /* with marks in place of secrets */
	struct rerun_text *typed;
	size_t typed_count;
	struct rerun_input *inputs;
	size_t input_count;
	char *names;         /* names that it had changed, as "a, b"; or NULL */
	char *error;         /* the name of its error, or NULL */
	char *file;          /* where a query wrote its rows, or NULL */
	uint64_t timeout_ms; /* 0: none */
	enum rerun_marks marks;
	bool hidden; /* hidden input was typed, which is not recorded */
	bool secret; /* a secret was typed */
	bool lost;   /* before it, its language lost its state, also by the end of a life */
};

/* Reads the cell at `index`. Returns -1 and sets *err. */
int rerun_read(const struct journal *journal, size_t index, struct rerun_cell *ret,
	       struct err *err) MUST_CHECK;
void rerun_release(struct rerun_cell *cell);
#define cleanup_rerun __attribute__((cleanup(rerun_release)))

#endif
