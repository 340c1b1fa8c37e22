/* SPDX-License-Identifier: MIT */
/* envfile.h - a file of NAME=value lines, read and expanded. */
#ifndef CONFIG_ENVFILE_H
#define CONFIG_ENVFILE_H

#include <stddef.h>

#include "base/err.h"

enum { ENVFILE_MAX = 1 << 20 };

struct envfile;

/*
 * Reads `path`, where a leading ~/ is the home folder. ${NAME} comes from `env`, then from earlier
 * lines. Returns NULL and sets *err if the file cannot be read, is larger than ENVFILE_MAX or is
 * not UTF-8 text.
 */
struct envfile *envfile_read(const char *path, char *const env[], struct err *err) MUST_CHECK;
void envfile_free(struct envfile *file);

/*
 * Return entry `index` in the file's order; the name is NULL past the end. Names without a value
 * and unreadable lines are left out.
 */
const char *envfile_name(const struct envfile *file, size_t index);
const char *envfile_value(const struct envfile *file, size_t index);
size_t envfile_line(const struct envfile *file, size_t index);
/* Returns the first line that could not be read, 0 for none. */
size_t envfile_bad_line(const struct envfile *file);

#endif
