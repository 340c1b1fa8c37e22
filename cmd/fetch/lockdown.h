/* SPDX-License-Identifier: MIT */
/*
 * lockdown.h - drops the rights that this program does not need, before it touches the network.
 *
 * By name it may only read configuration, certificates and modules of the name service. It writes
 * only through inherited descriptors, and listens nowhere.
 */
#ifndef FETCH_LOCKDOWN_H
#define FETCH_LOCKDOWN_H

#include "base/err.h"

/*
 * Drops the rights for good; must run before the first thread is made. `ca_file` may be NULL.
 * `read_fd` is another folder that may be read, or -1. Returns -1 and sets *err.
 */
int lockdown_transfers(const char *ca_file, int read_fd, struct err *err) MUST_CHECK;

#endif
