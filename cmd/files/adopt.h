/* SPDX-License-Identifier: MIT */
/* adopt.h - recognises copies that an earlier server made and whose record was lost. */
#ifndef FILES_ADOPT_H
#define FILES_ADOPT_H

#include <jansson.h>
#include <stdint.h>
#include <sys/stat.h>

#include "copy.h"

/*
 * Searches `dir_fd` for a file called `name`, or a numbered name, with the bytes of `from_fd`.
 * Returns its name, which the caller frees, or NULL.
 */
char *adopt_same(int from_fd, int dir_fd, const char *name, struct stat *ret_stat);
/*
 * Describes the file `name` in `dir_fd` as a known copy if its size and checksum are one of
 * `copies`: [{"size", "crc"}].
 */
void adopt_listed(int dir_fd, const char *name, const json_t *copies, struct copy_known *known);
/* Describes the file `name` in `dir_fd` as a known copy if it has this size and time. */
void adopt_seen(int dir_fd, const char *name, json_int_t size, json_int_t mtime_ns,
		struct copy_known *known);
/* Computes the CRC-32C of the first `len` bytes. Returns -1 if they cannot be read. */
int adopt_crc(int fd, off_t len, uint32_t *ret);

#endif
