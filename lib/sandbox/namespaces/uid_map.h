/* SPDX-License-Identifier: MIT */
/*
 * uid_map.h - the user that a session's processes run as, outside and inside.
 *
 * The first user namespace of a session has one user, 0, who is the server's own user outside. A
 * server that is root gives each session an unprivileged user of its own instead, who owns the
 * session's folder. The kernel enforces no limit of processes for root, and a file that a session
 * leaves behind must not belong to root. The second user namespace, where the session's programs
 * run, has one user, UID_MAP_INSIDE, who is the same user outside.
 */
#ifndef SANDBOX_NAMESPACES_UID_MAP_H
#define SANDBOX_NAMESPACES_UID_MAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

enum {
	UID_MAP_INSIDE = 1000,
	UID_MAP_PICKS_MAX = 16, /* users tried until one has no account */
	/*
	 * Above the ids that systemd gives to containers, and those that SSSD and FreeIPA give to
	 * accounts by default (up to 2000200000); below the reserved ones.
	 */
	UID_MAP_FIRST = 0x78000000,
	UID_MAP_LAST = 0x7bffffff,
	UID_MAP_ZYGOTE_ROOT = 1, /* see zygote_namespaces.h */
};

struct uid_map {
	uid_t uid; /* outside */
	gid_t gid;
	bool other_user; /* not the caller's user: the process that makes the namespace must write
			    the map */
	bool for_zygote; /* other_user is set, and the map has the users of zygote_namespaces.h */
};

/*
 * Chooses the user for a session whose workspace is `data_fd`. No session may be running in it. For
 * an ordinary user that is the caller itself. For root it is the folder's owner if it was chosen
 * here before; else a random id without an account, to which the folder and all in it is given. The
 * lookup of accounts may ask a name server. Root without the capabilities or ids for this (in a
 * container) stays root. Returns -1 and sets *err: ERR_LIMIT when UID_MAP_PICKS_MAX ids had
 * accounts.
 */
int uid_map_choose(int data_fd, struct uid_map *ret_map, struct err *err) MUST_CHECK;
/*
 * Gives the folder to a user as uid_map_choose does, but looks up no account, because the first
 * lookup in a process takes a millisecond. The chosen user may thus have an account: uid_map_check
 * must follow before session code runs.
 */
int uid_map_draw(int data_fd, struct err *err) MUST_CHECK;
/* Returns -1 and sets ERR_LIMIT if the user that was drawn for the folder has an account. */
int uid_map_check(int data_fd, struct err *err) MUST_CHECK;
/*
 * Writes the maps of `pid`'s new namespace, where the user is 0. The caller must be privileged and
 * must have made the namespace. Returns -1 and sets *err.
 */
int uid_map_write_for(pid_t pid, const struct uid_map *map, struct err *err) MUST_CHECK;
/*
 * Writes the map of the caller's own namespace, for its own user, called `inside` there. The caller
 * must be dumpable. Returns -1 and sets *err.
 */
int uid_map_write_own(uid_t inside, const struct uid_map *map, struct err *err) MUST_CHECK;
/*
 * Returns a descriptor of a user namespace that maps `uid` and `gid` to the map's user, for
 * idmapped mounts. The caller must be privileged, and closes it. Returns -1 and sets *err.
 */
int uid_map_open_idmap(uid_t uid, gid_t gid, const struct uid_map *map, struct err *err) MUST_CHECK;
/*
 * Becomes this user of the caller's namespace. Clears the parent-death signal and the dumpable
 * flag. Returns -1 and sets *err.
 */
int uid_map_become(uid_t uid, gid_t gid, struct err *err) MUST_CHECK;

#endif
