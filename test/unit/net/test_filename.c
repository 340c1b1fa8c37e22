/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/util.h"
#include "net/filename.h"

static void expect(char *name_own, const char *expected)
{
	if (expected == NULL)
		assert_null(name_own);
	else if (name_own == NULL)
		fail_msg("no name instead of '%s'", expected);
	else
		assert_string_equal(name_own, expected);
	mem_cleanup(&name_own);
}

struct row {
	const char *text;
	const char *name; /* NULL: none */
};

/* CB-04, CB-05. */
static const struct row paths[] = {
	{ "/data.csv", "data.csv" },
	{ "/a/b/data%20set.csv", "data set.csv" },
	{ "/a/", NULL },
	{ "/", NULL },
	{ "", NULL },
	{ "/..", NULL },
	{ "/.", NULL },
	{ "/%2e%2e", NULL },
	{ "/%00", NULL },
	{ "/a%00.csv", NULL },
	{ "/..%2f..%2fetc%2fpasswd", "passwd" },
	{ "/..%5c..%5cboot.ini", "boot.ini" },
	{ "/C:%5Ctemp%5Cx.csv", "x.csv" },
	{ "/.bashrc", "bashrc" },
	{ "/...", NULL },
	{ "/a%0ab%1b[2J.csv", "a_b_[2J.csv" },
	{ "/gpj%E2%80%AE.exe", "gpj_.exe" },
	{ "/%94%84.csv", "file-368dee2b.csv" },
	{ "/%94%85.csv", "file-fdaea1ec.csv" },
	{ "/%FFx.%FF", "file-9157b861.\357\277\275" },
	{ "/%FF", "file-7a0b824e" },
	{ "/%94.%FF%FF%FF%FF%FF%FF%FF", "file-73f7f78a" },
	{ "/%C3%A9t%C3%A9.csv", "\303\251t\303\251.csv" },
	{ "/a:b*c?d\"e<f>g|h.txt", "a_b_c_d_e_f_g_h.txt" },
	{ "/name.csv.", "name.csv" },
	{ "/%20%20", NULL },
	{ "/100%.csv", "100%.csv" },
};

static void a_path_gives_its_last_part_made_safe(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		print_message("%s\n", paths[i].text);
		expect(filename_from_path(paths[i].text), paths[i].name);
	}
}

/* RFC 6266, RFC 8187, and what servers make of them. */
static const struct row fields[] = {
	{ "attachment; filename=\"data.csv\"", "data.csv" },
	{ "attachment; filename=data.csv", "data.csv" },
	{ "ATTACHMENT ; FileName = \"data.csv\" ; size=5", "data.csv" },
	{ "attachment; filename=my data.csv; x=1", "my data.csv" },
	{ "attachment; filename=\"a;b.csv\"", "a;b.csv" },
	{ "attachment; filename=\"a\\\"b.csv\"", "a_b.csv" },
	{ "attachment; filename=\"C:\\temp\\x.csv\"", "x.csv" },
	{ "attachment; filename=\"plain.csv\"; filename*=UTF-8''%e2%82%ac%20rates.csv",
	  "\342\202\254 rates.csv" },
	{ "attachment; filename*=UTF-8''first.csv; filename=\"plain.csv\"", "first.csv" },
	{ "attachment; filename*=iso-8859-1'en'%A3%20rates.csv", "\302\243 rates.csv" },
	{ "attachment; filename*=Shift_JIS''%94%84%8F%E3.csv", "\345\243\262\344\270\212.csv" },
	{ "attachment; filename*=gb18030'zh'%CA%FD%BE%DD.csv", "\346\225\260\346\215\256.csv" },
	{ "attachment; filename*=no-such-charset''%e9.csv; filename=y", "\303\251.csv" },
	{ "attachment; filename*=utf-8//IGNORE''%e9.csv", "\303\251.csv" },
	{ "attachment; filename=\"=?Shift_JIS?B?lISP4w==?=.csv\"", "\345\243\262\344\270\212.csv" },
	{ "attachment; filename=\"=?utf-8*de?Q?M=C3=BCller_?= =?iso-8859-1?q?=FC.csv?=\"",
	  "M\303\274ller \303\274.csv" },
	{ "attachment; filename=\"=?utf-8?X?a?=.csv\"", "=_utf-8_X_a_=.csv" },
	{ "attachment; filename*=UTF-8''..%2F..%2Fx; filename=y", "x" },
	{ "attachment; filename*=broken; filename=\"plain.csv\"", "plain.csv" },
	{ "attachment; filename*=UTF-8''%00; filename=\"plain.csv\"", "plain.csv" },
	{ "attachment; filename=\"\303\251.csv\"", "\303\251.csv" },
	{ "attachment; filename=\"\351.csv\"", "\303\251.csv" },
	{ "attachment; filename=\"../../etc/passwd\"", "passwd" },
	{ "attachment; filename=\"/etc/passwd\"", "passwd" },
	{ "attachment; filename=\"..\"", NULL },
	{ "attachment; filename=\"\"", NULL },
	{ "attachment; filename=", NULL },
	{ "attachment; filename=\"open", "open" },
	{ "filename=\"alone.csv\"", "alone.csv" },
	{ "inline", NULL },
	{ "", NULL },
	{ ";;;=;\"", NULL },
	{ "attachment; filename=a; filename=b", "a" },
};

static void a_field_gives_the_name_that_the_server_means(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		print_message("%s\n", fields[i].text);
		expect(filename_from_disposition(fields[i].text, strlen(fields[i].text)),
		       fields[i].name);
	}
}

static void a_field_with_a_nul_gives_no_name(void **state)
{
	static const char quoted[] = "attachment; filename=\"a\0b\"";
	static const char extended[] = "attachment; filename*=UTF-8''a\0b";

	(void)state;
	assert_null(filename_from_disposition(quoted, sizeof(quoted) - 1));
	assert_null(filename_from_disposition(extended, sizeof(extended) - 1));
}

static void a_field_without_end_gives_no_name(void **state)
{
	char field[FILENAME_HEADER_MAX + 2];

	(void)state;
	memset(field, 'a', sizeof(field));
	memcpy(field, "filename=", 9);
	assert_null(filename_from_disposition(field, sizeof(field) - 1));
}

static void a_long_name_is_cut_between_characters_and_keeps_its_extension(void **state)
{
	char name[600];
	size_t len = 0;
	char *safe;

	(void)state;
	while (len < 500) {
		memcpy(name + len, "\303\251", 2);
		len += 2;
	}
	memcpy(name + len, ".csv", 5);
	safe = filename_make_safe(name, len + 4);
	assert_int_equal(strlen(safe), FILENAME_MAX_LEN);
	assert_string_equal(safe + FILENAME_MAX_LEN - 6, "\303\251.csv");
	mem_cleanup(&safe);
	memset(name, 'x', sizeof(name));
	name[3] = '.';
	safe = filename_make_safe(name, sizeof(name));
	assert_int_equal(strlen(safe), FILENAME_MAX_LEN);
	mem_cleanup(&safe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_gives_its_last_part_made_safe),
		cmocka_unit_test(a_field_gives_the_name_that_the_server_means),
		cmocka_unit_test(a_field_with_a_nul_gives_no_name),
		cmocka_unit_test(a_field_without_end_gives_no_name),
		cmocka_unit_test(a_long_name_is_cut_between_characters_and_keeps_its_extension),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
