/* SPDX-License-Identifier: MIT */
/*
 * status_line.c - writes the status line. Models and hosts parse it, so every string from session
 * code is reduced to a word or path that cannot contain the separators of the grammar.
 */
#include "text/status_line.h"

#include <inttypes.h>
#include <string.h>

#include "text/name_lines.h"
#include "text/sanitize.h"

enum { WORDS_BEHIND_NAME = 2, KB = 1024 };

static void put_word(struct buf *out, const char *s, size_t len)
{
	sanitize_word(out, s, len, SANITIZE_QUOTE_MAX);
}

/* Appends a path or call: it may have blanks and brackets, but no separator of parts. */
static void put_phrase(struct buf *out, const char *s, size_t max_chars)
{
	size_t start = out->len;
	char *bar;

	sanitize_line(out, s, strlen(s), max_chars);
	if (out->len == start)
		buf_puts(out, "_");
	while ((bar = memchr(out->data + start, '|', out->len - start)) != NULL)
		*bar = '_';
}

struct size {
	double value; /* in the unit */
	const char *unit;
	int digits; /* behind the point */
};

static struct size size_of(uint64_t bytes)
{
	static const char *const units[] = { "KB", "MB", "GB", "TB" };
	struct size size = { (double)bytes, "B", 0 };

	/* At most three digits before the point. */
	for (size_t i = 0; i < ARRAY_SIZE(units) && size.value >= (i == 0 ? KB : 999.5); i++) {
		size.value /= KB;
		size.unit = units[i];
		size.digits = size.value < 9.95 ? 1 : 0;
	}
	return size;
}

static void put_size(struct buf *out, const struct size *size)
{
	buf_putf(out, "%.*f %s", size->digits, size->value, size->unit);
}

void status_size(struct buf *out, uint64_t bytes)
{
	struct size size = size_of(bytes);

	put_size(out, &size);
}

/* Returns the size with one more digit, rounded up to more than what is written of `limit`. */
static struct size above(struct size size, struct size limit)
{
	double coarse = limit.digits > 0 ? 10 : 1;
	uint64_t written = (uint64_t)(limit.value * coarse + 0.5) * 10;
	uint64_t steps = (uint64_t)(size.value * coarse * 10);

	size.value = (double)((steps > written ? steps : written) + 1) / coarse / 10;
	size.digits++;
	return size;
}

void status_excess(struct buf *out, uint64_t bytes, uint64_t limit)
{
	cleanup_buf struct buf used_text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf limit_text = BUF_INIT(BUF_UNBOUNDED);
	struct size used = size_of(bytes);

	status_size(&used_text, bytes);
	status_size(&limit_text, limit);
	if (bytes > limit && str_eq(buf_str(&used_text), buf_str(&limit_text)))
		used = above(used, size_of(limit));
	put_size(out, &used);
	buf_putf(out, ", more than the limit of %s", buf_str(&limit_text));
}

static const double seconds_max = 1e15; /* far fewer than an integer holds */

/* Appends a number that is not negative, rounded. Each answer has one: printf costs far more. */
static void put_decimal(struct buf *out, double value, int digits)
{
	static const unsigned powers[] = { 1, 10, 100 };
	uint64_t units = (uint64_t)(value * powers[digits] + 0.5);

	buf_put_number(out, units / powers[digits]);
	if (digits > 0)
		buf_put_char(out, '.');
	for (int left = digits - 1; left >= 0; left--)
		buf_put_char(out, (char)('0' + units / powers[left] % 10));
}

static void put_seconds(struct buf *out, double seconds)
{
	int digits = 2;

	if (!(seconds > 0))
		seconds = 0;
	if (seconds > seconds_max)
		seconds = seconds_max;
	if (seconds >= 9.995)
		digits = seconds >= 99.95 ? 0 : 1;
	put_decimal(out, seconds, digits);
	buf_puts(out, " s");
}

static void put_more(struct buf *out, size_t count, size_t shown)
{
	if (count > shown)
		buf_putf(out, " and %zu more", count - shown);
}

static void put_changes(struct buf *out, const struct status *status)
{
	size_t shown = size_min(status->change_count, STATUS_CHANGES_MAX);

	if (shown == 0)
		return;
	buf_puts(out, " | files");
	for (size_t i = 0; i < shown; i++) {
		const struct status_change *change = &status->changes[i];

		buf_putf(out, " %c", change->kind);
		sanitize_path_word(out, change->path, strlen(change->path));
		if (change->kind != '+')
			continue;
		buf_puts(out, " ");
		status_size(out, change->size);
	}
	put_more(out, status->change_count, shown);
}

static void put_name(struct buf *out, const char *line, const char *end)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	bool gone;

	line = name_lines_name(&name, line, end, &gone);
	buf_puts(out, gone ? "-" : "");
	sanitize_symbol_word(out, buf_str(&name), name.len);
	for (size_t i = 0; i < WORDS_BEHIND_NAME && line < end; i++) {
		size_t len = (size_t)(end - line);
		const char *blank = i + 1 < WORDS_BEHIND_NAME ? memchr(line, ' ', len) : NULL;

		buf_puts(out, " ");
		put_word(out, line, blank != NULL ? (size_t)(blank - line) : len);
		line = blank != NULL ? blank + 1 : end;
	}
}

static void put_names(struct buf *out, const char *names)
{
	size_t count = 0;

	while (names != NULL && *names != '\0') {
		size_t len = strcspn(names, "\n");

		if (len > 0 && count < STATUS_NAMES_MAX) {
			buf_puts(out, count == 0 ? " | names " : ", ");
			put_name(out, names, names + len);
		}
		count += len > 0;
		names += len + (names[len] == '\n');
	}
	put_more(out, count, STATUS_NAMES_MAX);
}

static void put_output(struct buf *out, const struct status *status)
{
	if (status->output_shown < status->output_total) {
		buf_putf(out, " | output %zu of %zu chars", status->output_shown,
			 status->output_total);
		if (status->output_path != NULL) {
			buf_puts(out, status->output_cut ? ", start in " : ", all in ");
			put_phrase(out, status->output_path, STATUS_PATH_MAX);
		}
	}
	if (status->background_chars > 0)
		buf_putf(out, " | background %zu chars", status->background_chars);
}

void status_write(struct buf *out, const struct status *status)
{
	buf_puts(out, "[");
	put_word(out, status->id, strlen(status->id));
	buf_puts(out, "#");
	buf_put_number(out, status->cell);
	buf_puts(out, " ");
	put_word(out, status->state, strlen(status->state));
	buf_puts(out, " ");
	put_seconds(out, status->seconds);
	if (status->has_exit_code)
		buf_putf(out, " | exit %d", status->exit_code);
	put_changes(out, status);
	put_names(out, status->names);
	if (status->cwd != NULL) {
		buf_puts(out, " | cwd ");
		put_phrase(out, status->cwd, STATUS_PATH_MAX);
	}
	put_output(out, status);
	if (status->children > 0)
		buf_putf(out, " | children %d", status->children);
	if (status->unconfined)
		buf_puts(out, " | unconfined");
	if (status->saved != NULL) {
		buf_puts(out, status->saving ? " | saving " : " | saved ");
		put_phrase(out, status->saved, STATUS_PATH_MAX);
	}
	if (status->try_call != NULL) {
		buf_puts(out, " | try ");
		put_phrase(out, status->try_call, STATUS_CALL_MAX);
	}
	buf_puts(out, "]");
}
