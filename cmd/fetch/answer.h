/* SPDX-License-Identifier: MIT */
/*
 * answer.h - the head of an HTTP answer, from the lines that libcurl hands over.
 *
 * Interim answers (1xx) are passed over. What is kept is bounded; the rest of a head only counts.
 */
#ifndef FETCH_ANSWER_H
#define FETCH_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { ANSWER_HEAD_MAX = 256 << 10 /* bytes of all heads of a transfer */ };

struct answer {
	int status; /* 0 before the first status line */
	bool complete;
	char *location;
	char *disposition;
	char *type;
	char *coding; /* Content-Encoding; NULL without one that changes the bytes */
	bool has_length;
	uint64_t length;   /* of Content-Length */
	size_t head_bytes; /* of all heads so far */
};

void answer_init(struct answer *answer);
void answer_release(struct answer *answer);
/* One line with its end. ERR_LIMIT past ANSWER_HEAD_MAX. */
int answer_take_line(struct answer *answer, const char *line, size_t len,
		     struct err *err) MUST_CHECK;
/* A sentence on a status that brings no file; 0 for one that does. */
int answer_check_status(const struct answer *answer, struct err *err) MUST_CHECK;
/* A redirect that names where to. */
bool answer_redirects(const struct answer *answer);

#endif
