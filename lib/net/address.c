/* SPDX-License-Identifier: MIT */
/*
 * address.c - two tables of networks, the more special ones first. Metadata services of clouds hand
 * credentials to anyone who connects, so their addresses are never allowed, also where the user
 * allows private networks.
 */
#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/util.h"

/* More special rows must come before those that contain them. */
struct row4 {
	uint32_t net;
	unsigned int bits;
	enum address_class class;
	const char *what;
};

#define IPV4(a, b, c, d)                                                                           \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))

static const struct row4 rows4[] = {
	{ IPV4(0, 0, 0, 0), 8, ADDRESS_NEVER, "an unspecified address" },
	{ IPV4(10, 0, 0, 0), 8, ADDRESS_PRIVATE, "an address of a private network" },
	{ IPV4(100, 100, 100, 200), 32, ADDRESS_NEVER, "a cloud's metadata service" },
	{ IPV4(100, 64, 0, 0), 10, ADDRESS_PRIVATE, "an address of a provider's network" },
	{ IPV4(127, 0, 0, 0), 8, ADDRESS_PRIVATE, "a loopback address" },
	{ IPV4(168, 63, 129, 16), 32, ADDRESS_NEVER, "a cloud's metadata service" },
	{ IPV4(169, 254, 0, 0), 16, ADDRESS_NEVER, "a link-local address" },
	{ IPV4(172, 16, 0, 0), 12, ADDRESS_PRIVATE, "an address of a private network" },
	{ IPV4(192, 0, 0, 0), 24, ADDRESS_NEVER, "a reserved address" },
	{ IPV4(192, 0, 2, 0), 24, ADDRESS_NEVER, "an address for examples" },
	{ IPV4(192, 88, 99, 0), 24, ADDRESS_NEVER, "a reserved address" },
	{ IPV4(192, 168, 0, 0), 16, ADDRESS_PRIVATE, "an address of a private network" },
	{ IPV4(198, 18, 0, 0), 15, ADDRESS_PRIVATE, "an address for measurements" },
	{ IPV4(198, 51, 100, 0), 24, ADDRESS_NEVER, "an address for examples" },
	{ IPV4(203, 0, 113, 0), 24, ADDRESS_NEVER, "an address for examples" },
	{ IPV4(224, 0, 0, 0), 4, ADDRESS_NEVER, "a multicast address" },
	{ IPV4(240, 0, 0, 0), 4, ADDRESS_NEVER, "a reserved address" },
};

struct row6 {
	uint16_t net[8];
	unsigned int bits;
	enum address_class class;
	const char *what;
};

static const struct row6 rows6[] = {
	{ { 0 }, 128, ADDRESS_NEVER, "an unspecified address" },
	{ { 0, 0, 0, 0, 0, 0, 0, 1 }, 128, ADDRESS_PRIVATE, "a loopback address" },
	/* Amazon: ::254 is the instance's, ::23 has the credentials of EKS pods. */
	{ { 0xfd00, 0x0ec2 }, 32, ADDRESS_NEVER, "a cloud's metadata service" },
	{ { 0xfd00, 0x0042, 0, 0, 0, 0, 0, 0x42 }, /* Scaleway */
	  128,
	  ADDRESS_NEVER,
	  "a cloud's metadata service" },
	{ { 0xfd00, 0x00c1, 0, 0, 0, 0, 0xa9fe, 0xa9fe }, /* Oracle */
	  128,
	  ADDRESS_NEVER,
	  "a cloud's metadata service" },
	{ { 0xfd20, 0x00ce, 0, 0, 0, 0, 0, 0x254 },
	  128,
	  ADDRESS_NEVER,
	  "a cloud's metadata service" },
	{ { 0xfc00 }, 7, ADDRESS_PRIVATE, "an address of a private network" },
	{ { 0xfe80 }, 10, ADDRESS_NEVER, "a link-local address" },
	{ { 0xff00 }, 8, ADDRESS_NEVER, "a multicast address" },
	{ { 0x2001 }, 23, ADDRESS_NEVER, "a reserved address" }, /* Teredo and others */
	{ { 0x2001, 0x0db8 }, 32, ADDRESS_NEVER, "an address for examples" },
	{ { 0x2002 }, 16, ADDRESS_NEVER, "a 6to4 address" },
	{ { 0x3fff }, 20, ADDRESS_NEVER, "an address for examples" },
	{ { 0x2000 }, 3, ADDRESS_GLOBAL, "a global address" },
};

/* Prefixes of 96 bits that an IPv4 address follows. */
static const struct row6 carriers[] = {
	{ { 0, 0, 0, 0, 0, 0xffff }, 96, ADDRESS_GLOBAL, "v4-mapped" },
	{ { 0x0064, 0xff9b }, 96, ADDRESS_GLOBAL, "NAT64" },
};

static enum address_class classify4(uint32_t address, const char **ret_what)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows4); i++) {
		const struct row4 *row = &rows4[i];

		if ((address ^ row->net) >> (32 - row->bits) != 0)
			continue;
		*ret_what = row->what;
		return row->class;
	}
	*ret_what = "a global address";
	return ADDRESS_GLOBAL;
}

static bool within(const uint8_t address[16], const struct row6 *row)
{
	for (unsigned int bit = 0; bit < row->bits; bit++) {
		unsigned int ours = address[bit / 8] >> (7 - bit % 8) & 1U;
		unsigned int theirs = (unsigned int)row->net[bit / 16] >> (15 - bit % 16) & 1U;

		if (ours != theirs)
			return false;
	}
	return true;
}

static enum address_class classify6(const uint8_t address[16], const char **ret_what)
{
	for (size_t i = 0; i < ARRAY_SIZE(carriers); i++)
		if (within(address, &carriers[i]))
			return classify4(IPV4(address[12], address[13], address[14], address[15]),
					 ret_what);
	for (size_t i = 0; i < ARRAY_SIZE(rows6); i++) {
		if (!within(address, &rows6[i]))
			continue;
		*ret_what = rows6[i].what;
		return rows6[i].class;
	}
	*ret_what = "a reserved address";
	return ADDRESS_NEVER;
}

enum address_class address_classify(const struct sockaddr *address, const char **ret_what)
{
	const char *what = "an address of an unknown kind";
	enum address_class class = ADDRESS_NEVER;

	if (address->sa_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof(in));
		class = classify4(ntohl(in.sin_addr.s_addr), &what);
	} else if (address->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, address, sizeof(in6));
		class = classify6(in6.sin6_addr.s6_addr, &what);
	}
	if (ret_what != NULL)
		*ret_what = what;
	return class;
}

bool address_allowed(const struct sockaddr *address, bool allow_private)
{
	enum address_class class = address_classify(address, NULL);

	return class == ADDRESS_GLOBAL || (class == ADDRESS_PRIVATE && allow_private);
}
