/* SPDX-License-Identifier: MIT */
/*
 * bwrap.c - writes bwrap's command line for a policy, and becomes bwrap.
 *
 * bwrap binds folders by path, which may change between check and use. Every path is therefore
 * compared with the server's descriptor twice: here, and inside by init (bwrap_compare).
 * Descriptors that are not close-on-exec pass through bwrap, so these are placed one by one.
 */
#include "sandbox/supervise/bwrap.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "sandbox/namespaces/uid_map.h"
#include "sandbox/rootfs/hosttree.h"
#include "sandbox/rootfs/mount_source.h"
#include "sandbox/supervise/setup.h"
#include "sandbox/supervise/subreaper.h"

enum {
	/* three for each folder shown, and some for the rest */
	ARGUMENTS_MAX = 128 + 3 * (64 + POLICY_SHARES_MAX + POLICY_RUNTIMES_MAX),
	FILES_MAX = 8,
	FDS_MAX = 16 + POLICY_SHARES_MAX,
	KEPT_MAX = FDS_MAX + FILES_MAX + 2,
};

/* Never freed: the process execs or exits. */
struct command {
	char *argv[ARGUMENTS_MAX];
	size_t argc;
	int files[FILES_MAX]; /* the contents of hosttree_made */
	bool overflow;
};

/* ---- arguments ---- */

static void add_argument(struct command *command, const char *argument)
{
	/* The last element stays free for the NULL. */
	if (command->argc == ARGUMENTS_MAX - 1)
		command->overflow = true;
	else
		command->argv[command->argc++] = xstrdup(argument);
}

static void add_pair(struct command *command, const char *option, const char *value)
{
	add_argument(command, option);
	add_argument(command, value);
}

static void add_three(struct command *command, const char *option, const char *from, const char *to)
{
	add_pair(command, option, from);
	add_argument(command, to);
}

static void add_number(struct command *command, const char *option, unsigned long long number)
{
	cleanup_free char *text = xasprintf("%llu", number);

	add_pair(command, option, text);
}

static void add_namespaces(struct command *command)
{
	static const char *const options[] = {
		"--unshare-user", "--unshare-pid",    "--unshare-net",     "--unshare-ipc",
		"--unshare-uts",  "--unshare-cgroup", "--die-with-parent", "--as-pid-1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		add_argument(command, options[i]);
	add_pair(command, "--hostname", "ptycell");
	add_number(command, "--uid", UID_MAP_INSIDE);
	add_number(command, "--gid", UID_MAP_INSIDE);
	add_pair(command, "--cap-drop", "ALL");
}

/*
 * Shows `path` as the host has it: a link as the same link, anything else bound read-only. A path
 * that does not exist is left out.
 */
static int add_shown(void *data, const char *path, struct err *err)
{
	struct command *command = data;
	char target[PATH_MAX];
	struct stat st;
	ssize_t len;

	if (lstat(path, &st) < 0)
		return 0;
	if (!S_ISLNK(st.st_mode)) {
		add_three(command, "--ro-bind", path, path);
		return 0;
	}
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return err_sys(err, "reading '%s'", path);
	target[len] = '\0';
	add_three(command, "--symlink", target, path);
	return 0;
}

static int add_system(struct command *command, struct err *err)
{
	static const char *const empty[] = { "/home", "/mnt", "/root", "/run", "/var" };
	cleanup_fd int etc = hosttree_open_etc("", err);

	if (etc < 0)
		return -1;
	for (size_t i = 0; i < hosttree_system_count; i++)
		if (add_shown(command, hosttree_system[i], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
		add_pair(command, "--dir", empty[i]);
	return hosttree_each_etc(etc, add_shown, command, err);
}

/* Called after the descriptors have been placed, because their numbers are arguments. */
static void add_made(struct command *command)
{
	for (size_t i = 0; i < hosttree_made_count; i++) {
		add_number(command, "--ro-bind-data", (unsigned int)command->files[i]);
		add_argument(command, hosttree_made[i].path);
	}
}

static void add_scratch(struct command *command, const struct policy *policy, const char *path)
{
	add_pair(command, "--perms", "1777");
	if (policy->tmp_bytes_max != POLICY_NO_LIMIT)
		add_number(command, "--size", policy->tmp_bytes_max);
	add_pair(command, "--tmpfs", path);
}

/* bwrap cannot make a file in /proc, so each must be there. */
static void add_masks(struct command *command)
{
	for (size_t i = 0; i < hosttree_masked_count; i++)
		if (access(hosttree_masked[i], F_OK) == 0)
			add_three(command, "--dev-bind", "/dev/null", hosttree_masked[i]);
}

static void add_kernel(struct command *command, const struct policy *policy)
{
	add_pair(command, "--proc", "/proc");
	add_pair(command, "--dev", "/dev");
	add_masks(command);
	add_scratch(command, policy, "/dev/shm");
	add_scratch(command, policy, "/tmp");
	/* A folder cannot be bound below a link. */
	if (policy_shows_below(policy, "/var/tmp"))
		add_scratch(command, policy, "/var/tmp");
	else
		add_three(command, "--symlink", "../tmp", "/var/tmp");
}

/* ---- the session's own folders ---- */

static int by_length(const void *a, const void *b)
{
	size_t len_a = strlen(*(const char *const *)a);
	size_t len_b = strlen(*(const char *const *)b);

	return (len_a > len_b) - (len_a < len_b);
}

static int add_shares_and_runtimes(struct command *command, const struct policy *policy,
				   struct err *err)
{
	const char *paths[POLICY_SHARES_MAX + POLICY_RUNTIMES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < policy->share_count; i++)
		paths[count++] = policy->shares[i].path;
	for (size_t i = 0; i < policy->runtime_count; i++)
		paths[count++] = policy->runtimes[i];
	/* An outer folder must come before an inner one, which it would hide. */
	qsort(paths, count, sizeof(paths[0]), by_length);
	for (size_t i = 0; i < count; i++) {
		if (hosttree_is_reserved(paths[i]))
			return err_set(err, ERR_DENIED, "'%s' cannot be shown to a session",
				       paths[i]);
		add_three(command, "--ro-bind", paths[i], paths[i]);
	}
	return 0;
}

static int add_folders(struct command *command, const struct policy *policy, struct err *err)
{
	if (add_shares_and_runtimes(command, policy, err) < 0)
		return -1;
	add_three(command, "--bind", policy->data_path, POLICY_DATA);
	if (hosttree_links_user_data(policy)) {
		add_three(command, "--symlink", POLICY_DATA "/output", POLICY_OUTPUTS);
		add_three(command, "--symlink", POLICY_DATA "/input", POLICY_UPLOADS);
	}
	if (policy->spool_path[0] != '\0')
		add_three(command, "--ro-bind", policy->spool_path, POLICY_SPOOL);
	if (policy->packages_path[0] != '\0') {
		add_three(command, "--ro-bind", policy->packages_path, POLICY_PACKAGES);
		add_three(command, "--symlink", POLICY_MODULES_TARGET, POLICY_MODULES);
	}
	return 0;
}

static void add_end(struct command *command, int program, const struct bwrap_start *start)
{
	cleanup_free char *path = xasprintf("/proc/self/fd/%d", program);

	add_pair(command, "--remount-ro", "/dev");
	add_pair(command, "--remount-ro", "/");
	add_pair(command, "--chdir", "/");
	add_argument(command, path);
	add_number(command, start->role, start->fd_count);
}

/* ---- descriptors ---- */

static int make_data_file(const char *text, struct err *err)
{
	cleanup_fd int fd = fd_unnamed("ptycell", err);

	if (fd < 0 || fd_write_all(fd, text, strlen(text), err) < 0)
		return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "preparing a file of a sandbox");
	return fd_steal(&fd);
}

static int make_data_files(struct command *command, struct err *err)
{
	_Static_assert(FILES_MAX >= 4, "room for hosttree_made");
	for (size_t i = 0; i < hosttree_made_count; i++) {
		command->files[i] = make_data_file(hosttree_made[i].text, err);
		if (command->files[i] < 0)
			return -1;
	}
	return 0;
}

/*
 * Places the descriptors of `start` first, then those that only bwrap needs. Standard error stays
 * open for bwrap's messages.
 */
static int place_bwrap_descriptors(const struct bwrap_start *start, struct command *command,
				   int *program, struct err *err)
{
	int *kept[KEPT_MAX];
	int complaint = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, BWRAP_FIRST_FD);
	size_t count = 0;

	for (size_t i = 0; i < start->fd_count; i++)
		kept[count++] = start->fds[i];
	kept[count++] = program;
	for (size_t i = 0; i < hosttree_made_count; i++)
		kept[count++] = &command->files[i];
	kept[count++] = &complaint;
	if (subreaper_close_others(kept, count, err) < 0)
		return -1;
	for (size_t i = 0; i + 1 < count; i++)
		if (fcntl(*kept[i], F_SETFD, 0) < 0)
			return err_sys(err, "handing descriptors to bwrap");
	if (dup2(complaint, STDERR_FILENO) < 0)
		return err_sys(err, "handing descriptors to bwrap");
	return 0;
}

/* ---- becoming bwrap ---- */

int bwrap_check(struct err *err)
{
	struct stat st;

	if (geteuid() == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "bwrap gives root no more than it has by itself");
	if (lstat(BWRAP_PROGRAM, &st) < 0)
		return err_set(err, ERR_UNSUPPORTED, "there is no " BWRAP_PROGRAM);
	if (!S_ISREG(st.st_mode) || st.st_uid != 0 || (st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return err_set(err, ERR_UNSUPPORTED, BWRAP_PROGRAM " is not the system's own");
	if ((st.st_mode & (S_ISUID | S_ISGID)) != 0)
		return err_set(err, ERR_UNSUPPORTED,
			       BWRAP_PROGRAM " is set-user-id, and not used for that");
	return 0;
}

/* Compares folders in the order of a WIRE_SANDBOX. `inside`: at the paths of the session's root. */
static int compare_folders(const struct policy *policy, const int *folders, bool inside,
			   struct err *err)
{
	const char *const own[][2] = {
		{ policy->data_path, POLICY_DATA },
		{ policy->spool_path, POLICY_SPOOL },
		{ policy->packages_path, POLICY_PACKAGES },
	};

	for (size_t i = 0; i < ARRAY_SIZE(own) + policy->share_count; i++) {
		const char *path = i < ARRAY_SIZE(own) ? own[i][inside ? 1 : 0]
						       : policy->shares[i - ARRAY_SIZE(own)].path;
		cleanup_fd int fd = -1;

		if (i < ARRAY_SIZE(own) && own[i][0][0] == '\0')
			continue;
		fd = mount_source_open(path, *folders++, err);
		if (fd < 0)
			return -1;
	}
	return 0;
}

/* Inside the sandbox a path cannot be exchanged any more, so this comparison is final. */
int bwrap_compare(const struct policy *policy, const int *folders, struct err *err)
{
	return compare_folders(policy, folders, true, err);
}

static int add_all(struct command *command, const struct policy *policy, struct err *err)
{
	add_argument(command, BWRAP_PROGRAM);
	add_namespaces(command);
	if (add_system(command, err) < 0)
		return -1;
	add_made(command);
	add_kernel(command, policy);
	return add_folders(command, policy, err);
}

int bwrap_exec(const struct bwrap_start *start, struct err *err)
{
	struct command command = { .argc = 0 };
	char *const no_environment[] = { NULL };
	sigset_t none;
	int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (program < 0)
		return err_sys(err, "opening the launcher");
	if (start->fd_count > FDS_MAX)
		return err_set(err, ERR_INTERNAL, "too many descriptors for bwrap");
	if (bwrap_check(err) < 0 ||
	    compare_folders(start->policy, start->folders, false, err) < 0 ||
	    make_data_files(&command, err) < 0 ||
	    place_bwrap_descriptors(start, &command, &program, err) < 0 ||
	    add_all(&command, start->policy, err) < 0)
		return -1;
	add_end(&command, program, start);
	if (command.overflow)
		return err_set(err, ERR_LIMIT, "more folders than bwrap can be told of");
	setup_prefer_for_oom();
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)execve(BWRAP_PROGRAM, command.argv, no_environment);
	return err_sys(err, "starting " BWRAP_PROGRAM);
}
