/* SPDX-License-Identifier: MIT */
/* filter.h - seccomp for the proxy: what it needs, nothing else. */
#ifndef PROXY_SECCOMP_H
#define PROXY_SECCOMP_H

#include "base/err.h"

int seccomp_proxy(struct err *err) MUST_CHECK;

#endif
