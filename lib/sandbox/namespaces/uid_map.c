/* SPDX-License-Identifier: MIT */
/*
 * uid_map.c - chooses the user of a session, and writes user namespace maps.
 *
 * A user id that is picked at random must be in no account database, because files of the session
 * stay on the disk under it. The folder is given to that user file by file, by descriptor and
 * without following links. Root in a container may lack capabilities or ids for this; the session
 * then keeps root's own id.
 */
#include "sandbox/namespaces/uid_map.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/random.h"

enum { DEPTH_MAX = 64, MAP_TEXT_MAX = 64, ACCOUNT_TEXT_MAX = 4096 };

/* ---- choosing ---- */

static bool may_give_away(void)
{
	const uint32_t needed = BIT(CAP_SETUID) | BIT(CAP_SETGID) | BIT(CAP_CHOWN);
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return syscall(SYS_capget, &header, data) == 0 && (data[0].effective & needed) == needed;
}

/* Returns whether every id that may be picked is mapped in the server's own user namespace. */
static bool are_ids_mapped(const char *path)
{
	cleanup_fd int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	unsigned int first;
	unsigned int outside;
	unsigned int count;
	int used = 0;

	if (n <= 0)
		return false;
	text[n] = '\0';
	for (const char *line = text;
	     sscanf(line, "%u %u %u%n", &first, &outside, &count, &used) == 3; line += used)
		if (first <= UID_MAP_FIRST && count > (unsigned int)UID_MAP_LAST - first)
			return true;
	return false;
}

/* An entry that is too large for the buffer is an entry. */
static bool has_account(uid_t uid)
{
	char text[ACCOUNT_TEXT_MAX];
	struct passwd *user = NULL;
	struct group *group = NULL;
	struct passwd user_row;
	struct group group_row;

	return getpwuid_r(uid, &user_row, text, sizeof(text), &user) == ERANGE || user != NULL ||
	       getgrgid_r(uid, &group_row, text, sizeof(text), &group) == ERANGE || group != NULL;
}

static int pick_user(bool look_up, uid_t *ret_uid, struct err *err)
{
	uint32_t number;
	uid_t uid;

	for (int i = 0; i < UID_MAP_PICKS_MAX; i++) {
		random_bytes(&number, sizeof(number));
		uid = UID_MAP_FIRST + number % (UID_MAP_LAST - UID_MAP_FIRST + 1);
		if (look_up && has_account(uid))
			continue;
		*ret_uid = uid;
		return 0;
	}
	return err_set(err, ERR_LIMIT,
		       "a session needs a user of its own, and %d users tried between %d and %d "
		       "have accounts on this machine",
		       UID_MAP_PICKS_MAX, UID_MAP_FIRST, UID_MAP_LAST);
}

static int give_file(int fd, uid_t uid, int depth, struct err *err);

static int give_entry(int folder_fd, const char *name, uid_t uid, int depth, struct err *err)
{
	cleanup_fd int fd = openat(folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, "opening a file of a session's folder");
	return give_file(fd, uid, depth + 1, err);
}

/* Takes ownership of `fd`. */
static int give_entries(int fd, uid_t uid, int depth, struct err *err)
{
	DIR *folder = fdopendir(fd);
	const struct dirent *entry;
	int rc = 0;

	if (folder == NULL) {
		fd_close(&fd);
		return err_sys(err, "reading a session's folder");
	}
	while (rc == 0 && (entry = fd_next_entry(folder)) != NULL)
		if (!fd_is_dot(entry->d_name))
			rc = give_entry(dirfd(folder), entry->d_name, uid, depth, err);
	if (rc == 0 && errno != 0)
		rc = err_sys(err, "reading a session's folder");
	(void)closedir(folder);
	return rc;
}

/* Gives a folder last: one that was not given whole has its old owner, and is given again. */
static int give_file(int fd, uid_t uid, int depth, struct err *err)
{
	struct stat st;

	if (depth > DEPTH_MAX)
		return err_set(err, ERR_LIMIT, "folders nested deeper than %d", DEPTH_MAX);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "giving a session its folder");
	if (S_ISDIR(st.st_mode) &&
	    give_entries(openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), uid, depth, err) < 0)
		return -1;
	if (fchownat(fd, "", uid, uid, AT_EMPTY_PATH) < 0)
		return err_sys(err, "giving a session its folder");
	return 0;
}

static int choose(int data_fd, bool look_up, struct uid_map *ret_map, struct err *err)
{
	struct uid_map map = { .uid = geteuid(), .gid = getegid() };
	struct stat st;

	if (map.uid != 0 || !may_give_away() || !are_ids_mapped("/proc/self/uid_map") ||
	    !are_ids_mapped("/proc/self/gid_map")) {
		*ret_map = map;
		return 0;
	}
	if (fstat(data_fd, &st) < 0)
		return err_sys(err, "looking at a session's folder");
	map.other_user = true;
	map.uid = st.st_uid;
	if (map.uid < UID_MAP_FIRST || map.uid > UID_MAP_LAST)
		if (pick_user(look_up, &map.uid, err) < 0 ||
		    give_file(data_fd, map.uid, 0, err) < 0)
			return -1;
	map.gid = map.uid;
	*ret_map = map;
	return 0;
}

int uid_map_choose(int data_fd, struct uid_map *ret_map, struct err *err)
{
	return choose(data_fd, true, ret_map, err);
}

int uid_map_draw(int data_fd, struct err *err)
{
	struct uid_map map;

	return choose(data_fd, false, &map, err);
}

int uid_map_check(int data_fd, struct err *err)
{
	struct stat st;

	if (fstat(data_fd, &st) < 0)
		return err_sys(err, "looking at a session's folder");
	if (geteuid() == 0 && st.st_uid >= UID_MAP_FIRST && st.st_uid <= UID_MAP_LAST &&
	    has_account(st.st_uid))
		return err_set(err, ERR_LIMIT,
			       "the user %u, drawn for a session, has an account on this machine",
			       st.st_uid);
	return 0;
}

/* ---- writing ---- */

static int write_file(const char *folder, const char *name, const char *text, struct err *err)
{
	cleanup_fd int fd = -1;
	char path[MAP_TEXT_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return err_sys(err, "writing %s of a user namespace", name);
	return 0;
}

static int write_map(const char *folder, const char *name, unsigned int inside,
		     unsigned int outside, struct err *err)
{
	char text[MAP_TEXT_MAX];

	(void)snprintf(text, sizeof(text), "%u %u 1\n", inside, outside);
	return write_file(folder, name, text, err);
}

/* `uid` and `gid` are the map's user as seen inside. */
static int write_maps(const char *folder, uid_t uid, gid_t gid, const struct uid_map *map,
		      struct err *err)
{
	if (write_map(folder, "uid_map", uid, map->uid, err) < 0)
		return -1;
	return write_map(folder, "gid_map", gid, map->gid, err);
}

static int write_maps_of(pid_t pid, uid_t uid, gid_t gid, const struct uid_map *map,
			 struct err *err)
{
	char folder[MAP_TEXT_MAX];

	(void)snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	return write_maps(folder, uid, gid, map, err);
}

/*
 * Maps the zygote's own user as 0, root as UID_MAP_ZYGOTE_ROOT, and every user that sessions may
 * have.
 */
static int write_zygote_map(pid_t pid, const char *name, uid_t own, struct err *err)
{
	char folder[MAP_TEXT_MAX];
	char text[4 * MAP_TEXT_MAX];
	int len = snprintf(text, sizeof(text), "0 %u 1\n%d 0 1\n", own, UID_MAP_ZYGOTE_ROOT);

	if (own > UID_MAP_FIRST)
		len += snprintf(text + len, sizeof(text) - (size_t)len, "%d %d %u\n", UID_MAP_FIRST,
				UID_MAP_FIRST, own - UID_MAP_FIRST);
	if (own < UID_MAP_LAST)
		(void)snprintf(text + len, sizeof(text) - (size_t)len, "%u %u %u\n", own + 1,
			       own + 1, UID_MAP_LAST - own);
	(void)snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	return write_file(folder, name, text, err);
}

int uid_map_write_for(pid_t pid, const struct uid_map *map, struct err *err)
{
	if (!map->for_zygote)
		return write_maps_of(pid, 0, 0, map, err);
	if (write_zygote_map(pid, "uid_map", map->uid, err) < 0)
		return -1;
	return write_zygote_map(pid, "gid_map", map->gid, err);
}

int uid_map_write_own(uid_t inside, const struct uid_map *map, struct err *err)
{
	/* The kernel requires this before a process may write its own group map. */
	if (write_file("/proc/self", "setgroups", "deny\n", err) < 0)
		return -1;
	return write_maps("/proc/self", inside, inside, map, err);
}

static int open_user_ns(pid_t pid, struct err *err)
{
	char path[MAP_TEXT_MAX];
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "opening a user namespace") : fd;
}

int uid_map_open_idmap(uid_t uid, gid_t gid, const struct uid_map *map, struct err *err)
{
	pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, 0);
	int fd = -1;

	if (pid < 0)
		return err_sys(err, "creating a user namespace");
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			(void)pause();
	}
	if (write_maps_of(pid, uid, gid, map, err) == 0)
		fd = open_user_ns(pid, err);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	return fd;
}

int uid_map_become(uid_t uid, gid_t gid, struct err *err)
{
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return err_sys(err, "becoming the session's user");
	return 0;
}
