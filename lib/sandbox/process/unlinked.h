/* SPDX-License-Identifier: MIT */
/*
 * unlinked.h - open files that take room on a disk but have no name any more. Files that are only
 * mapped, or in flight through a socket, are not found.
 */
#ifndef SANDBOX_PROCESS_UNLINKED_H
#define SANDBOX_PROCESS_UNLINKED_H

#include <stdint.h>
#include <sys/types.h>

#include "sandbox/process/pidlist.h"

/*
 * Returns the bytes of such files on `device`, each file counted once. Only the first descriptors
 * of the processes in `list` are examined.
 */
uint64_t unlinked_bytes(const struct pidlist *list, dev_t device);

#endif
