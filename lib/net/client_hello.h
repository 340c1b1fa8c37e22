/* SPDX-License-Identifier: MIT */
/*
 * client_hello.h - reads the server name in the first message of a TLS client (RFC 8446 4.1.2, RFC
 * 6066 3).
 *
 * It is strict: one ClientHello, in one or more handshake records, with exactly one host_name.
 */
#ifndef NET_CLIENT_HELLO_H
#define NET_CLIENT_HELLO_H

#include <stddef.h>

#include "base/err.h"
#include "net/host.h"

/* Far above what programs send; it bounds the bytes that a client can make us hold. */
enum { CLIENT_HELLO_MAX = 16384 };

/*
 * Reads the first `len` bytes of a client. Returns 1 and sets ret_host; 0 if more bytes are needed.
 * Returns -1 and sets ERR_INVALID if this is not TLS or has no usable name, ERR_LIMIT past
 * CLIENT_HELLO_MAX.
 */
int client_hello_read_name(const void *data, size_t len, char ret_host[HOST_MAX + 1],
			   struct err *err) MUST_CHECK;

#endif
