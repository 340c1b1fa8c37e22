/* SPDX-License-Identifier: MIT */
/* content.h - one content of resources/read, whole or a part of it. */
#ifndef RESOURCES_CONTENT_H
#define RESOURCES_CONTENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct mcp_call;
struct session;

enum { CONTENT_AROUND = 3 /* bytes on either side of a border within a character */ };

/* What to read for a part: the part, and what its first and last characters may need. */
struct content_range {
	uint64_t offset;
	size_t len;
	size_t before;     /* of `len`, in front of the part: at most CONTENT_AROUND */
	size_t part;       /* of `len`, the part: at most RESOURCES_INLINE_MAX */
	char language[32]; /* of the query, "" without one */
};

/*
 * What `query` ("" or from its question mark on) asks of something with `size` bytes.
 * ERR_INVALID for other members and values; ERR_LIMIT with the form that works when it is too
 * much for one answer. `what` names it in the sentence.
 */
int content_range(struct content_range *ret_range, const char *query, const char *what,
		  uint64_t size, struct err *err) MUST_CHECK;
/* `language` of the query alone, before the size is known. */
int content_language(struct content_range *ret_range, const char *query,
		     struct err *err) MUST_CHECK;

/*
 * Appends the part of what was read to `out`: of a text the characters that begin in it, so that
 * each part is text and parts one after the other are the whole.
 */
void content_take(struct buf *out, const struct content_range *range, const struct buf *data,
		  bool is_text);

/* Ends the call: as text where that is allowed, valid and fits a line, else as a blob. */
void content_finish(struct mcp_call *call, const char *uri, const char *mime,
		    const struct buf *data, bool may_be_text);
void content_finish_json(struct mcp_call *call, const char *uri, json_t *value_own);
/* The same with what is base64 already. */
void content_finish_base64(struct mcp_call *call, const char *uri, const char *mime,
			   const struct buf *base64);
/* Ends it with the error that `err` is for this uri. */
void content_refuse(struct mcp_call *call, const char *uri, const struct err *err);

/* Ends the call for session://{id}/REST: notebook, script, cells, cells/N, cells/N/FIGURE. */
void resource_journal(struct mcp_call *call, const struct session *session, const char *uri,
		      const char *rest);

#endif
