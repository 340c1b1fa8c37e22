/* SPDX-License-Identifier: MIT */
/* content.h - one content of resources/read, whole or in part. */
#ifndef RESOURCES_CONTENT_H
#define RESOURCES_CONTENT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct mcp_call;

enum { CONTENT_AROUND = 3 /* bytes on either side of a border within a character */ };

/* The bytes to read for a part: the part, and bytes around it for cut characters. */
struct content_range {
	uint64_t offset;
	size_t len;
	size_t before;     /* of `len`, before the part: at most CONTENT_AROUND */
	size_t part;       /* of `len`, the part: at most RESOURCES_INLINE_MAX */
	char language[32]; /* of the query, "" without one */
};

/*
 * Sets *ret_range to what `query` ("", or from its question mark on) asks of `size` bytes. Returns
 * -1 and sets *err: ERR_INVALID for other members and values, ERR_LIMIT with a range that works
 * when the answer would be too large. `what` names the thing in the sentence.
 */
int content_range(struct content_range *ret_range, const char *query, const char *what,
		  uint64_t size, struct err *err) MUST_CHECK;
/* Sets only ->language, before the size is known. Returns -1 and sets *err as content_range. */
int content_language(struct content_range *ret_range, const char *query,
		     struct err *err) MUST_CHECK;

/*
 * Appends the part of `data` to `out`. Of a text these are the characters that begin in the part,
 * so that each part is text and the parts joined are the whole.
 */
void content_take(struct buf *out, const struct content_range *range, const struct buf *data,
		  bool is_text);

/* Ends the call: with a text where that is allowed, valid and fits a line, else with a blob. */
void content_finish(struct mcp_call *call, const char *uri, const char *mime,
		    const struct buf *data, bool may_be_text);
/* Ends the call with a value as JSON text. Takes ownership of the value. */
void content_finish_json(struct mcp_call *call, const char *uri, json_t *value_own);
/* Ends the call with a blob that is base64 already. */
void content_finish_base64(struct mcp_call *call, const char *uri, const char *mime,
			   const struct buf *base64);
/* Ends the call with the error that `err` is for this uri. */
void content_refuse(struct mcp_call *call, const char *uri, const struct err *err);

#endif
