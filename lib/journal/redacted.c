/* SPDX-License-Identifier: MIT */
/*
 * redacted.c - a copy of a journal entry without secrets. Only the texts with a secret in them are
 * copied; all others are borrowed. Names of figures' files are redacted, too, because session code
 * chooses them.
 */
#include "journal/redacted.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "redact/redact.h"
#include "redact/redact_json.h"
#include "text/sanitize.h"

/*
 * Replaces *text and *len if there is a secret in it. Returns the new text, which the caller frees,
 * or NULL.
 */
static char *redact_bytes(struct redact_stream *stream, const char **text, size_t *len)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	char *owned;

	if (!redact_text(stream, *text, *len, &out))
		return NULL;
	*len = out.len;
	owned = buf_steal(&out);
	*text = owned;
	return owned;
}

char *redacted_bytes(const struct redact *redact, const char **text, size_t *len)
{
	struct redact_stream *stream;
	char *owned;

	if (redact == NULL)
		return NULL;
	stream = redact_stream_new(redact);
	owned = redact_bytes(stream, text, len);
	redact_stream_free(stream);
	return owned;
}

static char *redact_foreign(struct redact_stream *stream, const char **text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	const char *result;
	char *owned;
	size_t len;

	if (*text == NULL)
		return NULL;
	sanitize_block(&clean, *text, strlen(*text));
	result = buf_str(&clean);
	len = clean.len;
	owned = redact_bytes(stream, &result, &len);
	if (owned != NULL)
		*text = owned;
	return owned;
}

/* Redacts the names of figures' files, which session code chooses. */
static void redact_images(struct redacted_entry *r, struct redact_stream *stream)
{
	size_t count = r->entry.image_count;

	r->images = xcalloc(count, sizeof(*r->images));
	for (size_t i = 0; i < count; i++) {
		r->images[i] = r->entry.images[i];
		if (redact_foreign(stream, &r->images[i].file) != NULL) {
			free((char *)(uintptr_t)r->images[i].file);
			r->images[i].file = "[secret]";
		}
	}
	r->entry.images = r->images;
}

void redacted_entry_init(struct redacted_entry *r, const struct journal_entry *entry,
			 const struct redact *redact)
{
	struct redact_stream *stream;
	struct journal_entry *e = &r->entry;
	size_t n = 0;

	*r = (struct redacted_entry){ .entry = *entry };
	if (redact == NULL)
		return;
	stream = redact_stream_new(redact);
	if (e->text != NULL)
		r->texts[n++] = redact_bytes(stream, &e->text, &e->text_len);
	if (!e->settled) {
		r->texts[n++] = redact_foreign(stream, &e->value);
		r->texts[n++] = redact_foreign(stream, &e->traceback);
	}
	r->texts[n++] = redact_foreign(stream, &e->error_name);
	r->texts[n++] = redact_foreign(stream, &e->error_text);
	r->texts[n++] = redact_foreign(stream, &e->note);
	redact_images(r, stream);
	redact_stream_free(stream);
	redact_json(e->record, redact);
}

void redacted_entry_release(struct redacted_entry *r)
{
	for (size_t i = 0; i < REDACTED_TEXTS; i++)
		free(r->texts[i]);
	free(r->images);
}
