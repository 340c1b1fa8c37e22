/* SPDX-License-Identifier: MIT */
/* protect_follow.h - where a path of a share leads, and each link that has a say in it. */
#ifndef SANDBOX_ROOTFS_PROTECT_FOLLOW_H
#define SANDBOX_ROOTFS_PROTECT_FOLLOW_H

/*
 * Goes an absolute path as the kernel does. `fn` gets the path, through no link, of each link on
 * the way that lies below `top`. Returns where it leads, for the caller to free; NULL: nowhere, or
 * neither to `top` nor below.
 */
char *protect_follow(const char *top, const char *path, void (*fn)(void *data, const char *path),
		     void *data);

#endif
