/* SPDX-License-Identifier: MIT */
/*
 * intake.c - redacts, sanitizes and redacts again, a slice at a time, so that a long text does not
 * hold up the loop. A step that finds no secret passes the text on without a copy.
 */
#include "runner/intake.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "redact/redact.h"
#include "runner/cell.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum { SLICE = 16 << 10 }; /* bytes that one redact_step() processes */

enum step { STEP_SECRETS, STEP_CLEAN, STEP_SECRETS_AGAIN, STEP_THROUGH };

struct intake {
	const struct redact *redact;
	enum step step;
	struct redact_stream *stream; /* of the current redaction, once it has begun; or NULL */
	struct sanitize_stream *sanitizer; /* of the sanitizing, once it has begun; or NULL */
	size_t at;                         /* how much of `text` is sanitized */
	const char *text;                  /* the driver's text, then `safe` */
	size_t len;
	struct buf safe;      /* without secrets, if there were any */
	struct buf sanitized; /* `text`, sanitized */
	struct buf out;       /* without secrets once more, if there were any */
};

struct intake *intake_new(const struct redact *redact, const char *text, size_t len)
{
	struct intake *intake = xcalloc(1, sizeof(*intake));

	intake->redact = redact;
	intake->step = redact != NULL ? STEP_SECRETS : STEP_CLEAN;
	intake->text = text;
	intake->len = strnlen(text, utf8_offset(text, len, CELL_TEXT_CHARS_MAX));
	buf_init(&intake->safe, BUF_UNBOUNDED);
	buf_init(&intake->sanitized, BUF_UNBOUNDED);
	buf_init(&intake->out, BUF_UNBOUNDED);
	return intake;
}

void intake_free(struct intake *intake)
{
	if (intake == NULL)
		return;
	redact_stream_free(intake->stream);
	sanitize_stream_free(intake->sanitizer);
	buf_release(&intake->safe);
	buf_release(&intake->sanitized);
	buf_release(&intake->out);
	free(intake);
}

/*
 * Makes one step of a redaction. Returns true at its end; `out` then has the text if it had
 * secrets.
 */
static bool redact_some(struct intake *intake, const char *text, size_t len, struct buf *out)
{
	if (intake->stream == NULL) {
		intake->stream = redact_stream_new(intake->redact);
		redact_begin(intake->stream, text, len);
	}
	if (redact_step(intake->stream, out) == REDACT_MORE)
		return false;
	redact_stream_free(intake->stream);
	intake->stream = NULL;
	return true;
}

/* Sanitizing can make a text longer; the maximum of a cell's text bounds it. */
static bool sanitize_some(struct intake *intake)
{
	size_t piece = size_min(intake->len - intake->at, SLICE);

	if (intake->sanitizer == NULL)
		intake->sanitizer = sanitize_stream_new();
	sanitize_feed(intake->sanitizer, intake->text + intake->at, piece, &intake->sanitized);
	intake->at += piece;
	if (intake->at < intake->len && intake->sanitized.len < CELL_TEXT_BYTES_MAX)
		return false;
	sanitize_end(intake->sanitizer, &intake->sanitized);
	return true;
}

static void make_step(struct intake *intake)
{
	switch (intake->step) {
	case STEP_SECRETS:
		if (!redact_some(intake, intake->text, intake->len, &intake->safe))
			return;
		if (intake->safe.len > 0) {
			intake->text = intake->safe.data;
			intake->len = intake->safe.len;
		}
		intake->step = STEP_CLEAN;
		return;
	case STEP_CLEAN:
		if (sanitize_some(intake))
			intake->step = intake->redact != NULL ? STEP_SECRETS_AGAIN : STEP_THROUGH;
		return;
	case STEP_SECRETS_AGAIN:
		if (redact_some(intake, buf_str(&intake->sanitized), intake->sanitized.len,
				&intake->out))
			intake->step = STEP_THROUGH;
		return;
	case STEP_THROUGH:
		return;
	}
}

bool intake_go_on(struct intake *intake, size_t *room)
{
	while (intake->step != STEP_THROUGH && *room > 0) {
		make_step(intake);
		*room -= size_min(*room, size_min(intake->len + 1, SLICE));
	}
	return intake->step == STEP_THROUGH;
}

char *intake_take(struct intake *intake)
{
	return buf_steal(intake->out.len > 0 ? &intake->out : &intake->sanitized);
}

size_t intake_held(const struct intake *intake)
{
	size_t whole = intake->stream != NULL ? intake->len : 0;

	return whole + intake->safe.cap + intake->sanitized.cap + intake->out.cap;
}
