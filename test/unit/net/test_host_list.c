/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/host.h"
#include "net/host_list.h"

#define L63 "a23456789-b23456789-c23456789-d23456789-e23456789-f23456789-g23"

struct host_row {
	const char *name;
	const char *text;
	size_t len;            /* 0: that of the string */
	const char *canonical; /* NULL: refused */
};

/* Sandbox test 49. */
static const struct host_row host_rows[] = {
	{ "a plain name", "index.example", 0, "index.example" },
	{ "upper case", "Index.EXAMPLE", 0, "index.example" },
	{ "one trailing dot", "index.example.", 0, "index.example" },
	{ "an A-label", "xn--bcher-kva.example", 0, "xn--bcher-kva.example" },
	{ "one label", "intranet", 0, "intranet" },
	{ "a number inside", "3.index.example", 0, "3.index.example" },
	{ "a label that only begins as a number", "1.2.3.4a", 0, "1.2.3.4a" },
	{ "63 characters in a label", L63 ".example", 0, L63 ".example" },
	{ "nothing", "", 0, NULL },
	{ "a dot", ".", 0, NULL },
	{ "two trailing dots", "index.example..", 0, NULL },
	{ "an empty label", "index..example", 0, NULL },
	{ "a leading dot", ".index.example", 0, NULL },
	{ "64 characters in a label", L63 "x.example", 0, NULL },
	{ "a hyphen in front", "-a.example", 0, NULL },
	{ "a hyphen behind", "a-.example", 0, NULL },
	{ "an underscore", "a_b.example", 0, NULL },
	{ "NUL inside", "evil.example\0.ok.example", 24, NULL },
	{ "CR LF inside", "ok.example\r\nHost", 0, NULL },
	{ "a percent escape", "ok%2eexample", 0, NULL },
	{ "a zone", "fe80::1%eth0", 0, NULL },
	{ "a fragment", "evil.example#.ok.example", 0, NULL },
	{ "userinfo", "ok.example@evil.example", 0, NULL },
	{ "a backslash", "evil.example\\.ok.example", 0, NULL },
	{ "a blank", "ok.example ", 0, NULL },
	{ "Unicode",
	  "b\xc3\xbc"
	  "cher.example",
	  0, NULL },
	{ "a full stop of another script",
	  "ok\xe3\x80\x82"
	  "example",
	  0, NULL },
	{ "dotted", "127.0.0.1", 0, NULL },
	{ "dotted with a trailing dot", "127.0.0.1.", 0, NULL },
	{ "short", "127.1", 0, NULL },
	{ "decimal", "2130706433", 0, NULL },
	{ "octal", "0177.0.0.01", 0, NULL },
	{ "hexadecimal", "0x7f000001", 0, NULL },
	{ "hexadecimal part", "127.0.0.0x1", 0, NULL },
	{ "an empty hexadecimal number", "a.0x", 0, NULL },
	{ "mixed", "0X7F.1", 0, NULL },
	{ "version 6", "[::1]", 0, NULL },
	{ "version 6 without brackets", "::1", 0, NULL },
	{ "v4-mapped", "[::ffff:127.0.0.1]", 0, NULL },
};

static void a_name_has_one_form_or_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(host_rows); i++) {
		const struct host_row *row = &host_rows[i];
		size_t len = row->len > 0 ? row->len : strlen(row->text);
		char host[HOST_MAX + 1] = "untouched";
		struct err err = { .code = ERR_NONE };
		int result = host_canonicalise(row->text, len, host, &err);

		print_message("%s\n", row->name);
		assert_int_equal(result, row->canonical != NULL ? 0 : -1);
		assert_string_equal(host, row->canonical != NULL ? row->canonical : "untouched");
		assert_int_equal(err.code, row->canonical != NULL ? ERR_NONE : ERR_INVALID);
	}
}

static void a_name_of_300_bytes_is_refused(void **state)
{
	char text[300];
	char host[HOST_MAX + 1];
	struct err err;

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i % 20 == 19 ? '.' : 'a';
	assert_int_equal(host_canonicalise(text, 300, host, &err), -1);
	assert_int_equal(host_canonicalise(text, 253, host, &err), 0);
	assert_int_equal(host_canonicalise(text, 254, host, &err), -1);
}

static void an_authority_is_a_host_and_a_port(void **state)
{
	static const struct {
		const char *text;
		uint16_t fallback;
		uint16_t port; /* 0: refused */
	} rows[] = {
		{ "a.example:443", 0, 443 },  { "a.example:65535", 0, 65535 },
		{ "a.example", 80, 80 },      { "A.example.:8080", 80, 8080 },
		{ "a.example", 0, 0 },        { "a.example:", 80, 0 },
		{ "a.example:0", 80, 0 },     { "a.example:65536", 80, 0 },
		{ "a.example:0443", 80, 0 },  { "a.example:+443", 80, 0 },
		{ "a.example:443 ", 80, 0 },  { "a.example:4294967739", 80, 0 },
		{ "u@a.example:443", 80, 0 }, { "a.example:80:443", 80, 0 },
		{ "[::1]:443", 0, 0 },        { ":443", 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host_port to = { .port = 1 };
		struct err err;
		int result = host_parse_authority(rows[i].text, strlen(rows[i].text),
						  rows[i].fallback, &to, &err);

		print_message("%s\n", rows[i].text);
		assert_int_equal(result, rows[i].port != 0 ? 0 : -1);
		if (result == 0) {
			assert_string_equal(to.host, "a.example");
			assert_int_equal(to.port, rows[i].port);
		}
	}
}

static const struct {
	const char *list;
	const char *host;
	uint16_t port;
	enum host_list_verdict verdict;
} list_rows[] = {
	{ "", "a.example", 443, HOST_LIST_NOT_LISTED },
	{ "a.example", "a.example", 443, HOST_LIST_ALLOWED },
	{ "a.example", "a.example", 80, HOST_LIST_ALLOWED },
	{ "a.example", "a.example", 22, HOST_LIST_OTHER_PORT },
	{ "a.example", "b.a.example", 443, HOST_LIST_NOT_LISTED },
	{ "a.example", "a.example.evil.example", 443, HOST_LIST_NOT_LISTED },
	{ "A.Example.", "a.example", 443, HOST_LIST_ALLOWED },
	{ "a.example:8443", "a.example", 8443, HOST_LIST_ALLOWED },
	{ "a.example:8443", "a.example", 443, HOST_LIST_OTHER_PORT },
	{ "a.example:8443 a.example", "a.example", 443, HOST_LIST_ALLOWED },
	{ "*.example", "a.example", 443, HOST_LIST_ALLOWED },
	{ "*.example", "b.a.example", 443, HOST_LIST_ALLOWED },
	{ "*.example", "example", 443, HOST_LIST_NOT_LISTED },
	{ "*.a.example", "evila.example", 443, HOST_LIST_NOT_LISTED },
	{ "*.example:8443", "a.example", 8443, HOST_LIST_ALLOWED },
	{ "*.example !a.example", "a.example", 443, HOST_LIST_FORBIDDEN },
	{ "!a.example,*.example", "a.example", 443, HOST_LIST_FORBIDDEN },
	{ "!*.a.example,*.example", "b.a.example", 443, HOST_LIST_FORBIDDEN },
	{ "!*.a.example,*.example", "a.example", 443, HOST_LIST_ALLOWED },
	{ "!a.example *.example:22", "a.example", 22, HOST_LIST_FORBIDDEN },
	{ "!a.example:80, a.example", "a.example", 443, HOST_LIST_ALLOWED },
	{ "!a.example:80, a.example", "a.example", 80, HOST_LIST_FORBIDDEN },
	{ "!a.example", "b.example", 443, HOST_LIST_NOT_LISTED },
};

static void a_list_allows_what_it_names_and_forbidding_wins(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(list_rows); i++) {
		struct host_port to = { .port = list_rows[i].port };
		struct err err;
		struct host_list *hosts = host_list_parse(list_rows[i].list, &err);

		print_message("%s: %s\n", list_rows[i].list, list_rows[i].host);
		assert_non_null(hosts);
		(void)snprintf(to.host, sizeof(to.host), "%s", list_rows[i].host);
		assert_int_equal(host_list_check(hosts, &to), list_rows[i].verdict);
		host_list_free(hosts);
	}
}

static void a_bad_entry_is_named_by_its_place(void **state)
{
	static const char *const bad[] = {
		"a.example, 10.0.0.1",
		"a.example *",
		"a.example *.",
		"a.example *a.example",
		"a.example https://b.example",
		"a.example b.example:0",
		"a.example !",
		"a.example a.*.example",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct err err;

		print_message("%s\n", bad[i]);
		assert_null(host_list_parse(bad[i], &err));
		assert_int_equal(err.code, ERR_INVALID);
		assert_ptr_equal(strstr(err.msg, "entry 2: "), err.msg);
		if (strstr(bad[i], "://") != NULL)
			assert_non_null(strstr(err.msg, "it is a URL: write the host alone"));
	}
}

static void a_list_without_allowing_entries_is_empty(void **state)
{
	static const char *const empty[] = { "", " ,\n", "!a.example, !*.b.example" };
	struct err err;
	struct host_list *hosts;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++) {
		hosts = host_list_parse(empty[i], &err);
		assert_non_null(hosts);
		assert_true(host_list_empty(hosts));
		host_list_free(hosts);
	}
	hosts = host_list_parse("!a.example b.example", &err);
	assert_false(host_list_empty(hosts));
	host_list_free(hosts);
}

static void a_list_is_at_most_256_entries(void **state)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct host_list *hosts;
	struct err err;

	(void)state;
	for (int i = 0; i < HOST_LIST_MAX; i++)
		buf_puts(&text, "a.example ");
	hosts = host_list_parse(buf_str(&text), &err);
	assert_non_null(hosts);
	host_list_free(hosts);
	buf_puts(&text, "a.example");
	assert_null(host_list_parse(buf_str(&text), &err));
}

static void a_list_is_written_in_one_form(void **state)
{
	struct err err;
	struct host_list *hosts =
		host_list_parse(" A.example.,\n!*.b.EXAMPLE:80\tc.example:443 ", &err);
	cleanup_free char *text = host_list_write(hosts);
	struct host_list *again = host_list_parse(text, &err);
	cleanup_free char *same = host_list_write(again);

	(void)state;
	assert_string_equal(text, "a.example,!*.b.example:80,c.example:443");
	assert_string_equal(same, text);
	host_list_free(hosts);
	host_list_free(again);
}

/* As upload_file's url may say them. */
static void names_in_any_alphabet_are_those_of_the_dns(void **state)
{
	struct err err;
	struct host_list *hosts = host_list_parse("bücher.example !*.ПРИМЕР.рф:443", &err);
	cleanup_free char *text = hosts == NULL ? NULL : host_list_write(hosts);

	(void)state;
	assert_non_null(text);
	assert_string_equal(text, "xn--bcher-kva.example,!*.xn--e1afmkfd.xn--p1ai:443");
	host_list_free(hosts);
	assert_null(host_list_parse("b\xff.example", &err));
}

static void ports_are_told_once(void **state)
{
	uint16_t ports[8];
	struct err err;
	struct host_list *hosts =
		host_list_parse("a.example b.example:8443 c.example:80 !d.example:22", &err);

	(void)state;
	assert_int_equal(host_list_ports(hosts, ports, 8), 3);
	assert_int_equal(ports[0], 443);
	assert_int_equal(ports[1], 80);
	assert_int_equal(ports[2], 8443);
	assert_int_equal(host_list_ports(hosts, ports, 1), 1);
	host_list_free(hosts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_has_one_form_or_is_refused),
		cmocka_unit_test(a_name_of_300_bytes_is_refused),
		cmocka_unit_test(an_authority_is_a_host_and_a_port),
		cmocka_unit_test(a_list_allows_what_it_names_and_forbidding_wins),
		cmocka_unit_test(a_bad_entry_is_named_by_its_place),
		cmocka_unit_test(a_list_without_allowing_entries_is_empty),
		cmocka_unit_test(a_list_is_at_most_256_entries),
		cmocka_unit_test(a_list_is_written_in_one_form),
		cmocka_unit_test(names_in_any_alphabet_are_those_of_the_dns),
		cmocka_unit_test(ports_are_told_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
