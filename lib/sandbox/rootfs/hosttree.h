/* SPDX-License-Identifier: MIT */
/*
 * hosttree.h - the part of the host's file system that every session sees, read-only, in every
 * tier.
 *
 * That is the host's programs, and of /etc a list of files that interpreters and libraries read on
 * any distribution. The list contains nothing about the machine's users.
 */
#ifndef SANDBOX_ROOTFS_HOSTTREE_H
#define SANDBOX_ROOTFS_HOSTTREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sandbox/policy.h"

/* /usr, /bin and the like: folders or links; a host may lack some. */
extern const char *const hosttree_system[];
extern const size_t hosttree_system_count;
/* The nodes of /dev that a program may expect. */
extern const char *const hosttree_devices[];
extern const size_t hosttree_device_count;
/*
 * Files of /proc that report on the machine and not on the session, such as the names of keys that
 * the user's programs have in the kernel. /dev/null covers them where they are.
 */
extern const char *const hosttree_masked[];
extern const size_t hosttree_masked_count;

/* Files made for /etc: accounts and names that are the same in every session. */
struct hosttree_file {
	const char *path;
	const char *text;
};

extern const struct hosttree_file hosttree_made[];
extern const size_t hosttree_made_count;

/*
 * Returns whether POLICY_USER_DATA can hold the links to output/ and input/: the user shares
 * nothing there.
 */
bool hosttree_links_user_data(const struct policy *policy);
/* Returns whether a path is the folder, or below it. */
bool hosttree_is_within(const char *path, const char *folder);
/* Returns whether a host path shown at `path` would hide a part of the tree that confines. */
bool hosttree_is_reserved(const char *path);

/* Receives an absolute path, as seen from the host's root, which may not exist. */
typedef int hosttree_fn(void *data, const char *path, struct err *err);

/*
 * Opens /etc of the host whose root is `root` ("" for the current one), to list it. Returns a
 * descriptor that the caller closes, or -1 and sets *err.
 */
int hosttree_open_etc(const char *root, struct err *err) MUST_CHECK;
/*
 * Calls `fn` for every path in /etc that sessions see. `etc` is the folder, of which nothing was
 * read yet. Returns -1 when `fn` does, or sets *err itself.
 */
int hosttree_each_etc(int etc, hosttree_fn *fn, void *data, struct err *err) MUST_CHECK;

#endif
