/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/util.h"
#include "net/address.h"

static const struct {
	const char *text;
	enum address_class class;
} rows[] = {
	{ "1.1.1.1", ADDRESS_GLOBAL },
	{ "9.255.255.255", ADDRESS_GLOBAL },
	{ "11.0.0.0", ADDRESS_GLOBAL },
	{ "100.63.255.255", ADDRESS_GLOBAL },
	{ "100.128.0.0", ADDRESS_GLOBAL },
	{ "172.15.255.255", ADDRESS_GLOBAL },
	{ "172.32.0.0", ADDRESS_GLOBAL },
	{ "192.167.255.255", ADDRESS_GLOBAL },
	{ "198.20.0.0", ADDRESS_GLOBAL },
	{ "223.255.255.255", ADDRESS_GLOBAL },
	{ "10.0.0.1", ADDRESS_PRIVATE },
	{ "100.64.0.1", ADDRESS_PRIVATE },
	{ "127.0.0.1", ADDRESS_PRIVATE },
	{ "127.255.255.255", ADDRESS_PRIVATE },
	{ "172.16.0.1", ADDRESS_PRIVATE },
	{ "172.31.255.255", ADDRESS_PRIVATE },
	{ "192.168.1.1", ADDRESS_PRIVATE },
	{ "198.19.0.1", ADDRESS_PRIVATE },
	{ "0.0.0.0", ADDRESS_NEVER },
	{ "0.1.2.3", ADDRESS_NEVER },
	{ "100.100.100.200", ADDRESS_NEVER },
	{ "168.63.129.16", ADDRESS_NEVER },
	{ "169.254.169.254", ADDRESS_NEVER },
	{ "192.0.0.192", ADDRESS_NEVER },
	{ "192.0.2.1", ADDRESS_NEVER },
	{ "198.51.100.1", ADDRESS_NEVER },
	{ "203.0.113.1", ADDRESS_NEVER },
	{ "224.0.0.1", ADDRESS_NEVER },
	{ "240.0.0.1", ADDRESS_NEVER },
	{ "255.255.255.255", ADDRESS_NEVER },
	{ "2606:4700::1111", ADDRESS_GLOBAL },
	{ "2a00::1", ADDRESS_GLOBAL },
	{ "::1", ADDRESS_PRIVATE },
	{ "fc00::1", ADDRESS_PRIVATE },
	{ "fdff::1", ADDRESS_PRIVATE },
	{ "::", ADDRESS_NEVER },
	{ "::127.0.0.1", ADDRESS_NEVER },
	{ "fd00:ec2::254", ADDRESS_NEVER },
	{ "fd00:ec2::23", ADDRESS_NEVER },
	{ "fd00:42::42", ADDRESS_NEVER },
	{ "fd00:42::43", ADDRESS_PRIVATE },
	{ "fd00:c1::a9fe:a9fe", ADDRESS_NEVER },
	{ "fd20:ce::254", ADDRESS_NEVER },
	{ "fe80::1", ADDRESS_NEVER },
	{ "febf::1", ADDRESS_NEVER },
	{ "fec0::1", ADDRESS_NEVER },
	{ "ff02::1", ADDRESS_NEVER },
	{ "2001::1", ADDRESS_NEVER },
	{ "2001:1ff::1", ADDRESS_NEVER },
	{ "2001:200::1", ADDRESS_GLOBAL },
	{ "2001:db8::1", ADDRESS_NEVER },
	{ "2002:7f00:1::", ADDRESS_NEVER },
	{ "2002:101:101::", ADDRESS_NEVER },
	{ "3fff::1", ADDRESS_NEVER },
	{ "4000::1", ADDRESS_NEVER },
	{ "64:ff9b:1::1", ADDRESS_NEVER },
	{ "::ffff:1.1.1.1", ADDRESS_GLOBAL },
	{ "::ffff:127.0.0.1", ADDRESS_PRIVATE },
	{ "::ffff:169.254.169.254", ADDRESS_NEVER },
	{ "64:ff9b::1.1.1.1", ADDRESS_GLOBAL },
	{ "64:ff9b::10.0.0.1", ADDRESS_PRIVATE },
	{ "64:ff9b::169.254.169.254", ADDRESS_NEVER },
};

static struct sockaddr_storage parse(const char *text)
{
	struct sockaddr_storage storage = { .ss_family = AF_INET };
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &in.sin_addr) == 1) {
		memcpy(&storage, &in, sizeof(in));
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
		memcpy(&storage, &in6, sizeof(in6));
	}
	return storage;
}

/* Sandbox test 50. */
static void every_address_has_its_class(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sockaddr_storage address = parse(rows[i].text);
		const struct sockaddr *any = (const struct sockaddr *)&address;
		const char *what = NULL;

		print_message("%s\n", rows[i].text);
		assert_int_equal(address_classify(any, &what), rows[i].class);
		assert_non_null(what);
		assert_int_equal(address_allowed(any, false), rows[i].class == ADDRESS_GLOBAL);
		assert_int_equal(address_allowed(any, true), rows[i].class != ADDRESS_NEVER);
	}
}

static void another_family_is_never_allowed(void **state)
{
	struct sockaddr address = { .sa_family = AF_UNIX };

	(void)state;
	assert_false(address_allowed(&address, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_address_has_its_class),
		cmocka_unit_test(another_family_is_never_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
