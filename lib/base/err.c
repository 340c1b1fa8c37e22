/* SPDX-License-Identifier: MIT */
/*
 * err.c - formats errors into their fixed room. Every function that changes the message marks a
 * text that did not fit with "..." at its end, so a cut path is never taken for a whole one.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends `text` to err->msg and cuts what does not fit. */
static void append_text(struct err *err, const char *text)
{
	size_t used = strlen(err->msg);
	size_t len = size_min(strlen(text), sizeof(err->msg) - 1 - used);

	memcpy(err->msg + used, text, len);
	err->msg[used + len] = '\0';
}

/* Marks a message that fills all its room, because it was cut. */
static int end_message(struct err *err)
{
	static const char dots[] = "...";

	if (strlen(err->msg) == sizeof(err->msg) - 1)
		memcpy(err->msg + sizeof(err->msg) - sizeof(dots), dots, sizeof(dots));
	return -1;
}

int err_set(struct err *err, enum err_code code, const char *fmt, ...)
{
	va_list args;

	err->code = code;
	err->sys = 0;
	va_start(args, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	va_end(args);
	return end_message(err);
}

int err_sys(struct err *err, const char *fmt, ...)
{
	int sys = errno;
	const char *text = strerrordesc_np(sys);
	va_list args;

	err->code = ERR_SYSTEM;
	err->sys = sys;
	va_start(args, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	va_end(args);
	append_text(err, ": ");
	append_text(err, text != NULL ? text : "unknown error");
	return end_message(err);
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[sizeof(err->msg)];
	va_list args;

	memcpy(inner, err->msg, sizeof(inner));
	va_start(args, fmt);
	(void)vsnprintf(err->msg, sizeof(err->msg), fmt, args);
	va_end(args);
	append_text(err, ": ");
	append_text(err, inner);
	return end_message(err);
}

const char *err_code_name(enum err_code code)
{
	static const char *const names[] = {
		[ERR_NONE] = "none",
		[ERR_INVALID] = "invalid",
		[ERR_NOT_FOUND] = "not_found",
		[ERR_BUSY] = "busy",
		[ERR_LIMIT] = "limit",
		[ERR_TIMEOUT] = "timeout",
		[ERR_CANCELLED] = "cancelled",
		[ERR_DENIED] = "denied",
		[ERR_UNSUPPORTED] = "unsupported",
		[ERR_SYSTEM] = "system",
		[ERR_INTERNAL] = "internal",
	};
	_Static_assert(ARRAY_SIZE(names) == ERR_INTERNAL + 1, "every code has a name");

	return names[code];
}
