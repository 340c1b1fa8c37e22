/* SPDX-License-Identifier: MIT */
/*
 * address.h - which addresses lie in the world, which near us, and which are nobody's business.
 *
 * After the registries of special-purpose addresses (RFC 6890, IANA 2024) and the metadata
 * services of the clouds. An address within an address (v4-mapped, NAT64) counts as the inner
 * one; what else is not plainly global is not.
 */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

enum address_class {
	ADDRESS_GLOBAL,
	ADDRESS_PRIVATE, /* this machine and its neighbours: loopback, private networks, CGNAT */
	ADDRESS_NEVER,   /* link-local, metadata services, multicast, reserved */
};

/* `ret_what` is a static phrase, "a loopback address"; NULL is allowed. */
enum address_class address_classify(const struct sockaddr *address, const char **ret_what);
/* May it be connected to? Private ones only with `allow_private`, the last class never. */
bool address_allowed(const struct sockaddr *address, bool allow_private);

#endif
