/* SPDX-License-Identifier: MIT */
/*
 * functions.c - sums with SQLite's results that remember the texts they counted as numbers.
 *
 * SQLite adds a text as the number that it begins with, or as 0, without a warning. The memory is
 * global: one process runs one query at a time. Sums are compensated (Neumaier), as SQLite's are
 * from 3.43 on, and work in windows. REGEXP translates Perl's escapes, which models write, to
 * POSIX.
 */
#include "functions.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/util.h"
#include "series.h"
#include "sqlite.h"
#include "text/sanitize.h"

enum { SAMPLE_MAX = 40, PATTERN_MAX = 1000, VALUES_FIRST = 64 };

static struct {
	const char *function; /* the first that added texts that are not numbers */
	const char *other;    /* another one, which often adds the same texts */
	uint64_t texts;       /* those that the first one added */
	char sample[SAMPLE_MAX];
} doubt;

void functions_begin(void)
{
	doubt.function = NULL;
	doubt.other = NULL;
	doubt.texts = 0;
}

void functions_report(struct sink *sink)
{
	cleanup_buf struct buf sample = BUF_INIT(BUF_UNBOUNDED);

	if (doubt.texts == 0)
		return;
	sanitize_line(&sample, doubt.sample, strlen(doubt.sample), SAMPLE_MAX);
	sink_note(sink, "%s counted %ju %s, each as the digits it begins with or as 0 ('%s')%s%s%s",
		  doubt.function, (uintmax_t)doubt.texts,
		  doubt.texts == 1 ? "text that is not a number" : "texts that are not numbers",
		  buf_str(&sample), doubt.other != NULL ? "; " : "",
		  doubt.other != NULL ? doubt.other : "",
		  doubt.other != NULL ? " does so, too" : "");
}

/* Returns the value's type as a number, and remembers a text that is not one. */
static int number_type(sqlite3_value *value, const char *function)
{
	int type = sqlite3_value_numeric_type(value);
	const char *text;

	if (type != SQLITE_TEXT && type != SQLITE_BLOB)
		return type;
	if (doubt.function != NULL && strcmp(doubt.function, function) != 0) {
		doubt.other = function;
		return SQLITE_FLOAT;
	}
	text = (const char *)sqlite3_value_text(value);
	if (doubt.texts++ == 0) {
		doubt.function = function;
		(void)snprintf(doubt.sample, sizeof(doubt.sample), "%s", text != NULL ? text : "");
	}
	return SQLITE_FLOAT;
}

/* ---- sum, total, avg ---- */

struct sum {
	double real;   /* sum of the finite values */
	double error;  /* to be added: what rounding took (Neumaier) */
	int64_t rises; /* count of infinite values */
	int64_t falls; /* count of negative infinite values */
	int64_t integer;
	int64_t count;
	bool inexact; /* a value was not an integer: the sum is real */
	bool overflow;
};

static const char *name_of(sqlite3_context *context)
{
	return sqlite3_user_data(context);
}

/* Adds a value, or with its sign changed one that leaves a window. */
static void add_real(struct sum *sum, double value)
{
	double whole = sum->real + value;

	if (fabs(sum->real) >= fabs(value))
		sum->error += (sum->real - whole) + value;
	else
		sum->error += (value - whole) + sum->real;
	sum->real = whole;
}

/* Counts a value: `times` is 1 for one that enters, -1 for one that leaves a window. */
static void count_real(struct sum *sum, double value, int times)
{
	if (!isinf(value))
		add_real(sum, times * value);
	else if (value > 0)
		sum->rises += times;
	else
		sum->falls += times;
}

static double real_of(const struct sum *sum)
{
	if (sum->rises > 0 || sum->falls > 0)
		return (sum->rises > 0 ? (double)INFINITY : 0) -
		       (sum->falls > 0 ? (double)INFINITY : 0);
	return isfinite(sum->real) ? sum->real + sum->error : sum->real;
}

static void sum_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct sum *sum = sqlite3_aggregate_context(context, sizeof(*sum));
	int type = sqlite3_value_type(values[0]);

	(void)count;
	if (sum == NULL || type == SQLITE_NULL)
		return;
	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		type = number_type(values[0], name_of(context));
	sum->count++;
	if (type != SQLITE_INTEGER) {
		count_real(sum, sqlite3_value_double(values[0]), 1);
		sum->inexact = true;
		return;
	}
	add_real(sum, (double)sqlite3_value_int64(values[0]));
	if (__builtin_add_overflow(sum->integer, sqlite3_value_int64(values[0]), &sum->integer))
		sum->overflow = true;
}

/* Removes a value that leaves a window. */
static void sum_inverse(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct sum *sum = sqlite3_aggregate_context(context, sizeof(*sum));

	(void)count;
	if (sum == NULL || sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	sum->count--;
	if (sqlite3_value_numeric_type(values[0]) != SQLITE_INTEGER) {
		count_real(sum, sqlite3_value_double(values[0]), -1);
		return;
	}
	add_real(sum, -(double)sqlite3_value_int64(values[0]));
	if (__builtin_sub_overflow(sum->integer, sqlite3_value_int64(values[0]), &sum->integer))
		sum->overflow = true;
}

static void sum_value(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	if (sum == NULL || sum->count == 0)
		sqlite3_result_null(context);
	else if (sum->inexact)
		sqlite3_result_double(context, real_of(sum));
	else if (sum->overflow)
		sqlite3_result_error(context, "integer overflow", -1);
	else
		sqlite3_result_int64(context, sum->integer);
}

static void total_value(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	sqlite3_result_double(context, sum != NULL ? real_of(sum) : 0);
}

static void avg_value(sqlite3_context *context)
{
	const struct sum *sum = sqlite3_aggregate_context(context, 0);

	if (sum == NULL || sum->count == 0)
		sqlite3_result_null(context);
	else
		sqlite3_result_double(context, real_of(sum) / (double)sum->count);
}

/* ---- median and its like ---- */

struct values {
	double *numbers;
	size_t count;
	size_t cap;
	double part; /* 0 to 1 */
	bool failed;
};

static int fail_part(sqlite3_context *context, double most)
{
	char message[80];

	(void)snprintf(message, sizeof(message),
		       "%s needs a number from 0 to %g as its second value", name_of(context),
		       most);
	sqlite3_result_error(context, message, -1);
	return -1;
}

/* Reads the second argument, which is the same for each row. */
static int take_part(sqlite3_context *context, struct values *values, sqlite3_value *value)
{
	double most = str_eq(name_of(context), "percentile") ? 100 : 1;
	double part = sqlite3_value_double(value);

	if (sqlite3_value_numeric_type(value) != SQLITE_INTEGER &&
	    sqlite3_value_numeric_type(value) != SQLITE_FLOAT)
		return fail_part(context, most);
	if (!(part >= 0 && part <= most))
		return fail_part(context, most);
	values->part = part / most;
	return 0;
}

static void values_step(sqlite3_context *context, int count, sqlite3_value **arguments)
{
	struct values *values = sqlite3_aggregate_context(context, sizeof(*values));

	if (values == NULL || values->failed)
		return;
	values->part = 0.5;
	if (count == 2 && take_part(context, values, arguments[1]) < 0) {
		values->failed = true;
		return;
	}
	if (sqlite3_value_type(arguments[0]) == SQLITE_NULL)
		return;
	(void)number_type(arguments[0], name_of(context));
	if (values->count == values->cap) {
		size_t cap = values->cap == 0 ? VALUES_FIRST : 2 * values->cap;
		double *more = sqlite3_realloc64(values->numbers, cap * sizeof(*more));

		if (more == NULL) {
			sqlite3_result_error_nomem(context);
			values->failed = true;
			return;
		}
		values->numbers = more;
		values->cap = cap;
	}
	values->numbers[values->count++] = sqlite3_value_double(arguments[0]);
}

static int compare_numbers(const void *a, const void *b)
{
	double first = *(const double *)a;
	double second = *(const double *)b;

	return (first > second) - (first < second);
}

static double part_of(const struct values *values, bool between)
{
	double place = values->part * (double)(values->count - 1);
	size_t at = (size_t)place;
	double rest = place - (double)at;

	if (!between) {
		double rank = ceil(values->part * (double)values->count);

		return values->numbers[rank < 1 ? 0 : (size_t)rank - 1];
	}
	if (rest == 0 || at + 1 == values->count)
		return values->numbers[at];
	return values->numbers[at] + rest * (values->numbers[at + 1] - values->numbers[at]);
}

static void values_final(sqlite3_context *context)
{
	struct values *values = sqlite3_aggregate_context(context, 0);

	if (values == NULL)
		return;
	if (!values->failed && values->count > 0) {
		qsort(values->numbers, values->count, sizeof(double), compare_numbers);
		sqlite3_result_double(
			context, part_of(values, !str_eq(name_of(context), "percentile_disc")));
	}
	sqlite3_free(values->numbers);
	values->numbers = NULL;
}

/* ---- stddev ---- */

/* Welford's algorithm, which loses no digits. */
struct spread {
	double mean;
	double squares;
	int64_t count;
};

static void spread_step(sqlite3_context *context, int count, sqlite3_value **values)
{
	struct spread *spread = sqlite3_aggregate_context(context, sizeof(*spread));
	double value;
	double delta;

	(void)count;
	if (spread == NULL || sqlite3_value_type(values[0]) == SQLITE_NULL)
		return;
	(void)number_type(values[0], name_of(context));
	value = sqlite3_value_double(values[0]);
	spread->count++;
	delta = value - spread->mean;
	spread->mean += delta / (double)spread->count;
	spread->squares += delta * (value - spread->mean);
}

static void spread_final(sqlite3_context *context)
{
	const struct spread *spread = sqlite3_aggregate_context(context, 0);

	if (spread != NULL && spread->count > 1)
		sqlite3_result_double(context, sqrt(spread->squares / (double)(spread->count - 1)));
}

/* ---- REGEXP ---- */

/* Perl's escapes that POSIX lacks: alone and within a set. NULL: impossible there. */
static const struct {
	char letter;
	const char *alone;
	const char *in_set;
} escapes[] = {
	{ 'd', "[0-9]", "0-9" },
	{ 'D', "[^0-9]", NULL },
	{ 's', "[[:space:]]", "[:space:]" },
	{ 'S', "[^[:space:]]", NULL },
	{ 'w', "[[:alnum:]_]", "[:alnum:]_" },
	{ 'W', "[^[:alnum:]_]", NULL },
	{ 'b', "\\b", NULL },
	{ 'B', "\\B", NULL },
	{ 'A', "^", NULL },
	{ 'Z', "$", NULL },
	{ 'z', "$", NULL },
	{ 't', "\t", "\t" },
	{ 'n', "\n", "\n" },
	{ 'r', "\r", "\r" },
};

/* Returns false for a letter without a meaning here. */
static bool put_escape(struct buf *out, char escaped, bool in_set)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++) {
		const char *text = in_set ? escapes[i].in_set : escapes[i].alone;

		if (escapes[i].letter != escaped)
			continue;
		if (text != NULL)
			buf_puts(out, text);
		return text != NULL;
	}
	if (isalpha((unsigned char)escaped))
		return false;
	/* Within a set, POSIX takes a backslash as itself. */
	buf_putf(out, in_set ? "[.%c.]" : "\\%c", escaped);
	return true;
}

/* Returns the pattern for POSIX, or NULL when POSIX cannot express it. The caller frees it. */
static char *posix_pattern(const char *pattern)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	bool in_set = false;

	for (const char *s = pattern; *s != '\0'; s++) {
		if (*s == '\\' && s[1] != '\0') {
			if (!put_escape(&out, *++s, in_set))
				return NULL;
			continue;
		}
		in_set = *s == '[' || (in_set && *s != ']');
		buf_put_char(&out, *s);
	}
	return buf_steal(&out);
}

static void free_regex(void *regex)
{
	regfree(regex);
	free(regex);
}

static regex_t *make_regex(sqlite3_context *context, sqlite3_value *pattern)
{
	const char *text = (const char *)sqlite3_value_text(pattern);
	cleanup_free char *posix = NULL;
	regex_t *regex;

	if (text == NULL || strlen(text) > PATTERN_MAX) {
		sqlite3_result_error(context, "the pattern of REGEXP is too long", -1);
		return NULL;
	}
	posix = posix_pattern(text);
	regex = xcalloc(1, sizeof(*regex));
	if (posix == NULL || regcomp(regex, posix, REG_EXTENDED | REG_NOSUB) != 0) {
		free(regex);
		sqlite3_result_error(context,
				     "the pattern of REGEXP is no extended regular expression", -1);
		return NULL;
	}
	return regex;
}

/* Implements regexp(pattern, text), which is text REGEXP pattern. */
static void match(sqlite3_context *context, int count, sqlite3_value **values)
{
	regex_t *regex = sqlite3_get_auxdata(context, 0);
	bool made = regex == NULL;
	const char *text;

	(void)count;
	if (sqlite3_value_type(values[0]) == SQLITE_NULL ||
	    sqlite3_value_type(values[1]) == SQLITE_NULL)
		return;
	if (made)
		regex = make_regex(context, values[0]);
	if (regex == NULL)
		return;
	text = (const char *)sqlite3_value_text(values[1]);
	sqlite3_result_int(context, regexec(regex, text != NULL ? text : "", 0, NULL, 0) == 0);
	if (made)
		sqlite3_set_auxdata(context, 0, regex, free_regex);
}

/* ---- all of them ---- */

enum { PURE = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS };

static int register_sums(sqlite3 *db)
{
	static const struct {
		const char *name;
		void (*value)(sqlite3_context *context);
	} sums[] = { { "sum", sum_value }, { "total", total_value }, { "avg", avg_value } };
	int result = SQLITE_OK;

	for (size_t i = 0; result == SQLITE_OK && i < ARRAY_SIZE(sums); i++)
		result = sqlite3_create_window_function(
			db, sums[i].name, 1, PURE, (void *)(uintptr_t)sums[i].name, sum_step,
			sums[i].value, sums[i].value, sum_inverse, NULL);
	return result;
}

static int register_aggregates(sqlite3 *db)
{
	static const struct {
		const char *name;
		int arguments;
		void (*step)(sqlite3_context *context, int count, sqlite3_value **values);
		void (*final)(sqlite3_context *context);
	} aggregates[] = {
		{ "median", 1, values_step, values_final },
		{ "percentile", 2, values_step, values_final },
		{ "percentile_cont", 2, values_step, values_final },
		{ "percentile_disc", 2, values_step, values_final },
		{ "stddev", 1, spread_step, spread_final },
	};
	int result = SQLITE_OK;

	for (size_t i = 0; result == SQLITE_OK && i < ARRAY_SIZE(aggregates); i++)
		result = sqlite3_create_function_v2(db, aggregates[i].name, aggregates[i].arguments,
						    PURE, (void *)(uintptr_t)aggregates[i].name,
						    NULL, aggregates[i].step, aggregates[i].final,
						    NULL);
	return result;
}

int functions_register(sqlite3 *db, struct err *err)
{
	if (register_sums(db) != SQLITE_OK || register_aggregates(db) != SQLITE_OK ||
	    sqlite3_create_function_v2(db, "regexp", 2, PURE, NULL, match, NULL, NULL, NULL) !=
		    SQLITE_OK ||
	    series_register(db) != SQLITE_OK)
		return sqlite_fail(db, err);
	return 0;
}
