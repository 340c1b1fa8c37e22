/* SPDX-License-Identifier: MIT */
/*
 * cgroup.c - parses the kernel's files about control groups, and forks into a group.
 *
 * CLONE_INTO_CGROUP (Linux 5.7) needs clone3. Where a container's seccomp profile or an old kernel
 * refuses it, the child writes itself into the group through a file that the parent has opened. The
 * kernel judges such a write by who opened the file, so this works although the child has other
 * credentials.
 */
#include "sandbox/namespaces/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/mountinfo.h"

enum { DECIMAL = 10 };

static const char *const names[CGROUP_CONTROLLERS] = {
	[CGROUP_MEMORY] = "memory",
	[CGROUP_PIDS] = "pids",
	[CGROUP_CPU] = "cpu",
};

const char *cgroup_controller_name(enum cgroup_controller controller)
{
	return names[controller];
}

uint32_t cgroup_parse_controllers(const char *text)
{
	uint32_t found = 0;

	for (const char *word = text; *word != '\0';) {
		size_t len = strcspn(word, " \n");

		for (unsigned int i = 0; i < CGROUP_CONTROLLERS; i++)
			if (len == strlen(names[i]) && memcmp(word, names[i], len) == 0)
				found |= BIT(i);
		word += len;
		word += strspn(word, " \n");
	}
	return found;
}

/* Returns a copy of the rest of the line that begins with `prefix`; NULL when there is none. */
static char *copy_line(const char *text, const char *prefix)
{
	const size_t len = strlen(prefix);

	for (const char *line = text; *line != '\0';) {
		size_t whole = strcspn(line, "\n");

		if (whole >= len && memcmp(line, prefix, len) == 0)
			return xmemdup(line + len, whole - len);
		line += whole;
		line += *line == '\n';
	}
	return NULL;
}

char *cgroup_parse_own(const char *text)
{
	static const char deleted[] = " (deleted)";
	char *path = copy_line(text, "0::");
	size_t len = path != NULL ? strlen(path) : 0;

	/* The group was removed, or is outside the view of the cgroup namespace. */
	if (len == 0 || path[0] != '/' || strncmp(path, "/..", 3) == 0 ||
	    (len >= strlen(deleted) && str_eq(path + len - strlen(deleted), deleted))) {
		free(path);
		return NULL;
	}
	return path;
}

uint64_t cgroup_parse_event(const char *text, const char *key)
{
	cleanup_free char *prefix = xasprintf("%s ", key);
	cleanup_free char *number = copy_line(text, prefix);

	return number != NULL ? strtoull(number, NULL, DECIMAL) : 0;
}

/* ---- mounts ---- */

/* Returns the part of `own` below `root`; NULL when it is elsewhere. */
static const char *find_below(const char *root, const char *own)
{
	const size_t len = str_eq(root, "/") ? 0 : strlen(root);

	if (strncmp(own, root, len) != 0 || (own[len] != '/' && own[len] != '\0'))
		return NULL;
	return str_eq(own + len, "/") ? own + len + 1 : own + len;
}

static char *folder_in_mount(const char *line, const char *own)
{
	static const char type[] = " - cgroup2 ";
	cleanup_free char *root = mountinfo_field(line, MOUNTINFO_ROOT);
	cleanup_free char *folder = mountinfo_field(line, MOUNTINFO_POINT);
	const char *below;

	if (memmem(line, strcspn(line, "\n"), type, strlen(type)) == NULL)
		return NULL;
	below = find_below(root, own);
	return below != NULL ? xasprintf("%s%s", folder, below) : NULL;
}

char *cgroup_parse_mounts(const char *mountinfo, const char *own)
{
	for (const char *line = mountinfo; *line != '\0'; line = mountinfo_next(line)) {
		char *folder = folder_in_mount(line, own);

		if (folder != NULL)
			return folder;
	}
	return NULL;
}

/* ---- the fork ---- */

static pid_t clone_plainly(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, 0);
}

int cgroup_open_members(int group)
{
	return openat(group, "cgroup.procs", O_WRONLY | O_CLOEXEC);
}

int cgroup_move(int members, pid_t pid)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%d\n", (int)pid);

	return write(members, text, (size_t)len) == len ? 0 : -1;
}

/*
 * The parent opens the file, because the kernel checks the opener's rights. The child enters the
 * group before anything else, so nothing of it is outside.
 */
static pid_t clone_and_enter(unsigned long flags, int group)
{
	cleanup_fd int members = cgroup_open_members(group);
	pid_t pid = members >= 0 ? clone_plainly(flags) : -1;

	if (pid == 0 && cgroup_move(members, 0) < 0)
		_exit(EXIT_FAILURE);
	return pid;
}

/*
 * Container profiles that cannot inspect clone3's arguments answer ENOSYS. Kernels before 5.7
 * answer E2BIG or EINVAL to flags that they do not know.
 */
pid_t cgroup_fork(unsigned long flags, int group)
{
	struct clone_args args = { .flags = flags, .exit_signal = SIGCHLD };
	pid_t pid;

	if (group >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)group;
	}
	pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0 && (errno == ENOSYS || (group >= 0 && (errno == E2BIG || errno == EINVAL))))
		pid = group >= 0 ? clone_and_enter(flags, group) : clone_plainly(flags);
	return pid;
}
