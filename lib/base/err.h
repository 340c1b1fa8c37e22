/* SPDX-License-Identifier: MIT */
/*
 * err.h - an error in the caller's storage.
 *
 * A function that can fail takes `struct err *err` (never NULL) last and returns -1 or NULL.
 * Success leaves `err` alone; failure leaves ret_ parameters alone. The code says whose fault it
 * is. The message is for users and names the object in quotes. The struct holds no pointer, so it
 * can cross a pipe.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/util.h"

enum err_code {
	ERR_NONE,
	ERR_INVALID,     /* the caller's arguments or data */
	ERR_NOT_FOUND,   /* the named thing does not exist */
	ERR_BUSY,        /* try again later */
	ERR_LIMIT,       /* a named limit was reached */
	ERR_TIMEOUT,     /* a deadline passed */
	ERR_CANCELLED,   /* a user, a client or the server asked for the end */
	ERR_DENIED,      /* not allowed */
	ERR_UNSUPPORTED, /* this machine or build cannot do it */
	ERR_SYSTEM,      /* a system call failed; sys holds errno */
	ERR_INTERNAL,    /* a fault in our own code */
};

struct err {
	enum err_code code;
	int sys;
	char msg[512]; /* room for two paths, and what to do */
};

/*
 * Each of these returns -1, so that a failing function can return its result. A long text is cut.
 */
int err_set(struct err *err, enum err_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Sets ERR_SYSTEM with errno, whose text is appended. */
int err_sys(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Puts "what: " before the message; the code and sys stay. */
int err_wrap(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Returns the code's name, "limit" for ERR_LIMIT. The result is static. */
const char *err_code_name(enum err_code code);

#endif
