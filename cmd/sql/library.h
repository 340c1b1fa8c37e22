/* SPDX-License-Identifier: MIT */
/*
 * library.h - functions of the libraries that drivers bring along.
 *
 * The program exports functions of the same names (EXPORTED), so drivers call those, and they call
 * the libraries'.
 */
#ifndef SQL_LIBRARY_H
#define SQL_LIBRARY_H

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/* Sets a pointer to a function of a library that is loaded; false without the one or the other. */
bool library_find(const char *library, const char *name, void *ret_function);

#endif
