/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "golden.h"
#include "text/status_line.h"
#include "text/utf8.h"

/* A case is lines of KEY=VALUE; `change` ("+ 18000 path") and `name` may come several times. */
enum { CHANGES_MAX = 32 };

struct parsed {
	struct status status;
	struct status_change changes[CHANGES_MAX];
	struct buf names;
};

static bool update;

static void add_change(struct parsed *p, const char *value)
{
	struct status_change *change = &p->changes[p->status.change_count++];
	char *rest;

	change->kind = value[0];
	change->size = strtoull(value + 2, &rest, 10);
	change->path = rest + 1;
}

static void set_output(struct parsed *p, char *value)
{
	char *rest;

	p->status.output_shown = strtoul(value, &rest, 10);
	p->status.output_total = strtoul(rest, &rest, 10);
	p->status.output_path = *rest == ' ' ? rest + 1 : NULL;
}

static void set_field(struct parsed *p, const char *key, char *value)
{
	if (str_eq(key, "id"))
		p->status.id = value;
	else if (str_eq(key, "cell"))
		p->status.cell = strtoull(value, NULL, 10);
	else if (str_eq(key, "state"))
		p->status.state = value;
	else if (str_eq(key, "seconds"))
		p->status.seconds = strtod(value, NULL);
	else if (str_eq(key, "exit"))
		p->status.exit_code = (int)strtol(value, NULL, 10);
	else if (str_eq(key, "change"))
		add_change(p, value);
	else if (str_eq(key, "name"))
		buf_putf(&p->names, "%s\n", value);
	else if (str_eq(key, "cwd"))
		p->status.cwd = value;
	else if (str_eq(key, "output"))
		set_output(p, value);
	else if (str_eq(key, "background"))
		p->status.background_chars = strtoul(value, NULL, 10);
	else if (str_eq(key, "children"))
		p->status.children = (int)strtol(value, NULL, 10);
	else if (str_eq(key, "saved"))
		p->status.saved = value;
	else if (str_eq(key, "saving"))
		p->status.saved = value;
	else if (str_eq(key, "try"))
		p->status.try_call = value;
	else
		fail_msg("no such key: %s", key);
	p->status.has_exit_code |= str_eq(key, "exit");
}

static void render(const char *in, size_t len, struct buf *out)
{
	cleanup_free char *copy = xmemdup(in, len);
	struct parsed p = { 0 };
	char *line;
	char *rest = copy;

	buf_init(&p.names, BUF_UNBOUNDED);
	while ((line = strsep(&rest, "\n")) != NULL) {
		char *value = strchr(line, '=');

		if (value == NULL)
			continue;
		*value = '\0';
		set_field(&p, line, value + 1);
	}
	p.status.changes = p.changes;
	p.status.names = p.names.data;
	status_write(out, &p.status);
	buf_puts(out, "\n");
	buf_release(&p.names);
}

static void golden_lines_follow_the_grammar(void **state)
{
	(void)state;
	golden_each("status", render, update);
}

static void sizes_are_short(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{ 0, "0 B" },
		{ 950, "950 B" },
		{ 1023, "1023 B" },
		{ 1024, "1.0 KB" },
		{ 10188, "9.9 KB" },
		{ 10189, "10 KB" },
		{ 18000, "18 KB" },
		{ 1023487, "999 KB" },
		{ 1023488, "1.0 MB" },
		{ 3400000, "3.2 MB" },
		{ 4294967296, "4.0 GB" },
		{ 4000000000000, "3.6 TB" },
		{ UINT64_MAX, "16777216 TB" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out;

		buf_init(&out, 100);
		status_size(&out, rows[i].bytes);
		assert_string_equal(buf_str(&out), rows[i].text);
	}
}

static void what_exceeds_a_limit_reads_like_more(void **state)
{
	static const struct {
		uint64_t bytes;
		uint64_t limit;
		const char *text;
	} rows[] = {
		{ 57 << 20, 40 << 20, "57 MB, more than the limit of 40 MB" },
		{ (40 << 20) + 1, 40 << 20, "40.1 MB, more than the limit of 40 MB" },
		{ (40 << 20) + 300000, 40 << 20, "40.3 MB, more than the limit of 40 MB" },
		{ 41628467, 41523610, "40.1 MB, more than the limit of 40 MB" }, /* 39.7, 39.6 */
		{ (4ULL << 30) + 1, 4ULL << 30, "4.01 GB, more than the limit of 4.0 GB" },
		{ (4ULL << 30) + 40000000, 4ULL << 30, "4.04 GB, more than the limit of 4.0 GB" },
		{ 951, 950, "951 B, more than the limit of 950 B" },
		{ 1025, 1024, "1.01 KB, more than the limit of 1.0 KB" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

		status_excess(&out, rows[i].bytes, rows[i].limit);
		assert_string_equal(buf_str(&out), rows[i].text);
	}
}

static void seconds_have_three_digits(void **state)
{
	static const struct {
		double seconds;
		const char *line;
	} rows[] = {
		{ 0, "[s#1 done 0.00 s]" },     { -1, "[s#1 done 0.00 s]" },
		{ 0.416, "[s#1 done 0.42 s]" }, { 9.994, "[s#1 done 9.99 s]" },
		{ 9.996, "[s#1 done 10.0 s]" }, { 99.94, "[s#1 done 99.9 s]" },
		{ 99.96, "[s#1 done 100 s]" },  { 86400, "[s#1 done 86400 s]" },
		{ 0.004, "[s#1 done 0.00 s]" }, { 0.006, "[s#1 done 0.01 s]" },
		{ 1.05, "[s#1 done 1.05 s]" },  { INFINITY, "[s#1 done 1000000000000000 s]" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct status status = {
			.id = "s", .cell = 1, .state = "done", .seconds = rows[i].seconds
		};
		cleanup_buf struct buf out;

		buf_init(&out, 100);
		status_write(&out, &status);
		assert_string_equal(buf_str(&out), rows[i].line);
	}
}

static void names_of_a_megabyte_leave_a_short_line(void **state)
{
	const size_t len = 1 << 20;
	cleanup_free char *name = xcalloc(len + 1, 1);
	const struct status_change change = { '+', name, 1 };
	const struct status status = { .id = name,
				       .state = name,
				       .changes = &change,
				       .change_count = 1,
				       .names = name,
				       .cwd = name,
				       .output_total = 1,
				       .output_path = name,
				       .saved = name,
				       .try_call = name };
	cleanup_buf struct buf out;

	(void)state;
	memset(name, ']', len);
	buf_init(&out, BUF_UNBOUNDED);
	status_write(&out, &status);
	assert_in_range(out.len, 1000, 3000);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_lines_follow_the_grammar),
		cmocka_unit_test(sizes_are_short),
		cmocka_unit_test(what_exceeds_a_limit_reads_like_more),
		cmocka_unit_test(seconds_have_three_digits),
		cmocka_unit_test(names_of_a_megabyte_leave_a_short_line),
	};

	update = golden_wants_update(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
