/* SPDX-License-Identifier: MIT */
/* wheels.h - keeps files of an index as they came, by their SHA-256. */
#ifndef FILES_WHEELS_H
#define FILES_WHEELS_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Copies each of `rows`, [{"file": NAME, "sha256": HEX}], from the folder `wheels` of `from_fd`,
 * which is untrusted, to HEX in `to_fd`. A file that is there with the same bytes is marked as
 * used. A failure keeps nothing: the file is downloaded the next time. The installer compares the
 * hash of each file that it uses.
 */
void wheels_keep(int from_fd, int to_fd, const json_t *rows);
/* Returns true if `name` is one that wheels_keep gives. */
bool wheels_has_name(const char *name);

#endif
