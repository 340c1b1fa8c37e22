/* SPDX-License-Identifier: MIT */
/* event_text.c - appends keys and values one by one: printf's formats cost ten times as much. */
#include "journal/event_text.h"

#include "base/clock.h"
#include "json/make.h"
#include "json/write.h"

static void put_key(struct buf *fields, const char *key)
{
	buf_puts(fields, ",\"");
	buf_puts(fields, key);
	buf_puts(fields, "\":");
}

static void put_quoted(struct buf *fields, const char *word)
{
	buf_put_char(fields, '"');
	buf_puts(fields, word);
	buf_put_char(fields, '"');
}

void event_text_begin(struct buf *fields, const char *event, uint64_t number)
{
	char now[CLOCK_UTC_LEN];

	clock_utc(now);
	buf_puts(fields, "{\"event\":");
	put_quoted(fields, event);
	event_text_word(fields, "time", now);
	event_text_number(fields, "cell", number);
}

void event_text_word(struct buf *fields, const char *key, const char *word)
{
	put_key(fields, key);
	put_quoted(fields, word);
}

void event_text_bool(struct buf *fields, const char *key, bool value)
{
	put_key(fields, key);
	buf_puts(fields, value ? "true" : "false");
}

void event_text_number(struct buf *fields, const char *key, uint64_t number)
{
	put_key(fields, key);
	buf_put_number(fields, number);
}

void event_text_seconds(struct buf *fields, const char *key, uint64_t ms)
{
	const char thousandths[] = { '.', (char)('0' + ms / 100 % 10), (char)('0' + ms / 10 % 10),
				     (char)('0' + ms % 10) };

	event_text_number(fields, key, ms / 1000);
	buf_put(fields, thousandths, sizeof(thousandths));
}

void event_text_string(struct buf *fields, const char *key, const char *text)
{
	if (text != NULL)
		event_text_value(fields, key, json_make_str(text));
}

void event_text_value(struct buf *fields, const char *key, json_t *value_own)
{
	cleanup_json json_t *value = value_own;
	struct err ignored;

	put_key(fields, key);
	if (value == NULL || json_write(fields, value, &ignored) < 0)
		buf_puts(fields, "null");
}
