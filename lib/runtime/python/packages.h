/* SPDX-License-Identifier: MIT */
/*
 * packages.h - lists the Python distributions that an interpreter finds, without running it.
 *
 * The list comes from the names of *.dist-info and *.egg-info entries (PyPA "Recording installed
 * projects") in the site folders of the interpreter's prefix.
 */
#ifndef RUNTIME_PYTHON_PACKAGES_H
#define RUNTIME_PYTHON_PACKAGES_H

#include <stdbool.h>
#include <stddef.h>

enum { PYTHON_PACKAGES_MAX = 5000 };

struct python_package {
	char *name;    /* as the folder has it */
	char *version; /* empty if the name has none */
};

/*
 * Returns the packages, sorted by name, without duplicates; none if there is no such interpreter.
 * python_packages_free() frees them.
 */
struct python_package *python_packages(const char *interpreter_path, size_t *ret_count);
/*
 * Returns what follows the name of the package `name` in a text that begins with it, like a
 * requirement; else NULL. Names are compared as PEP 503 says: "Zope.Interface" is "zope-interface".
 */
const char *python_packages_after(const char *text, const char *name);
bool python_packages_same(const char *a, const char *b);
/*
 * Returns true if the folder `name` in `dir_fd` has a package that the interpreter has itself,
 * which it then replaces.
 */
bool python_packages_replace(const char *interpreter_path, int dir_fd, const char *name);
void python_packages_free(struct python_package *packages, size_t count);

#endif
