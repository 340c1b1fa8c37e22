/* SPDX-License-Identifier: MIT */
/*
 * cgroups.c - divides the server's control group among the server and its sessions.
 *
 * A group that is handed to the server must pass three checks. It is writable; it is not a systemd
 * unit without Delegate=yes; it has no members but the server's own descendants. All members are
 * then moved into a group below it. That must come first: version 2 enables controllers for
 * children only in a group without members of its own ("no internal processes").
 */
#include "proc/cgroups.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/random.h"
#include "sandbox/process/pidlist.h"
#include "sandbox/process/proctree.h"

#define PREFIX "ptycell-"
/*
 * The server's processor weight among its sessions when all of them want the processor; a session
 * has 100.
 */
#define SERVER_WEIGHT "1000"

enum {
	TOKEN_LEN = 12,
	SERVER_NAME_MAX = 24, /* with its NUL */
	LEAF_NAME_MAX = 48,
	TEXT_MAX = 1 << 20,
	DECIMAL = 10,
	GENERATIONS_MAX = 64, /* between the server and a helper's child */
	MOVES_MAX = 16,       /* processes fork meanwhile */
	FOLDER_MODE = 0755,
	ENDING_MS = 100,
};

struct cgroups {
	int own;    /* the group that was delegated to the server */
	int server; /* the group below it that the server is in; -1: none yet */
	char name[SERVER_NAME_MAX];
	uint32_t controllers;
	uint32_t enabled; /* controllers that this code enabled, and disables at the end */
	bool can_kill;
	uint64_t next;
};

struct cgroup_leaf {
	struct cgroups *groups;
	int folder;
	char name[LEAF_NAME_MAX];
	uint64_t memory_max;
	bool removed;
};

/* ---- files ---- */

/* Returns the file's text, or NULL when it cannot be read. */
static char *read_group_file(int folder, const char *name)
{
	struct err err;
	size_t len;

	return fd_read_file(folder, name, TEXT_MAX, &len, &err);
}

static int write_group_file(int folder, const char *name, const char *text)
{
	cleanup_fd int fd = openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static int write_group_number(int folder, const char *name, uint64_t number)
{
	char text[32];

	(void)snprintf(text, sizeof(text), "%" PRIu64 "\n", number);
	return write_group_file(folder, name, text);
}

static bool group_exists(int folder, const char *name)
{
	return faccessat(folder, name, F_OK, 0) == 0;
}

static bool can_write(int folder, const char *name)
{
	return faccessat(folder, name, W_OK, AT_EACCESS) == 0;
}

static uint64_t read_event(int folder, const char *file, const char *key)
{
	cleanup_free char *text = read_group_file(folder, file);

	return text != NULL ? cgroup_parse_event(text, key) : 0;
}

static int open_group(int parent, const char *name)
{
	return openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

static int make_group(int parent, const char *name)
{
	return mkdirat(parent, name, FOLDER_MODE) == 0 ? open_group(parent, name) : -1;
}

/* ---- whose group it is ---- */

/* Returns a descriptor of the server's own group. The caller frees *ret_path. */
static int open_own_group(char **ret_path, struct err *err)
{
	cleanup_free char *groups = read_group_file(AT_FDCWD, "/proc/self/cgroup");
	cleanup_free char *path = groups != NULL ? cgroup_parse_own(groups) : NULL;
	cleanup_free char *mounts = read_group_file(AT_FDCWD, "/proc/self/mountinfo");
	cleanup_free char *folder = NULL;
	cleanup_fd int fd = -1;
	struct statfs fs;

	if (path == NULL)
		return err_set(err, ERR_UNSUPPORTED, "this system has no control groups (v2)");
	folder = mounts != NULL ? cgroup_parse_mounts(mounts, path) : NULL;
	fd = folder != NULL ? open_group(AT_FDCWD, folder) : -1;
	if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
		return err_set(err, ERR_UNSUPPORTED,
			       "the server's control group cannot be seen in /sys/fs/cgroup");
	*ret_path = mem_steal(&path);
	return fd_steal(&fd);
}

static bool is_marked(int fd)
{
	static const char *const names[] = { "trusted.delegate", "user.delegate" };
	char value[2];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (fgetxattr(fd, names[i], value, sizeof(value)) == 1 && value[0] == '1')
			return true;
	return false;
}

/* systemd makes control groups only for units with these endings. */
static bool is_unit(const char *path)
{
	static const char *const endings[] = { ".scope", ".service", ".slice" };
	const size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		size_t ending = strlen(endings[i]);

		if (len > ending && str_eq(path + len - ending, endings[i]))
			return true;
	}
	return false;
}

/*
 * For an ordinary user, write access is proof of a delegation. Root can write everywhere, so a unit
 * must be marked as delegated.
 */
static int check_delegated(int own, const char *path, struct err *err)
{
	cleanup_free char *type = read_group_file(own, "cgroup.type");

	if (type == NULL)
		return err_set(err, ERR_DENIED,
			       "the server runs in the root of the machine's control groups");
	if (!can_write(own, ".") || !can_write(own, "cgroup.procs") ||
	    !can_write(own, "cgroup.subtree_control"))
		return err_set(err, ERR_DENIED,
			       "the server's control group is not delegated to its user");
	if (geteuid() == 0 && is_unit(path) && !is_marked(own))
		return err_set(err, ERR_DENIED,
			       "the server's control group belongs to systemd (no Delegate=yes)");
	if (!str_eq(type, "domain\n"))
		return err_set(err, ERR_UNSUPPORTED, "the server's control group is of type %.*s",
			       (int)strcspn(type, "\n"), type);
	return 0;
}

/* ---- who is in it ---- */

static void list_members(int folder, struct pidlist *ret_list)
{
	cleanup_free char *text = read_group_file(folder, "cgroup.procs");
	char *rest = text;

	while (rest != NULL && *rest != '\0') {
		char *end;
		long pid = strtol(rest, &end, DECIMAL);

		if (end == rest)
			return;
		pidlist_add(ret_list, (pid_t)pid);
		rest = end + strspn(end, "\n");
	}
}

/* A /proc that hides processes (hidepid) lacks the files of some that run. */
static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

/*
 * Returns true for the caller, its descendants and processes that are gone. A pid of another
 * namespace shows as 0 and belongs to another program. The `children` of the caller are known even
 * where /proc hides them.
 */
static bool is_ours(pid_t pid, const struct pidlist *children)
{
	for (int i = 0; i < GENERATIONS_MAX && pid > 0; i++) {
		struct proctree_stat stat;
		char path[32];

		if (pid == getpid() || pidlist_has(children, pid))
			return true;
		(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		if (!proctree_stat(path, &stat))
			return is_gone(pid);
		pid = stat.parent;
	}
	return false;
}

static int check_alone(int own, struct err *err)
{
	cleanup_pidlist struct pidlist members = { 0 };
	cleanup_pidlist struct pidlist children = { 0 };

	list_members(own, &members);
	proctree_children(&children);
	for (size_t i = 0; i < members.len; i++)
		if (!is_ours(members.pids[i], &children))
			return err_set(err, ERR_DENIED,
				       "other programs run in the server's control group");
	return 0;
}

/* Repeats until no member is left, because a member may fork meanwhile. */
static int move_members(int from, int to, struct err *err)
{
	for (int i = 0; i < MOVES_MAX; i++) {
		cleanup_pidlist struct pidlist members = { 0 };
		cleanup_pidlist struct pidlist children = { 0 };

		list_members(from, &members);
		if (members.len == 0)
			return 0;
		proctree_children(&children);
		for (size_t j = 0; j < members.len; j++)
			if (is_ours(members.pids[j], &children) &&
			    write_group_number(to, "cgroup.procs", (uint64_t)members.pids[j]) < 0 &&
			    errno != ESRCH)
				return err_sys(err, "moving into a control group");
	}
	return err_set(err, ERR_BUSY, "other programs run in the server's control group");
}

/* ---- groups of killed servers ---- */

/*
 * Reads the server's group name from the name of any group of a server. Returns false for other
 * names.
 */
static bool read_token(const char *name, char ret_server[SERVER_NAME_MAX])
{
	const size_t len = strlen(PREFIX) + TOKEN_LEN;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 || strlen(name) < len ||
	    (name[len] != '\0' && name[len] != '-'))
		return false;
	(void)snprintf(ret_server, SERVER_NAME_MAX, "%.*s", (int)len, name);
	return true;
}

static bool server_lives(int own, const char *server)
{
	cleanup_fd int folder = open_group(own, server);

	return folder >= 0 && read_event(folder, "cgroup.events", "populated") != 0;
}

static void remove_group(int own, const char *name)
{
	cleanup_fd int folder = open_group(own, name);

	if (folder >= 0)
		(void)write_group_file(folder, "cgroup.kill", "1\n");
	(void)unlinkat(own, name, AT_REMOVEDIR);
}

/*
 * Removes groups of servers that have died. Returns whether another server with a group here lives.
 */
static bool remove_stale_groups(int own, const char *except)
{
	DIR *folder = fd_list_own(open_group(own, "."));
	bool others = false;

	if (folder == NULL)
		return false;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		char server[SERVER_NAME_MAX];

		if (!read_token(entry->d_name, server) || str_eq(server, except))
			continue;
		if (server_lives(own, server))
			others = true;
		else
			remove_group(own, entry->d_name);
	}
	(void)closedir(folder);
	return others;
}

/* ---- taking and giving back ---- */

static void switch_controllers(struct cgroups *groups, char sign, uint32_t which)
{
	for (unsigned int i = 0; i < CGROUP_CONTROLLERS; i++) {
		char text[16];

		if ((which & BIT(i)) == 0)
			continue;
		(void)snprintf(text, sizeof(text), "%c%s\n", sign,
			       cgroup_controller_name((enum cgroup_controller)i));
		if (write_group_file(groups->own, "cgroup.subtree_control", text) == 0 &&
		    sign == '+')
			groups->enabled |= BIT(i);
	}
}

/* The files of a controller may be missing when the kernel was built without a part of it. */
static uint32_t find_controllers(int folder)
{
	static const char *const files[CGROUP_CONTROLLERS] = {
		[CGROUP_MEMORY] = "memory.max",
		[CGROUP_PIDS] = "pids.max",
		[CGROUP_CPU] = "cpu.weight",
	};
	uint32_t found = 0;

	for (unsigned int i = 0; i < CGROUP_CONTROLLERS; i++)
		if (can_write(folder, files[i]))
			found |= BIT(i);
	return found;
}

static int divide_group(struct cgroups *groups, struct err *err)
{
	cleanup_free char *offered = read_group_file(groups->own, "cgroup.controllers");
	cleanup_free char *on = read_group_file(groups->own, "cgroup.subtree_control");
	const uint32_t before = on != NULL ? cgroup_parse_controllers(on) : 0;
	const uint32_t all = offered != NULL ? cgroup_parse_controllers(offered) : 0;

	groups->server = make_group(groups->own, groups->name);
	if (groups->server < 0)
		return err_sys(err, "making a control group");
	if (move_members(groups->own, groups->server, err) < 0)
		return -1;
	switch_controllers(groups, '+', all & ~before);
	groups->controllers = find_controllers(groups->server);
	groups->can_kill = can_write(groups->server, "cgroup.kill");
	if (groups->controllers == 0 && !groups->can_kill)
		return err_set(err, ERR_UNSUPPORTED, "no controller is delegated to the server");
	if ((groups->controllers & BIT(CGROUP_CPU)) != 0)
		(void)write_group_file(groups->server, "cpu.weight", SERVER_WEIGHT "\n");
	return 0;
}

struct cgroups *cgroups_take(struct err *err)
{
	cleanup_free char *path = NULL;
	cleanup_fd int own = open_own_group(&path, err);
	char token[TOKEN_LEN + 1];
	struct cgroups *groups;

	if (own < 0 || check_delegated(own, path, err) < 0 || check_alone(own, err) < 0)
		return NULL;
	random_hex(token, TOKEN_LEN);
	groups = xcalloc(1, sizeof(*groups));
	groups->own = fd_steal(&own);
	groups->server = -1;
	(void)snprintf(groups->name, sizeof(groups->name), PREFIX "%s", token);
	(void)remove_stale_groups(groups->own, groups->name);
	if (divide_group(groups, err) == 0)
		return groups;
	cgroups_free(groups);
	return NULL;
}

static void pause_ms(long ms)
{
	(void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000L }, NULL);
}

/*
 * Removes groups that were not empty when their sessions ended; they are within milliseconds.
 * Returns whether none is left.
 */
static bool remove_leaves(const struct cgroups *groups)
{
	DIR *folder = fd_list_own(open_group(groups->own, "."));
	bool left = false;

	if (folder == NULL)
		return true;
	for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
		char server[SERVER_NAME_MAX];

		if (!read_token(entry->d_name, server) || !str_eq(server, groups->name) ||
		    str_eq(entry->d_name, groups->name))
			continue;
		remove_group(groups->own, entry->d_name);
		left |= group_exists(groups->own, entry->d_name);
	}
	(void)closedir(folder);
	return !left;
}

/* Moves the members back, unless another server still has sessions below this group. */
static void restore_group(struct cgroups *groups)
{
	struct err err;

	for (int i = 0; i < ENDING_MS && !remove_leaves(groups); i++)
		pause_ms(1);
	if (remove_stale_groups(groups->own, groups->name))
		return;
	switch_controllers(groups, '-', groups->enabled);
	if (move_members(groups->server, groups->own, &err) == 0)
		(void)unlinkat(groups->own, groups->name, AT_REMOVEDIR);
}

void cgroups_free(struct cgroups *groups)
{
	if (groups == NULL)
		return;
	if (groups->server >= 0)
		restore_group(groups);
	fd_close(&groups->server);
	fd_close(&groups->own);
	free(groups);
}

uint32_t cgroups_controllers(const struct cgroups *groups)
{
	return groups->controllers;
}

bool cgroups_can_kill(const struct cgroups *groups)
{
	return groups->can_kill;
}

/* ---- the group of one session ---- */

static int set_group_limits(const struct cgroup_leaf *leaf, const struct cgroup_limits *limits,
			    struct err *err)
{
	const uint32_t controllers = leaf->groups->controllers;

	if ((controllers & BIT(CGROUP_MEMORY)) != 0 &&
	    write_group_number(leaf->folder, "memory.max", limits->memory_max) < 0)
		return err_sys(err, "limiting memory by control group");
	/*
	 * With swap, memory above the limit would go to the disk. Without swap in the kernel the
	 * file is missing.
	 */
	if ((controllers & BIT(CGROUP_MEMORY)) != 0)
		(void)write_group_file(leaf->folder, "memory.swap.max", "0\n");
	if ((controllers & BIT(CGROUP_PIDS)) != 0 &&
	    write_group_number(leaf->folder, "pids.max", limits->tasks_max) < 0)
		return err_sys(err, "limiting processes by control group");
	return 0;
}

struct cgroup_leaf *cgroups_leaf_new(struct cgroups *groups, const struct cgroup_limits *limits,
				     struct err *err)
{
	struct cgroup_leaf *leaf = xcalloc(1, sizeof(*leaf));

	leaf->groups = groups;
	leaf->memory_max = limits->memory_max;
	(void)snprintf(leaf->name, sizeof(leaf->name), "%s-%" PRIu64, groups->name, ++groups->next);
	leaf->folder = make_group(groups->own, leaf->name);
	if (leaf->folder < 0)
		(void)err_sys(err, "making a control group");
	else if (set_group_limits(leaf, limits, err) == 0)
		return leaf;
	cgroups_leaf_free(leaf);
	return NULL;
}

int cgroups_leaf_folder(const struct cgroup_leaf *leaf)
{
	return leaf->folder;
}

uint64_t cgroups_leaf_memory_max(const struct cgroup_leaf *leaf)
{
	return leaf->memory_max;
}

uint64_t cgroups_leaf_oom_kills(const struct cgroup_leaf *leaf)
{
	return read_event(leaf->folder, "memory.events", "oom_kill");
}

bool cgroups_leaf_end(struct cgroup_leaf *leaf)
{
	if (leaf->removed || leaf->folder < 0)
		return true;
	(void)write_group_file(leaf->folder, "cgroup.kill", "1\n");
	leaf->removed =
		unlinkat(leaf->groups->own, leaf->name, AT_REMOVEDIR) == 0 || errno == ENOENT;
	return leaf->removed;
}

void cgroups_leaf_free(struct cgroup_leaf *leaf)
{
	if (leaf == NULL)
		return;
	(void)cgroups_leaf_end(leaf);
	fd_close(&leaf->folder);
	free(leaf);
}
