/* SPDX-License-Identifier: MIT */
/*
 * library.h - finds functions of the libraries that drivers load.
 *
 * The program exports functions of the same names (EXPORTED). Drivers call those, and they call the
 * library's.
 */
#ifndef SQL_LIBRARY_H
#define SQL_LIBRARY_H

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))

/*
 * Sets a pointer to a function of a loaded library. Returns false when library or function is
 * missing.
 */
bool library_find(const char *library, const char *name, void *ret_function);

#endif
