/* SPDX-License-Identifier: MIT */
/*
 * usermap.h - who a session's processes are, outside and inside.
 *
 * The first user namespace of a session has the one user 0, who is the server's own user outside.
 * A server that is root gives each session an unprivileged user of its own instead, who owns the
 * session's folder: the kernel holds no limit of processes for root, and a file that a session
 * leaves behind must not be root's. The second namespace, in which the session's programs run, has
 * the one user UID_MAP_INSIDE, the same outside.
 */
#ifndef SANDBOX_NAMESPACES_UID_MAP_H
#define SANDBOX_NAMESPACES_UID_MAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	UID_MAP_INSIDE = 1000,
	UID_MAP_PICKS_MAX = 16, /* users tried until one is nobody's account */
	/* Above what systemd gives to containers and what SSSD and FreeIPA give to accounts unless
	 * told otherwise (up to 2000200000), below what is reserved. */
	UID_MAP_FIRST = 0x78000000,
	UID_MAP_LAST = 0x7bffffff,
	UID_MAP_ZYGOTE_ROOT = 1, /* see nursery.h */
};

struct uid_map {
	uid_t uid; /* outside */
	gid_t gid;
	bool other_user; /* another user than the caller: who made the namespace has to write the
			  * map
			  */
	bool for_zygote; /* foreign, and with all that nursery.h says */
};

/*
 * For a session whose workspace is `data_fd`: the caller's own user, or for root the folder's owner
 * when that is one of ours, else a new one at random, which is no account's user or group (as the
 * system's name service says, which may ask a server), to whom it and all in it is given. No
 * session may be running in it. ERR_LIMIT when UID_MAP_PICKS_MAX of them had accounts. Root that
 * may not do this (a container without those capabilities or ids) stays itself.
 */
int uid_map_choose(int data_fd, struct uid_map *ret_map, struct err *err) MUST_CHECK;
/* Writes the maps of `pid`'s new namespace: 0 inside. The caller made it and is privileged. */
int uid_map_write_for(pid_t pid, const struct uid_map *map, struct err *err) MUST_CHECK;
/* The map of the caller's own namespace: `inside` for a user that it is itself. It is dumpable. */
int uid_map_write_own(uid_t inside, const struct uid_map *map, struct err *err) MUST_CHECK;
/*
 * A user namespace that maps `uid` and `gid` to the map's user, by descriptor: for mounts that map
 * owners. The caller is privileged.
 */
int uid_map_open_idmap(uid_t uid, gid_t gid, const struct uid_map *map, struct err *err) MUST_CHECK;
/* Becomes this user of the caller's namespace; clears the parent-death signal and dumpable. */
int uid_map_become(uid_t uid, gid_t gid, struct err *err) MUST_CHECK;

#endif
