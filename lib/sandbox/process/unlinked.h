/* SPDX-License-Identifier: MIT */
/*
 * deleted.h - files that take room on a disk and that no folder names: those that a process has
 * open. What is only mapped, or on its way through a socket, is not found.
 */
#ifndef SANDBOX_PROCESS_UNLINKED_H
#define SANDBOX_PROCESS_UNLINKED_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"

/* Bytes of such files on `device`, each once, among the first descriptors of `list`'s processes. */
uint64_t unlinked_bytes(const struct pidlist *list, dev_t device);

#endif
