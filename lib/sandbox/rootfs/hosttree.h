/* SPDX-License-Identifier: MIT */
/*
 * hosttree.h - what of the host's file system every session sees, in every tier, read-only.
 *
 * The programs, and of /etc by list what interpreters and their libraries read on any
 * distribution: nothing in it tells about the machine's people.
 */
#ifndef SANDBOX_ROOTFS_HOSTTREE_H
#define SANDBOX_ROOTFS_HOSTTREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "sandbox/policy.h"

/* /usr, /bin and the like: folders or links, some of which a host does not have. */
extern const char *const hosttree_system[];
extern const size_t hosttree_system_count;
/* The nodes of /dev that a program may expect. */
extern const char *const hosttree_devices[];
extern const size_t hosttree_device_count;

/* What is made for /etc: accounts and names that are the same in every session. */
struct hosttree_file {
	const char *path;
	const char *text;
};

extern const struct hosttree_file hosttree_made[];
extern const size_t hosttree_made_count;

/* False when the user shares something that lies there. */
bool hosttree_links_user_data(const struct policy *policy);
/* Would something of the host at this path hide a part of the tree that confines? */
bool hosttree_is_reserved(const char *path);

/* `path` is absolute, as seen from the host's root; whether it is there is not known. */
typedef int hosttree_fn(void *data, const char *path, struct err *err);

/* Calls `fn` for everything in /etc of the host whose root is `root` ("" for ours). */
int hosttree_each_etc(const char *root, hosttree_fn *fn, void *data, struct err *err) MUST_CHECK;

#endif
