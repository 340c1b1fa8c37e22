/* SPDX-License-Identifier: MIT */
/* python_packages.h - the packages of the host's Python, for session_info and the guide. */
#ifndef ANSWER_PYTHON_PACKAGES_H
#define ANSWER_PYTHON_PACKAGES_H

#include <jansson.h>

struct settings;

/*
 * Returns ["NAME VERSION"] of the Python that sessions get, read from its package folders, as a new
 * reference.
 */
json_t *python_packages_list(const struct settings *settings);

#endif
