/* SPDX-License-Identifier: MIT */
/* seccomp.h - the proxy's list of allowed system calls. */
#ifndef PROXY_SECCOMP_H
#define PROXY_SECCOMP_H

#include "base/err.h"

/* Enters the filter for good. Returns -1 and sets *err. */
int seccomp_proxy(struct err *err) MUST_CHECK;

#endif
