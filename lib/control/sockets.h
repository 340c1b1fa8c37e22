/* SPDX-License-Identifier: MIT */
/*
 * sockets.h - where the sockets of running servers are.
 *
 *   $PTYCELL_HOME/sockets/<random>    one a server, 0600, in a folder of mode 0700
 *
 * No sandbox has a path to the folder, and PTYCELL_HOME cannot be shared. A socket gets its name
 * once it listens, and a name is used once: a socket that refuses connections is a dead server's.
 * Sockets are reached by the folder's descriptor, as the path may be longer than a socket's address
 * can be. The last server to end removes the folder.
 */
#ifndef CONTROL_SOCKETS_H
#define CONTROL_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"

#define SOCKETS_FOLDER "sockets"

enum {
	SOCKETS_BACKLOG = 16,
	SOCKETS_NAME_LEN = 16, /* random characters, workspace/random_name.h */
	SOCKETS_MAX = 4096,    /* looked at by one search */
};

/*
 * Opens the folder within `home_fd`, and makes it if `make` is set. Returns -1 and sets *err:
 * ERR_NOT_FOUND if there is none, ERR_DENIED if it is a link, another user's, or open to others.
 */
int sockets_open(int home_fd, bool make, struct err *err) MUST_CHECK;
/*
 * Binds a new socket in the folder, which then listens. Sets *ret_name, which the caller frees.
 * Returns -1 and sets *err: ERR_NOT_FOUND if the folder has been removed since it was opened.
 */
int sockets_bind(int folder_fd, char **ret_name, struct err *err) MUST_CHECK;
/*
 * Connects to the socket `name` without waiting. Returns -1 and sets *err: ERR_NOT_FOUND if no
 * server has it any more, ERR_BUSY if its server takes no more connections now.
 */
int sockets_connect(int folder_fd, const char *name, struct err *err) MUST_CHECK;
/* Removes the socket `name`, and the folder if no other is in it. */
void sockets_leave(int folder_fd, const char *name);
/* Removes the sockets of dead servers. */
void sockets_clean(int folder_fd);
/*
 * Returns the names of the sockets, at most SOCKETS_MAX, in no order. The caller frees each
 * and the array. Sets *ret_count.
 */
char **sockets_list(int folder_fd, size_t *ret_count);
/*
 * Returns whether the process at the other end of the connection runs as our user, and sets
 * *ret_pid to its number.
 */
bool sockets_peer_is_ours(int fd, pid_t *ret_pid);

#endif
