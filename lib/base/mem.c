/* SPDX-License-Identifier: MIT */
/*
 * mem.c - allocation that aborts when memory runs out. An abort is safe here: the launcher ends the
 * sessions, and the next server removes what was left. mem_cleanup keeps errno, because it runs
 * between a failed system call and its report.
 */
#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *abort_if_null(void *ptr)
{
	if (ptr == NULL) {
		(void)fputs("ptycell: out of memory\n", stderr);
		abort();
	}
	return ptr;
}

void *xcalloc(size_t count, size_t size)
{
	return abort_if_null(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *xrealloc(void *ptr, size_t size)
{
	return abort_if_null(realloc(ptr, size > 0 ? size : 1));
}

char *xstrdup(const char *s)
{
	return xmemdup(s, strlen(s));
}

char *xmemdup(const void *data, size_t len)
{
	char *copy = abort_if_null(malloc(len + 1));

	if (len > 0)
		memcpy(copy, data, len);
	copy[len] = '\0';
	return copy;
}

char *xvasprintf(const char *fmt, va_list args)
{
	char *s = NULL;

	if (vasprintf(&s, fmt, args) < 0)
		s = NULL;
	return abort_if_null(s);
}

char *xasprintf(const char *fmt, ...)
{
	va_list args;
	char *s;

	va_start(args, fmt);
	s = xvasprintf(fmt, args);
	va_end(args);
	return s;
}

void mem_cleanup(void *ptr_to_ptr)
{
	int saved = errno;

	free(mem_steal(ptr_to_ptr));
	errno = saved;
}

void *mem_steal(void *ptr_to_ptr)
{
	void *ptr;

	/* memcpy, because the caller's variable has another pointer type. */
	memcpy(&ptr, ptr_to_ptr, sizeof(ptr));
	memset(ptr_to_ptr, 0, sizeof(ptr));
	return ptr;
}
