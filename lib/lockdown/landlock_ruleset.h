/* SPDX-License-Identifier: MIT */
/*
 * landlock_ruleset.h - Landlock's system calls, for sessions and for our own helpers.
 *
 * The constants are the kernel's up to ABI 9 (Documentation/userspace-api/landlock.rst), because
 * the system's header may be older. A right that a kernel does not know cannot be refused there.
 */
#ifndef LOCKDOWN_LANDLOCK_RULESET_H
#define LOCKDOWN_LANDLOCK_RULESET_H

#include <linux/landlock.h>
#include <stdint.h>

#include "base/err.h"
#include "base/util.h"

#define LANDLOCK_RULESET_TRUNCATE (UINT64_C(1) << 14)
#define LANDLOCK_RULESET_IOCTL_DEV (UINT64_C(1) << 15)
#define LANDLOCK_RULESET_RESOLVE_UNIX (UINT64_C(1) << 16)

/* Rights that helpers get: to read, or to read and write files. */
#define LANDLOCK_RULESET_READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define LANDLOCK_RULESET_WRITE                                                                     \
	(LANDLOCK_RULESET_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_FILE |  \
	 LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_RULESET_TRUNCATE)

enum {
	LANDLOCK_ABI_PORTS = 4,   /* the first that restricts TCP */
	LANDLOCK_ABI_SIGNALS = 6, /* scopes signals and abstract sockets */
	LANDLOCK_ABI_SOCKETS = 9, /* the first that restricts sockets with a path */
	LANDLOCK_ABI_MAX = 9,     /* the newest that landlock_ruleset.c knows */
};

enum { LANDLOCK_SCOPE_SOCKETS = 1 /* abstract ones */, LANDLOCK_SCOPE_SIGNALS = 2 };

/* The rights that a ruleset refuses unless a rule allows them; laid out as the kernel's struct. */
struct landlock_rights {
	uint64_t fs;
	uint64_t net; /* to bind and connect TCP ports */
	uint64_t scoped;
};

/* Returns the kernel's ABI version, but at most `max`; 0 if it has no Landlock. */
int landlock_abi(int max);
/* Returns all rights that this version, 1 or higher, can refuse. */
struct landlock_rights landlock_ruleset_rights(int abi);
/* Returns a new ruleset, a descriptor that the caller closes. Returns -1 and sets *err. */
int landlock_ruleset_new(const struct landlock_rights *rights, struct err *err) MUST_CHECK;
/*
 * Allows rights for the file `fd`, or for a folder and everything below it. They must be rights
 * that `ruleset` refuses. Returns -1 and sets *err.
 */
int landlock_ruleset_allow(int ruleset, int fd, uint64_t rights, struct err *err) MUST_CHECK;
/*
 * Allows reading a folder and everything below it. A missing folder is no error. Returns -1 and
 * sets *err.
 */
int landlock_ruleset_allow_folder(int ruleset, const char *path, struct err *err) MUST_CHECK;
/* Allows reading a file that is no folder. A missing file is no error. Returns -1 and sets *err. */
int landlock_ruleset_allow_file(int ruleset, const char *path, struct err *err) MUST_CHECK;
/* Allows connecting to a port, for a ruleset that refuses `net`. Returns -1 and sets *err. */
int landlock_ruleset_allow_port(int ruleset, uint16_t port, struct err *err) MUST_CHECK;
/*
 * Enters the ruleset for the calling thread and everything that it starts, for good. Needs
 * no_new_privs. Returns -1 and sets *err.
 */
int landlock_ruleset_enter(int ruleset, struct err *err) MUST_CHECK;

#endif
