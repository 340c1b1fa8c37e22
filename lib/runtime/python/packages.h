/* SPDX-License-Identifier: MIT */
/*
 * packages.h - which Python distributions an interpreter finds, without running it.
 *
 * Read from the names of *.dist-info and *.egg-info entries (PyPA "Recording installed projects")
 * in the site folders of the interpreter's prefix.
 */
#ifndef RUNTIME_PYTHON_PACKAGES_H
#define RUNTIME_PYTHON_PACKAGES_H

#include <stddef.h>

enum { PYTHON_PACKAGES_MAX = 5000 };

struct python_package {
	char *name;    /* as the folder has it */
	char *version; /* "" when the name has none */
};

/* Sorted by name, without doubles; an interpreter that is not there has none. */
struct python_package *python_packages(const char *interpreter_path, size_t *ret_count);
void python_packages_free(struct python_package *packages, size_t count);

#endif
