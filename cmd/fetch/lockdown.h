/* SPDX-License-Identifier: MIT */
/*
 * confine.h - what this program gives up before it touches the network.
 *
 * It reads configuration, certificates, modules of the name service and nothing else by name, and
 * writes only through descriptors that it was given open. It listens nowhere.
 */
#ifndef FETCH_LOCKDOWN_H
#define FETCH_LOCKDOWN_H

#include "base/err.h"

/*
 * `ca_file` may be NULL. `read_fd` is a folder that is read as well, -1 for none. For good; before
 * the first thread.
 */
int lockdown_transfers(const char *ca_file, int read_fd, struct err *err) MUST_CHECK;

#endif
