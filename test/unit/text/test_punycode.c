/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "text/punycode.h"

/* From Python's codec "punycode", and what curl's libidn2 asks the DNS for. */
static const struct {
	const char *text;
	const char *host; /* NULL: none */
} rows[] = {
	{ "example.org", "example.org" },
	{ "bücher.example", "xn--bcher-kva.example" },
	{ "BÜCHER.Example", "xn--bcher-kva.example" },
	{ "bu\xcc\x88"
	  "cher.example",
	  "xn--bcher-kva.example" },
	{ "straße.de", "xn--strae-oqa.de" },
	{ "データ.例え.jp", "xn--5ckp3n.xn--r8jz45g.jp" },
	{ "データ。jp", "xn--5ckp3n.jp" },
	{ "www.пример.рф", "www.xn--e1afmkfd.xn--p1ai" },
	{ "مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv" },
	{ "他们为什么不说中文", "xn--ihqwcrb4cv8a8dqg056pqjye" },
	{ "3年b組金八先生", "xn--3b-ww4c5e180e575a65lsy2b" },
	{ "", "" },
	{ "\xff.example", NULL },
};

static void names_are_those_of_the_dns(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_free char *host = punycode_host(rows[i].text, strlen(rows[i].text));

		if (rows[i].host == NULL)
			assert_null(host);
		else
			assert_string_equal(host, rows[i].host);
	}
}

static void a_part_that_is_far_too_long_is_refused(void **state)
{
	cleanup_free char *text = xcalloc(1, 2001);
	cleanup_free char *host = NULL;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		memcpy(text + 2 * i, "ü", 2);
	host = punycode_host(text, 2000);
	assert_null(host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_the_dns),
		cmocka_unit_test(a_part_that_is_far_too_long_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
