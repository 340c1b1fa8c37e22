/* SPDX-License-Identifier: MIT */
/* journal_internal.h - what adding (journal.c) and reading (journal_read.c) share. */
#ifndef JOURNAL_JOURNAL_INTERNAL_H
#define JOURNAL_JOURNAL_INTERNAL_H

#include "journal/journal.h"
#include "journal/script.h"

#define JOURNAL_CODE_FILE "code"
#define JOURNAL_RECORDS_FILE "records"

enum { JOURNAL_LANGUAGES_MAX = 16 };

struct image {
	uint64_t offset; /* in the notebook; 0: not there */
	size_t len;
	const char *mime;
};

struct kept_cell {
	struct script_cell script; /* language and state are static */
	bool ran;
	uint64_t code_offset;
	uint64_t record_offset;
	size_t record_len;
	size_t image_count;
	struct image *images;
};

/* Stays open once it is written to: opening cost as much as all else that a cell's end does. */
struct journal_file {
	const char *name;
	int fd; /* -1 before the first write */
	uint64_t len;
};

struct journal {
	int dir_fd;
	struct journal_file notebook;
	struct journal_file code;
	struct journal_file records;
	char *session_id;
	uint64_t max;
	const struct redact *redact; /* or NULL */
	struct kept_cell *cells;
	size_t count;
	size_t cap;
	size_t bare;
	uint64_t left_out;
	uint64_t notebook_size;
	uint64_t notebook_end; /* where its tail begins */
	size_t tail_max;
	uint64_t code_size;
	uint64_t records_size;
	struct {
		const char *language;
		size_t cells;             /* that ran */
	} tallies[JOURNAL_LANGUAGES_MAX]; /* in the order of their first cells */
};

#endif
