/* SPDX-License-Identifier: MIT */
/*
 * parts.h - that programs which speak to each other were made of the same sources.
 *
 * Someone may install half of ptycell, or another one while a server runs. Then the server's words
 * are not what its programs expect.
 */
#ifndef PARTS_PARTS_H
#define PARTS_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { PARTS_OTHER = 65 }; /* the exit code of a program that was called by another's server */

/* The version, and a digest of all that helper programs are made of. */
extern const char parts_version[];

/* A number in place of it. */
uint32_t parts_number(void);
/* True for a program that was started with its server's version, or by hand, with none. */
bool parts_agree(int argc, char *const *argv);
/* ERR_UNSUPPORTED: `program` is not of this server's version, and what to do. */
void parts_differ(const char *program, struct err *ret_err);

#endif
