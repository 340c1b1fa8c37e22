/* SPDX-License-Identifier: MIT */
/*
 * lockdown.h - reduces the rights of the proxy and its resolver by landlock and seccomp.
 *
 * Neither can run a program, write a file, or inspect or signal another process. The proxy can open
 * no file and only TCP sockets, and connects only to the ports of its request. Rules that the
 * kernel's landlock does not know are left out. Both functions return -1 and set *err.
 */
#ifndef PROXY_LOCKDOWN_H
#define PROXY_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Locks down the proxy. Must be called after the resolver is started and the request is read. */
int lockdown_proxy(const uint16_t *ports, size_t count, struct err *err) MUST_CHECK;
/*
 * Locks down the resolver and its children, which read what a lookup needs and query name servers.
 */
int lockdown_resolver(struct err *err) MUST_CHECK;

#endif
