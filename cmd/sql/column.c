/* SPDX-License-Identifier: MIT */
/*
 * column.c - counts and stores the values of a column. Texts are codes of a dictionary: up to
 * COLUMN_TEXTS_SHARED of them a hash table finds equal ones, then each value gets a code of its
 * own.
 */
#include "column.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/chars.h"
#include "base/mem.h"
#include "hash.h"
#include "sql/marked.h"
#include "sql/moment.h"
#include "sqlite.h"
#include "text/sanitize.h"
#include "text/utf8.h"

enum {
	BITS = 64,
	SHOWN_MAX = 30, /* characters of a text in a sentence */
	SLOTS_FIRST = 256,
	TEXT_FIRST = 4096,
	ENDS_FIRST = 256,
	GROW_DOUBLING_MAX = 64 << 20, /* bytes */
};

/* Returns true for characters that only look like a blank or a minus. */
static bool is_disguised(int32_t c)
{
	return c == 0xa0 || c == 0x2212 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

char *column_shown(const char *text)
{
	struct utf8_decoder decoder = { 0 };
	struct buf out = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf seen = BUF_INIT(BUF_UNBOUNDED);

	for (const char *begin = text; *text != '\0'; text++) {
		int32_t got[2];

		utf8_decode(&decoder, (unsigned char)*text, &got[0], &got[1]);
		if (got[0] == UTF8_MORE)
			continue;
		if (is_disguised(got[0]))
			buf_putf(&seen, "\\u%04X", (unsigned)got[0]);
		else
			buf_put(&seen, begin, (size_t)(text + 1 - begin));
		begin = text + 1;
	}
	sanitize_line(&out, buf_str(&seen), seen.len, SHOWN_MAX);
	return buf_steal(&out);
}

void column_init(struct column *column, const char *name)
{
	*column = (struct column){ .name = xstrdup(name) };
}

void column_release(struct column *column)
{
	column_drop(column);
	free(column->name);
}

static void keep_sample(char out[COLUMN_SAMPLE_MAX], const struct csv_field *field)
{
	size_t len = size_min(field->len, COLUMN_SAMPLE_MAX - 1);

	while (len > 0 && len < field->len && ((unsigned char)field->s[len] & 0xc0) == 0x80)
		len--;
	memcpy(out, field->s, len);
	out[len] = '\0';
}

/* Texts with one offset sort; a mix of summer and winter time does not. */
static void count_offset(struct column *column, const char *s, size_t len)
{
	int offset = moment_offset(s, len);

	if (!column->is_offset)
		column->offset = offset;
	else if (offset != column->offset)
		column->moments |= MOMENT_OFFSETS;
	column->is_offset = true;
}

static void count_moment(struct column *column, const struct csv_field *field)
{
	const char *s = field->s;
	size_t len = field->len;
	unsigned traits;

	chars_trim(&s, &len);
	traits = moment_traits(s, len);
	column->moments |= traits;
	if (traits & MOMENT_OFFSETS)
		count_offset(column, s, len);
	if (column->timed[0] == '\0' && moment_has_both(traits))
		keep_sample(column->timed, field);
	column->days = column->days || moment_is_day(traits);
	if (column->other[0] == '\0' && moment_is_ambiguous(column->moments))
		keep_sample(column->other, field);
	if (column->moment[0] == '\0' &&
	    (moment_sorts_wrong(column->moments) || moment_is_unread(column->moments)))
		keep_sample(column->moment, field);
}

/* Records a unit: 1.2M and 900K are not the numbers that their digits show. */
static void count_unit(struct column *column, const char *unit, size_t len)
{
	for (size_t i = 0; i < column->unit_count; i++)
		if (strlen(column->units[i]) == len && memcmp(column->units[i], unit, len) == 0)
			return;
	if (column->unit_count == COLUMN_UNITS || len >= COLUMN_UNIT_MAX)
		return;
	memcpy(column->units[column->unit_count], unit, len);
	column->units[column->unit_count++][len] = '\0';
}

static void count_units(struct column *column, const struct csv_field *field)
{
	const char *s = field->s;
	size_t len = field->len;
	size_t unit_len;
	const char *unit;

	chars_trim(&s, &len);
	unit = marked_unit(s, len, &unit_len);
	count_unit(column, unit, unit_len);
}

/* Reads the number that a text begins with as SQLite does. */
static bool begins_number(const struct csv_field *field)
{
	const char *s = field->s;
	size_t len = field->len;
	size_t at;

	chars_trim(&s, &len);
	at = len > 0 && (*s == '+' || *s == '-');
	at += at < len && s[at] == '.';
	return at < len && s[at] >= '0' && s[at] <= '9';
}

static void count_zero(struct column *column, const struct csv_field *field)
{
	if (column->zeros++ == 0)
		keep_sample(column->zero, field);
	else if (!column->zeros_differ)
		column->zeros_differ = strlen(column->zero) != field->len ||
				       memcmp(column->zero, field->s, field->len) != 0;
}

uint64_t column_present(const struct column *column)
{
	bool text = column->verdict.type == INFER_TYPE_TEXT && !column->verdict.missing;
	uint64_t count = 0;

	if (text)
		count = column->counts[INFER_MISSING] + column->counts[INFER_EMPTY] -
			column->absent;
	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		count += column->counts[i];
	return count;
}

bool column_is_dated(const struct column *column)
{
	uint64_t moments = column->counts[INFER_DATE] + column->counts[INFER_MOMENT];
	uint64_t present = 0;

	for (unsigned i = INFER_INTEGER; i < INFER_CLASSES; i++)
		present += column->counts[i];
	return column->verdict.type == INFER_TYPE_TEXT && 2 * moments > present;
}

/* Keeps the first values that are not numbers, each once. */
static void keep_other(struct column *column, const struct csv_field *field)
{
	for (size_t i = 0; i < COLUMN_SAMPLES; i++) {
		if (column->samples[i][0] == '\0') {
			keep_sample(column->samples[i], field);
			return;
		}
		if (strncmp(column->samples[i], field->s,
			    size_min(field->len, COLUMN_SAMPLE_MAX - 1)) == 0)
			return;
	}
}

void column_count(struct column *column, const struct csv_field *field, bool commas)
{
	enum infer_class class = infer_class(field->s, field->len);

	column->counts[class]++;
	column->absent += field->len == 0 && !field->quoted;
	if (class == INFER_DATE || class == INFER_MOMENT)
		count_moment(column, field);
	if (class == INFER_MARKED || class == INFER_MARKED_COMMA)
		count_units(column, field);
	else if (column->unit_count < COLUMN_UNITS && infer_is_number(class, true))
		count_unit(column, "", 0);
	if (class == INFER_POWER && column->power[0] == '\0')
		keep_sample(column->power, field);
	if (class == INFER_GROUPED && column->grouped[0] == '\0')
		keep_sample(column->grouped, field);
	if (class > INFER_MISSING && class != INFER_DATE && class != INFER_MOMENT &&
	    column->undated[0] == '\0')
		keep_sample(column->undated, field);
	if (class > INFER_EMPTY && !infer_is_number(class, true) && !begins_number(field))
		count_zero(column, field);
	if (class > INFER_MISSING && column->samples[COLUMN_SAMPLES - 1][0] == '\0' &&
	    !infer_is_number(class, commas))
		keep_other(column, field);
}

/* ---- values ---- */

int column_fail_memory(struct err *err)
{
	return err_set(
		err, ERR_LIMIT,
		"the columns that the query names need more than %d MB of memory, which is "
		"the most that exec_sql takes (no setting changes that); name fewer columns, "
		"or read the file in python by chunks",
		SQLITE_HEAP_MAX >> 20);
}

int column_reserve(struct column *column, size_t rows, struct err *err)
{
	bool text = column->verdict.type == INFER_TYPE_TEXT;
	size_t room = rows > 0 ? rows : 1;
	size_t nulls = (room + BITS - 1) / BITS * sizeof(*column->nulls);

	column->rows = 0;
	column->low = INT64_MAX;
	column->high = INT64_MIN;
	if (text)
		column->codes = sqlite3_malloc64(room * sizeof(*column->codes));
	else if (column->verdict.type != INFER_TYPE_REAL)
		column->integers = sqlite3_malloc64(room * sizeof(*column->integers));
	else
		column->reals = sqlite3_malloc64(room * sizeof(*column->reals));
	if (!text)
		column->nulls = sqlite3_malloc64(nulls);
	if (column->nulls != NULL)
		memset(column->nulls, 0, nulls);
	if ((text && column->codes == NULL) ||
	    (!text &&
	     (column->nulls == NULL || (column->integers == NULL && column->reals == NULL))))
		return column_fail_memory(err);
	return 0;
}

static void drop_texts(struct column_texts *texts)
{
	sqlite3_free(texts->bytes);
	sqlite3_free(texts->ends);
	sqlite3_free(texts->slots);
	*texts = (struct column_texts){ .bytes = NULL };
}

void column_drop(struct column *column)
{
	sqlite3_free(column->integers);
	sqlite3_free(column->reals);
	sqlite3_free(column->codes);
	sqlite3_free(column->nulls);
	drop_texts(&column->texts);
	column->integers = NULL;
	column->reals = NULL;
	column->codes = NULL;
	column->nulls = NULL;
	column->loaded = false;
}

/* ---- texts ---- */

static const char *text_of(const struct column_texts *texts, uint32_t code, size_t *ret_len)
{
	uint64_t begin = code > 1 ? texts->ends[code - 2] : 0;

	*ret_len = (size_t)(texts->ends[code - 1] - begin);
	return texts->bytes + begin;
}

/* Grows an array by doubling, a large one by an eighth: it may take half of the memory. */
static bool grow(void *array_ptr, size_t *cap, size_t wanted, size_t first, size_t item)
{
	void **array = array_ptr;
	size_t room = *cap == 0 ? first : *cap;
	void *more;

	if (wanted <= *cap)
		return true;
	while (room < wanted)
		room += room * item < GROW_DOUBLING_MAX ? room : room / 8;
	more = sqlite3_realloc64(*array, room * item);
	if (more == NULL)
		return false;
	*array = more;
	*cap = room;
	return true;
}

static uint32_t *find_slot(const struct column_texts *texts, const char *s, size_t len)
{
	size_t at = hash_text(s, len) & (texts->slot_count - 1);

	for (;; at = (at + 1) & (texts->slot_count - 1)) {
		uint32_t code = texts->slots[at];
		size_t known_len;
		const char *known;

		if (code == 0)
			return &texts->slots[at];
		known = text_of(texts, code, &known_len);
		if (known_len == len && memcmp(known, s, len) == 0)
			return &texts->slots[at];
	}
}

static bool grow_slots(struct column_texts *texts)
{
	uint32_t *old = texts->slots;
	size_t count = texts->slot_count == 0 ? SLOTS_FIRST : 4 * texts->slot_count;
	uint32_t *slots = sqlite3_malloc64(count * sizeof(*slots));

	if (slots == NULL)
		return false;
	memset(slots, 0, count * sizeof(*slots));
	texts->slots = slots;
	texts->slot_count = count;
	for (uint32_t code = 1; code <= texts->count; code++) {
		size_t len;
		const char *s = text_of(texts, code, &len);

		*find_slot(texts, s, len) = code;
	}
	sqlite3_free(old);
	return true;
}

/* Ends the sharing of codes: equal texts may have two from here on. */
static void stop_sharing(struct column_texts *texts)
{
	sqlite3_free(texts->slots);
	texts->slots = NULL;
	texts->slot_count = 0;
}

static bool append(struct column_texts *texts, const char *s, size_t len)
{
	if (!grow(&texts->bytes, &texts->cap, texts->len + len + 1, TEXT_FIRST, 1) ||
	    !grow(&texts->ends, &texts->ends_cap, texts->count + 1, ENDS_FIRST,
		  sizeof(*texts->ends)))
		return false;
	memcpy(texts->bytes + texts->len, s, len);
	texts->len += len;
	texts->ends[texts->count++] = texts->len;
	return true;
}

static bool is_shared(const struct column_texts *texts)
{
	return texts->count == 0 || texts->slots != NULL;
}

/* Returns the text's code, or 0 when memory is exhausted. */
static uint32_t add_text(struct column_texts *texts, const char *s, size_t len)
{
	uint32_t *slot;

	if (!is_shared(texts))
		return append(texts, s, len) ? (uint32_t)texts->count : 0;
	if (2 * texts->count >= texts->slot_count && !grow_slots(texts))
		return 0;
	slot = find_slot(texts, s, len);
	if (*slot != 0)
		return *slot;
	if (!append(texts, s, len))
		return 0;
	*slot = (uint32_t)texts->count;
	if (texts->count > COLUMN_TEXTS_SHARED)
		stop_sharing(texts);
	return (uint32_t)texts->count;
}

/* ---- adding ---- */

static bool is_missing(const struct column *column, const struct csv_field *field)
{
	size_t i = 0;

	if (field == NULL || (field->len == 0 && !field->quoted))
		return true;
	if (column->verdict.type == INFER_TYPE_TEXT)
		return column->verdict.missing &&
		       infer_class(field->s, field->len) <= INFER_MISSING;
	/* The first character shows whether a value is a number or missing. */
	if (field->len > 0 && field->s[0] <= '9' && field->s[0] > '#')
		return false;
	while (i < field->len && strchr(" \t\r\n", field->s[i]) != NULL)
		i++;
	return i == field->len || strchr("Nn#\\", field->s[i]) != NULL;
}

static void add_integer(struct column *column, int64_t value)
{
	column->integers[column->rows] = value;
	if (value < column->low)
		column->low = value;
	if (value > column->high)
		column->high = value;
}

static void add_null(struct column *column)
{
	if (column->codes != NULL)
		column->codes[column->rows] = 0;
	else
		column->nulls[column->rows / BITS] |= UINT64_C(1) << column->rows % BITS;
}

static int add_code(struct column *column, const char *s, size_t len)
{
	if (column->verdict.missing)
		chars_trim(&s, &len);
	column->codes[column->rows] = add_text(&column->texts, s, len);
	return column->codes[column->rows] != 0 ? 0 : -1;
}

int column_add(struct column *column, const struct csv_field *field, struct err *err)
{
	if (is_missing(column, field)) {
		add_null(column);
	} else if (column->verdict.type == INFER_TYPE_BOOLEAN) {
		add_integer(column, infer_boolean(field->s, field->len));
	} else if (column->integers != NULL) {
		add_integer(column, infer_integer(field->s, field->len));
	} else if (column->reals != NULL) {
		column->reals[column->rows] =
			infer_real(field->s, field->len, column->verdict.comma ? ',' : '.');
	} else if (add_code(column, field->s, field->len) < 0) {
		return column_fail_memory(err);
	}
	column->rows++;
	return 0;
}

void column_finish(struct column *column)
{
	column->loaded = true;
}

/* ---- one value ---- */

bool column_range(const struct column *column, double *ret_low, double *ret_high)
{
	*ret_low = INFINITY;
	*ret_high = -INFINITY;
	for (size_t row = 0; column->loaded && column->codes == NULL && row < column->rows; row++) {
		double value;

		if (column_is_null(column, row))
			continue;
		value = column->integers != NULL ? (double)column->integers[row]
						 : column->reals[row];
		*ret_low = fmin(*ret_low, value);
		*ret_high = fmax(*ret_high, value);
	}
	return *ret_low <= *ret_high;
}

bool column_is_null(const struct column *column, size_t row)
{
	if (column->codes != NULL)
		return column->codes[row] == 0;
	return (column->nulls[row / BITS] >> row % BITS & 1) != 0;
}

const char *column_text(const struct column *column, size_t row, size_t *ret_len)
{
	return text_of(&column->texts, column->codes[row], ret_len);
}

void column_expect(const struct column *column, size_t row)
{
	if (column->codes != NULL) {
		__builtin_prefetch(&column->codes[row]);
		return;
	}
	__builtin_prefetch(&column->nulls[row / BITS]);
	if (column->integers != NULL)
		__builtin_prefetch(&column->integers[row]);
	else
		__builtin_prefetch(&column->reals[row]);
}

void column_result(const struct column *column, size_t row, sqlite3_context *context)
{
	if (column_is_null(column, row)) {
		sqlite3_result_null(context);
	} else if (column->integers != NULL) {
		sqlite3_result_int64(context, column->integers[row]);
	} else if (column->reals != NULL) {
		sqlite3_result_double(context, column->reals[row]);
	} else {
		size_t len;
		const char *s = column_text(column, row, &len);

		sqlite3_result_text(context, s, (int)len, SQLITE_STATIC);
	}
}

static int compare_texts(const struct column_texts *texts, uint32_t a, uint32_t b)
{
	size_t a_len;
	size_t b_len;
	const char *a_text = text_of(texts, a, &a_len);
	const char *b_text = text_of(texts, b, &b_len);
	int result = memcmp(a_text, b_text, size_min(a_len, b_len));

	return result != 0 ? result : (a_len > b_len) - (a_len < b_len);
}

int column_compare(const struct column *column, size_t a, size_t b)
{
	bool a_null = column_is_null(column, a);
	bool b_null = column_is_null(column, b);

	if (a_null || b_null)
		return b_null - a_null;
	if (column->integers != NULL)
		return (column->integers[a] > column->integers[b]) -
		       (column->integers[a] < column->integers[b]);
	if (column->reals != NULL)
		return (column->reals[a] > column->reals[b]) -
		       (column->reals[a] < column->reals[b]);
	return compare_texts(&column->texts, column->codes[a], column->codes[b]);
}

static int compare_codes(const void *a, const void *b, void *texts)
{
	return compare_texts(texts, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* Sets, for each text's code, how many texts are less. */
static size_t rank_texts(const struct column_texts *texts, uint32_t **ret_ranks)
{
	size_t size = (texts->count + 1) * sizeof(uint32_t);
	uint32_t *ranks = sqlite3_malloc64(size);
	uint32_t *sorted = sqlite3_malloc64(size);

	if (ranks == NULL || sorted == NULL) {
		sqlite3_free(ranks);
		sqlite3_free(sorted);
		return 0;
	}
	for (uint32_t i = 0; i < texts->count; i++)
		sorted[i] = i + 1;
	qsort_r(sorted, texts->count, sizeof(*sorted), compare_codes, (void *)(uintptr_t)texts);
	ranks[0] = 0;
	for (uint32_t i = 0; i < texts->count; i++)
		ranks[sorted[i]] = i + 1;
	sqlite3_free(sorted);
	*ret_ranks = ranks;
	return texts->count + 1;
}

size_t column_ranks(const struct column *column, uint32_t **ret_ranks)
{
	*ret_ranks = NULL;
	if (column->codes != NULL)
		return is_shared(&column->texts) ? rank_texts(&column->texts, ret_ranks) : 0;
	if (column->integers == NULL)
		return 0;
	if (column->low > column->high)
		return 1;
	if ((uint64_t)column->high - (uint64_t)column->low >= COLUMN_SPREAD_MAX)
		return 0;
	return (size_t)((uint64_t)column->high - (uint64_t)column->low) + 2;
}

uint32_t column_rank(const struct column *column, const uint32_t *ranks, size_t row)
{
	if (ranks != NULL)
		return ranks[column->codes[row]];
	if (column_is_null(column, row))
		return 0;
	return (uint32_t)((uint64_t)column->integers[row] - (uint64_t)column->low) + 1;
}
