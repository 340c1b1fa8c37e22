/* SPDX-License-Identifier: MIT */
/*
 * parts.h - checks that programs which talk to each other were built from the same sources.
 *
 * A user may install half of ptycell, or upgrade it while a server runs. The server's messages are
 * then not what its programs expect.
 */
#ifndef PARTS_PARTS_H
#define PARTS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { PARTS_OTHER = 65 }; /* the exit code of a program that a server of another version started */

/*
 * The version, and a digest of the sources of the launcher and of all helper programs. The digest
 * covers their layers, too (lib/CMakeLists.txt lists the folders).
 */
extern const char parts_version[];

/* Returns a hash of parts_version, for messages with room for a number only. */
uint32_t parts_number(void);
/* Returns true if the program was started with its server's version, or without any, as by hand. */
bool parts_agree(int argc, char *const *argv);
/* Sets ERR_UNSUPPORTED: `program` is not of this server's version. The message says what to do. */
void parts_differ(const char *program, struct err *ret_err);

#endif
