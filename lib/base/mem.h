/* SPDX-License-Identifier: MIT */
/*
 * mem.h - allocation that cannot fail.
 *
 * Running out of memory aborts with a message. These functions are only for sizes that our own code
 * bounds. Bytes whose size the outside world decides belong in a struct buf with a maximum.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

#include "base/util.h"

void *xcalloc(size_t count, size_t size);
void *xrealloc(void *ptr, size_t size);
char *xstrdup(const char *s);
/* Returns a NUL-terminated copy of `len` bytes, which may hold NULs. The caller frees it. */
char *xmemdup(const void *data, size_t len);
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);
char *xvasprintf(const char *fmt, va_list args) PRINTF_LIKE(1, 0);

/* Frees at the end of the scope: cleanup_free char *s = ...; */
void mem_cleanup(void *ptr_to_ptr);
#define cleanup_free __attribute__((cleanup(mem_cleanup)))

/* Hands *ptr_to_ptr over to the caller and leaves NULL. */
void *mem_steal(void *ptr_to_ptr);

#endif
