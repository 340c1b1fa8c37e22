/* SPDX-License-Identifier: MIT */
/*
 * runner_result.c - what an answer shows of a cell's value and traceback.
 *
 * The code did not print a value, so a long one gets a share of the answer and shows its two ends.
 * A traceback shows the frames of the user's code. The whole of both goes to the spool.
 */
#include <string.h>

#include "runner/cell.h"
#include "runner/runner_internal.h"
#include "runtime/language.h"
#include "text/truncate.h"
#include "text/utf8.h"

enum {
	VALUE_SIXTEENTHS = 3, /* of an answer's characters */
	VALUE_CHARS_MIN = 500,
};

static void end_line(struct buf *text)
{
	if (text->len > 0 && text->data[text->len - 1] != '\n')
		buf_puts(text, "\n");
}

static void add_value(const struct runner *r, const char *value, struct transcript_result *ret)
{
	size_t share = (size_t)r->c.output_chars / 16 * VALUE_SIXTEENTHS;

	if (value == NULL)
		return;
	buf_puts(&ret->whole, value);
	ret->shown += truncate_text(&ret->text, value, strlen(value),
				    share > VALUE_CHARS_MIN ? share : VALUE_CHARS_MIN);
}

/* Returns how many characters are left out. */
static size_t add_traceback(const struct runner *r, const char *traceback,
			    struct transcript_result *ret)
{
	size_t start;
	size_t shown;
	size_t total;

	if (traceback == NULL || traceback[0] == '\0')
		return 0;
	end_line(&ret->whole);
	end_line(&ret->text);
	start = ret->text.len;
	buf_puts(&ret->whole, traceback);
	if (r->c.language->fold_traceback != NULL)
		r->c.language->fold_traceback(traceback, &ret->text);
	else
		buf_puts(&ret->text, traceback);
	shown = utf8_count(buf_str(&ret->text) + start, ret->text.len - start);
	total = utf8_count(traceback, strlen(traceback));
	ret->shown += shown;
	return total > shown ? total - shown : 0;
}

size_t runner_result_make(const struct runner *r, const struct cell *cell,
			  struct transcript_result *ret)
{
	buf_init(&ret->text, BUF_UNBOUNDED);
	buf_init(&ret->whole, BUF_UNBOUNDED);
	ret->shown = 0;
	add_value(r, cell->value, ret);
	return add_traceback(r, cell->traceback, ret);
}

void runner_result_release(struct transcript_result *result)
{
	buf_release(&result->text);
	buf_release(&result->whole);
}
