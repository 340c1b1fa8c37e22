/* SPDX-License-Identifier: MIT */
/* filter.h - seccomp for the proxy: what it needs, nothing else. */
#ifndef PROXY_FILTER_H
#define PROXY_FILTER_H

#include "base/err.h"

int filter_proxy(struct err *err) MUST_CHECK;

#endif
