/* SPDX-License-Identifier: MIT */
/*
 * sockets.c - binds, finds and removes sockets in a folder. The address of a socket is
 * /proc/self/fd/N/NAME, which is short however long the folder's path is. A socket is bound under a
 * hidden name and renamed once it listens, so that no search finds one that refuses connections
 * while its server starts. A hidden name of a server that died meanwhile is removed by its age.
 */
#include "control/sockets.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"

#define NEW_PREFIX ".new-"

enum { NEW_AGE_S = 60 /* a server needs microseconds from the hidden name to the final one */ };

int sockets_open(int home_fd, bool make, struct err *err)
{
	cleanup_fd int fd = -1;
	struct stat st;

	if (make && mkdirat(home_fd, SOCKETS_FOLDER, 0700) < 0 && errno != EEXIST)
		return err_sys(err, "making the folder '%s'", SOCKETS_FOLDER);
	fd = openat(home_fd, SOCKETS_FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "there is no folder '%s'", SOCKETS_FOLDER);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, ERR_DENIED, "'%s' is a link or a file, not a folder",
			       SOCKETS_FOLDER);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "opening the folder '%s'", SOCKETS_FOLDER);
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0)
		return err_set(err, ERR_DENIED, "the folder '%s' is open to others",
			       SOCKETS_FOLDER);
	return fd_steal(&fd);
}

static void set_address(struct sockaddr_un *address, int folder_fd, const char *name)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	(void)snprintf(address->sun_path, sizeof(address->sun_path), "/proc/self/fd/%d/%s",
		       folder_fd, name);
}

static int bind_hidden(int folder_fd, const char *name, struct err *err)
{
	struct sockaddr_un address;
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t before;
	int bound;

	if (fd < 0)
		return err_sys(err, "making a socket");
	set_address(&address, folder_fd, name);
	before = umask(0177);
	bound = bind(fd, (const struct sockaddr *)&address, sizeof(address));
	(void)umask(before);
	if (bound < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "the folder '%s' is removed", SOCKETS_FOLDER);
	if (bound < 0 || listen(fd, SOCKETS_BACKLOG) < 0)
		return err_sys(err, "binding a socket in '%s'", SOCKETS_FOLDER);
	return fd_steal(&fd);
}

int sockets_bind(int folder_fd, char **ret_name, struct err *err)
{
	char name[SOCKETS_NAME_LEN + 1];
	cleanup_free char *hidden = NULL;
	cleanup_fd int fd = -1;

	random_hex(name, SOCKETS_NAME_LEN);
	hidden = xasprintf(NEW_PREFIX "%s", name);
	fd = bind_hidden(folder_fd, hidden, err);
	if (fd >= 0 && renameat(folder_fd, hidden, folder_fd, name) < 0) {
		(void)err_sys(err, "naming a socket in '%s'", SOCKETS_FOLDER);
		fd_close(&fd);
	}
	if (fd < 0) {
		(void)unlinkat(folder_fd, hidden, 0);
		return -1;
	}
	*ret_name = xstrdup(name);
	return fd_steal(&fd);
}

void sockets_leave(int folder_fd, const char *name)
{
	cleanup_fd int home_fd = openat(folder_fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);

	(void)unlinkat(folder_fd, name, 0);
	if (home_fd >= 0)
		(void)unlinkat(home_fd, SOCKETS_FOLDER, AT_REMOVEDIR);
}

int sockets_connect(int folder_fd, const char *name, struct err *err)
{
	struct sockaddr_un address;
	cleanup_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return err_sys(err, "making a socket");
	set_address(&address, folder_fd, name);
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd_steal(&fd);
	if (errno == ECONNREFUSED || errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "no server has this socket any more");
	if (errno == EAGAIN)
		return err_set(err, ERR_BUSY, "the server takes no more connections now");
	return err_sys(err, "connecting to a server");
}

/* ---- the folder ---- */

static bool is_name(const char *name)
{
	return strlen(name) == SOCKETS_NAME_LEN &&
	       strspn(name, "0123456789abcdef") == SOCKETS_NAME_LEN;
}

char **sockets_list(int folder_fd, size_t *ret_count)
{
	DIR *dir = fd_list(folder_fd);
	const struct dirent *entry;
	char **names = NULL;

	*ret_count = 0;
	while (dir != NULL && *ret_count < SOCKETS_MAX && (entry = readdir(dir)) != NULL) {
		if (!is_name(entry->d_name))
			continue;
		names = xrealloc(names, (*ret_count + 1) * sizeof(*names));
		names[(*ret_count)++] = xstrdup(entry->d_name);
	}
	if (dir != NULL)
		(void)closedir(dir);
	return names;
}

/* Returns whether a hidden socket is left over. A time in the future: the clock was ahead. */
static bool is_old(int folder_fd, const char *name)
{
	struct stat st;

	return fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       llabs((long long)time(NULL) - st.st_mtime) > NEW_AGE_S;
}

static bool is_dead(int folder_fd, const char *name)
{
	struct err err = { .code = ERR_NONE };
	cleanup_fd int fd = -1;

	if (str_begins(name, NEW_PREFIX))
		return is_old(folder_fd, name);
	if (!is_name(name))
		return false;
	fd = sockets_connect(folder_fd, name, &err);
	return fd < 0 && err.code == ERR_NOT_FOUND;
}

void sockets_clean(int folder_fd)
{
	DIR *dir = fd_list(folder_fd);
	const struct dirent *entry;

	if (dir == NULL)
		return;
	for (int i = 0; i < SOCKETS_MAX && (entry = readdir(dir)) != NULL; i++)
		if (is_dead(folder_fd, entry->d_name))
			(void)unlinkat(folder_fd, entry->d_name, 0);
	(void)closedir(dir);
}

bool sockets_peer_is_ours(int fd, pid_t *ret_pid)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return false;
	*ret_pid = peer.pid;
	return peer.uid == geteuid();
}
