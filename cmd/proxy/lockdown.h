/* SPDX-License-Identifier: MIT */
/*
 * confine.h - the least that the proxy and its resolver may do, by landlock and seccomp.
 *
 * Neither can run a program, write a file, look into or signal another process. The proxy can
 * open no file and no other socket than TCP, and connects to the ports of its order only. What
 * the kernel does not know of landlock is left out.
 */
#ifndef PROXY_LOCKDOWN_H
#define PROXY_LOCKDOWN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* The proxy, once its resolver runs and its order is read. */
int lockdown_proxy(const uint16_t *ports, size_t count, struct err *err) MUST_CHECK;
/* The resolver and its children: they read what a lookup needs, and ask name servers. */
int lockdown_resolver(struct err *err) MUST_CHECK;

#endif
