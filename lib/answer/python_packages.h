/* SPDX-License-Identifier: MIT */
/* packages.h - what session_info's `include` adds. */
#ifndef ANSWER_PYTHON_PACKAGES_H
#define ANSWER_PYTHON_PACKAGES_H

#include <jansson.h>
#include <stddef.h>

struct settings;

/* ["NAME VERSION"] of the Python that sessions get, read from its package folders. */
json_t *python_packages_list(const struct settings *settings);

#endif
