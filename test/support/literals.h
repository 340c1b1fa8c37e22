/* SPDX-License-Identifier: MIT */
/* literals.h - string literals as an argv or environ, whose strings are not written to. */
#ifndef SUPPORT_LITERALS_H
#define SUPPORT_LITERALS_H

#include <stddef.h>
#include <stdint.h>

/* NULL-terminated; lives as long as the enclosing block. */
#define LIST(...) ((char *const *)(uintptr_t)(const char *const[]){ __VA_ARGS__, NULL })

#endif
