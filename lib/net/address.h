/* SPDX-License-Identifier: MIT */
/*
 * address.h - classifies addresses: in the world, near us, or never to be reached.
 *
 * It follows the registries of special-purpose addresses (RFC 6890, IANA 2024) and the metadata
 * services of the clouds. An address within an address (v4-mapped, NAT64) counts as the inner one.
 * An address that is not plainly global is not global.
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

/*
 * Returns the class. Sets *ret_what, which may be NULL, to a static phrase: "a loopback address".
 */
enum address_class address_classify(const struct sockaddr *address, const char **ret_what);
/*
 * Returns whether it may be connected to: private ones only with `allow_private`, the last class
 * never.
 */
bool address_allowed(const struct sockaddr *address, bool allow_private);

#endif
