/* SPDX-License-Identifier: MIT */
/* util.h - small macros that every layer uses. */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define BIT(n) (1U << (n))
#define PRINTF_LIKE(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))
#define MUST_CHECK __attribute__((warn_unused_result))

/*
 * Returns the struct of `type` whose member `member` is `ptr`. The cast through void * is for
 * -Wcast-align.
 */
#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

static inline size_t size_min(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline bool str_begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Returns what follows the last slash of a path; the whole path if it has none. */
static inline const char *path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Returns the text without the characters of `set` at both ends. The end is cut in place. */
static inline char *str_trim(char *text, const char *set)
{
	size_t len;

	text += strspn(text, set);
	len = strlen(text);
	while (len > 0 && strchr(set, text[len - 1]) != NULL)
		text[--len] = '\0';
	return text;
}

#endif
