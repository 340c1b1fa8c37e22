/* SPDX-License-Identifier: MIT */
/*
 * library.c - looks functions up in loaded libraries. RTLD_NOLOAD returns only a library that a
 * driver has loaded already: this program must not load one itself.
 */
#include "library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

bool library_find(const char *library, const char *name, void *ret_function)
{
	void *loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
	void *found = loaded != NULL ? dlsym(loaded, name) : NULL;

	memcpy(ret_function, &found, sizeof(found));
	if (loaded != NULL)
		(void)dlclose(loaded);
	return found != NULL;
}
