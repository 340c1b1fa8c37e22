/* SPDX-License-Identifier: MIT */
/* packages.h - what session_info's `include` adds. */
#ifndef TOOLS_PACKAGES_H
#define TOOLS_PACKAGES_H

#include <jansson.h>
#include <stddef.h>

struct settings;

/* ["NAME VERSION"] of the Python that sessions get, read from its package folders. */
json_t *packages_list(const struct settings *settings);
enum { PACKAGES_VARIABLES_MAX = 200 }; /* an answer is one line of less than 1,000,000 bytes */

/*
 * The driver's table (NAME \t TYPE \t SHAPE \t BYTES \t REPR a line) as [{name, type, ...}],
 * cleaned; `ret_left_out` are the lines beyond PACKAGES_VARIABLES_MAX.
 */
json_t *packages_variables(const char *lines, size_t len, size_t *ret_left_out);

#endif
