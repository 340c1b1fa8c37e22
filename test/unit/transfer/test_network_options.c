/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "json/make.h"
#include "transfer/network_options.h"

static const char *text_of(const json_t *request, const char *key)
{
	return json_string_value(json_object_get(request, key));
}

static void an_order_has_the_persons_proxies_and_authorities(void **state)
{
	char *const environment[] = { (char[]){ "https_proxy=http://p:1" },
				      (char[]){ "no_proxy=a" }, (char[]){ "SSL_CERT_FILE=/ca" },
				      (char[]){ "AWS_SECRET_ACCESS_KEY=secret" }, NULL };
	cleanup_json json_t *request = network_options_put("download", 5000, environment);

	(void)state;
	assert_string_equal(text_of(request, "do"), "download");
	assert_int_equal(json_integer_value(json_object_get(request, "deadline_ms")), 5000);
	assert_int_equal(json_integer_value(json_object_get(request, "stall_ms")),
			 NETWORK_OPTIONS_STALL_MS);
	assert_string_equal(text_of(request, "https_proxy"), "http://p:1");
	assert_string_equal(text_of(request, "no_proxy"), "a");
	assert_string_equal(text_of(request, "ca_file"), "/ca");
	assert_null(json_object_get(request, "http_proxy"));
	assert_int_equal(json_object_size(request), 6);
}

static void curls_own_variable_for_authorities_wins(void **state)
{
	char *const environment[] = { (char[]){ "SSL_CERT_FILE=/ca" },
				      (char[]){ "CURL_CA_BUNDLE=/curl" }, NULL };
	cleanup_json json_t *request = network_options_put("download", 1, environment);

	(void)state;
	assert_string_equal(text_of(request, "ca_file"), "/curl");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_order_has_the_persons_proxies_and_authorities),
		cmocka_unit_test(curls_own_variable_for_authorities_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
