/* SPDX-License-Identifier: MIT */
/*
 * rootfs.c - builds a session's file tree in a new mount namespace, and enters it.
 *
 * A tmpfs becomes the new root by pivot_root; the old root stays at /old until everything is
 * mounted. Sources are descriptors that were opened before. Targets are opened without following
 * links, because a share may contain links that session code made earlier. A fresh /proc needs the
 * right that every part of the existing one is visible (mount_too_revealing); a container's masked
 * /proc is shown as it is then.
 */
#include "sandbox/rootfs/rootfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/report.h"
#include "sandbox/rootfs/hosttree.h"
#include "sandbox/rootfs/mount_source.h"
#include "sandbox/rootfs/protect.h"
#include "sandbox/rootfs/rootfs_internal.h"

enum {
	OPTIONS_MAX = 96,
	BINDS_MAX = POLICY_SHARES_MAX + POLICY_RUNTIMES_MAX,
	PROCESSES_PART = 16, /* the part of the memory that files in memory may not take */
};

static const struct mount_source_bind read_only = { .execute = true };
static const struct mount_source_bind read_write = { .execute = true, .writable = true };
static const struct mount_source_bind device = { .writable = true, .devices = true };

/* ---- sources ---- */

static void close_all(int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fd_close(&fds[i]);
}

void rootfs_sources_release(struct rootfs_sources *sources)
{
	fd_close(&sources->data);
	fd_close(&sources->spool);
	fd_close(&sources->packages);
	close_all(sources->shares, POLICY_SHARES_MAX);
	close_all(sources->runtimes, POLICY_RUNTIMES_MAX);
}

/* Opens the next of `folders`, unless the policy has no such path. */
static int open_next(const char *path, const int **folders, int *ret_fd, struct err *err)
{
	if (path[0] == '\0')
		return 0;
	*ret_fd = mount_source_open(path, *(*folders)++, err);
	return *ret_fd < 0 ? -1 : 0;
}

static int open_share(const struct policy *policy, size_t i, const int **folders,
		      struct rootfs_sources *sources, struct err *err)
{
	if ((sources->idmapped & BIT(i)) == 0)
		return open_next(policy->shares[i].path, folders, &sources->shares[i], err);
	sources->shares[i] = fd_dup(*(*folders)++, err);
	return sources->shares[i] < 0 ? -1 : 0;
}

static int open_all(const struct policy *policy, const int *folders, struct rootfs_sources *sources,
		    struct err *err)
{
	if (open_next(policy->data_path, &folders, &sources->data, err) < 0 ||
	    open_next(policy->spool_path, &folders, &sources->spool, err) < 0 ||
	    open_next(policy->packages_path, &folders, &sources->packages, err) < 0)
		return -1;
	for (size_t i = 0; i < policy->share_count; i++)
		if (open_share(policy, i, &folders, sources, err) < 0)
			return -1;
	for (size_t i = 0; i < policy->runtime_count; i++) {
		sources->runtimes[i] = mount_source_open(policy->runtimes[i], -1, err);
		if (sources->runtimes[i] < 0)
			return -1;
	}
	return 0;
}

int rootfs_open_sources(const struct policy *policy, const int *folders, uint32_t idmapped,
			struct rootfs_sources *ret_sources, struct err *err)
{
	struct rootfs_sources sources = { -1, -1, -1, { 0 }, { 0 }, idmapped, 0 };

	for (size_t i = 0; i < POLICY_SHARES_MAX; i++)
		sources.shares[i] = -1;
	for (size_t i = 0; i < POLICY_RUNTIMES_MAX; i++)
		sources.runtimes[i] = -1;
	if (open_all(policy, folders, &sources, err) < 0) {
		rootfs_sources_release(&sources);
		return -1;
	}
	*ret_sources = sources;
	return 0;
}

/* ---- folders and links ---- */

int rootfs_make_folder(const char *path, struct err *err)
{
	char part[PATH_MAX];
	size_t len = strlen(path);

	if (len >= sizeof(part))
		return err_set(err, ERR_LIMIT, "the path '%s' is too long", path);
	memcpy(part, path, len + 1);
	for (char *end = part; end != NULL;) {
		end = strchr(end + 1, '/');
		if (end != NULL)
			*end = '\0';
		if (mkdir(part, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "creating '%s' in the sandbox", part);
		if (end != NULL)
			*end = '/';
	}
	return 0;
}

static int make_parent(const char *path, struct err *err)
{
	char parent[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t len = (size_t)(slash - path);

	if (len == 0)
		return 0;
	if (len >= sizeof(parent))
		return err_set(err, ERR_LIMIT, "the path '%s' is too long", path);
	memcpy(parent, path, len);
	parent[len] = '\0';
	return rootfs_make_folder(parent, err);
}

static int make_link(const char *target, const char *path, struct err *err)
{
	if (symlink(target, path) < 0)
		return err_sys(err, "creating '%s' in the sandbox", path);
	return 0;
}

static int make_file(const char *path, struct err *err)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	return fd < 0 ? err_sys(err, "creating '%s' in the sandbox", path) : 0;
}

/* Makes an empty file or folder to mount on. */
static int make_target(const char *path, mode_t kind, struct err *err)
{
	struct stat st;

	if (S_ISDIR(kind))
		return rootfs_make_folder(path, err);
	if (make_parent(path, err) < 0)
		return -1;
	return lstat(path, &st) == 0 ? 0 : make_file(path, err);
}

static int copy_link(const char *from, const char *to, struct err *err)
{
	char target[PATH_MAX];
	ssize_t len = readlink(from, target, sizeof(target) - 1);

	if (len < 0)
		return err_sys(err, "reading '%s'", from);
	target[len] = '\0';
	return make_link(target, to, err);
}

static int show_host_path(const char *path, const struct mount_source_bind *how, struct err *err)
{
	cleanup_fd int source = -1;
	char old[PATH_MAX];
	struct stat st;

	(void)snprintf(old, sizeof(old), ROOT_OLD "%s", path);
	if (lstat(old, &st) < 0)
		return 0;
	if (S_ISLNK(st.st_mode))
		return make_parent(path, err) < 0 ? -1 : copy_link(old, path, err);
	source = mount_source_open(old, -1, err);
	if (source < 0 || make_target(path, st.st_mode, err) < 0)
		return -1;
	return mount_source_bind(source, path, -1, how, err);
}

int rootfs_show(const char *path, struct err *err)
{
	return show_host_path(path, &read_only, err);
}

static int mount_tmpfs(const char *path, unsigned long flags, const char *options, struct err *err)
{
	if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV | flags, options) < 0)
		return err_sys(err, "mounting a tmpfs on '%s'", path);
	return 0;
}

/* At least this part of the memory is left for processes. */
uint64_t rootfs_shared_room(const struct policy *policy, uint64_t used)
{
	uint64_t max = policy->memory_max - policy->memory_max / PROCESSES_PART;

	if (policy->memory_max == POLICY_NO_LIMIT)
		return policy->tmp_bytes_max;
	return used < max ? max - used : 0;
}

int rootfs_resize_shared(uint64_t bytes)
{
	char options[OPTIONS_MAX];

	/* Size 0 would mean no limit. */
	(void)snprintf(options, sizeof(options), "size=%" PRIu64, bytes > 0 ? bytes : 1);
	return mount(NULL, ROOTFS_SHARED, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, options);
}

/* Mounts a tmpfs that every user may write to, limited by `bytes` and the policy. */
static int mount_scratch(const char *path, uint64_t bytes, const struct policy *policy,
			 struct err *err)
{
	char options[OPTIONS_MAX] = "mode=1777";
	size_t used = strlen(options);

	if (bytes != POLICY_NO_LIMIT)
		used += (size_t)snprintf(options + used, sizeof(options) - used, ",size=%llu",
					 (unsigned long long)bytes);
	if (policy->tmp_files_max != POLICY_NO_LIMIT)
		(void)snprintf(options + used, sizeof(options) - used, ",nr_inodes=%llu",
			       (unsigned long long)policy->tmp_files_max);
	if (rootfs_make_folder(path, err) < 0)
		return -1;
	return mount_tmpfs(path, 0, options, err);
}

/* ---- the parts of the tree ---- */

/*
 * Mounts and enters an empty tmpfs. Must come first, because the mount hides the folders below its
 * mount point.
 */
static int enter_base(struct err *err)
{
	static const char base[] = "/usr"; /* any folder that every host has */

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(err, "making the mounts private");
	if (mount_tmpfs(base, 0, "mode=755,size=1m,nr_inodes=4096", err) < 0)
		return -1;
	if (chdir(base) < 0 || mkdir("old", 0700) < 0 || syscall(SYS_pivot_root, ".", "old") < 0 ||
	    chdir("/") < 0)
		return err_sys(err, "changing the root");
	return 0;
}

static int make_system(int etc, struct err *err)
{
	static const char *const empty[] = { "/home", "/mnt", "/root", "/run", "/var" };

	for (size_t i = 0; i < hosttree_system_count; i++)
		if (rootfs_show(hosttree_system[i], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(empty); i++)
		if (rootfs_make_folder(empty[i], err) < 0)
			return -1;
	return rootfs_make_etc(etc, err);
}

static int make_proc(uint32_t *layers, struct err *err)
{
	static const struct mount_source_bind shared = { .writable = true };
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;
	cleanup_fd int old = -1;

	if (rootfs_make_folder("/proc", err) < 0)
		return -1;
	if (mount("proc", "/proc", "proc", flags, NULL) == 0)
		return 0;
	*layers &= ~BIT(LAYER_PRIVATE_PROC);
	/*
	 * A container masks parts of its /proc, and the kernel refuses a mount that would show
	 * them.
	 */
	if (errno != EPERM)
		return err_sys(err, "mounting /proc");
	old = mount_source_open(ROOT_OLD "/proc", -1, err);
	return old < 0 ? -1 : mount_source_bind(old, "/proc", -1, &shared, err);
}

static int mask_proc(struct err *err)
{
	for (size_t i = 0; i < hosttree_masked_count; i++) {
		cleanup_fd int null = -1;

		if (access(hosttree_masked[i], F_OK) < 0)
			continue;
		null = mount_source_open("/dev/null", -1, err);
		if (null < 0 || mount_source_bind(null, hosttree_masked[i], -1, &device, err) < 0)
			return -1;
	}
	return 0;
}

static int make_terminals(struct err *err)
{
	if (rootfs_make_folder("/dev/pts", err) < 0)
		return -1;
	if (mount("devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		  "newinstance,ptmxmode=0666,mode=620,max=256") < 0)
		return err_sys(err, "mounting /dev/pts");
	return make_link("pts/ptmx", "/dev/ptmx", err);
}

static int make_devices(const struct policy *policy, struct err *err)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/dev/fd" },
		{ "/proc/self/fd/0", "/dev/stdin" },
		{ "/proc/self/fd/1", "/dev/stdout" },
		{ "/proc/self/fd/2", "/dev/stderr" },
	};

	if (rootfs_make_folder("/dev", err) < 0 ||
	    mount_tmpfs("/dev", MS_NOEXEC, "mode=755,size=64k,nr_inodes=64", err) < 0)
		return -1;
	for (size_t i = 0; i < hosttree_device_count; i++)
		if (show_host_path(hosttree_devices[i], &device, err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_SIZE(links); i++)
		if (make_link(links[i][0], links[i][1], err) < 0)
			return -1;
	if (make_terminals(err) < 0 || mask_proc(err) < 0)
		return -1;
	return mount_scratch(ROOTFS_SHARED, rootfs_shared_room(policy, 0), policy, err);
}

/* ---- the session's own folders ---- */

struct bind {
	const char *path;
	const struct mount_source_bind *how;
	int source;
	bool is_mount; /* the source is a detached mount, which only needs attaching */
};

static int bind_one(int root, const struct bind *bind, struct err *err)
{
	cleanup_fd int target = -1;
	struct stat st;

	if (hosttree_is_reserved(bind->path))
		return err_set(err, ERR_DENIED, "'%s' cannot be shown to a session", bind->path);
	if (fstat(bind->source, &st) < 0)
		return err_sys(err, "looking at '%s'", bind->path);
	if (make_target(bind->path, st.st_mode, err) < 0)
		return -1;
	/*
	 * The target may be in a share that earlier sessions could write to, so no link is
	 * followed.
	 */
	target = mount_source_open_below(root, bind->path, err);
	if (target < 0)
		return -1;
	if (bind->is_mount)
		return mount_source_place(bind->source, bind->path, target, err);
	return mount_source_bind(bind->source, bind->path, target, bind->how, err);
}

static int by_length(const void *a, const void *b)
{
	size_t len_a = strlen(((const struct bind *)a)->path);
	size_t len_b = strlen(((const struct bind *)b)->path);

	return len_a < len_b ? -1 : len_a > len_b;
}

/* Makes /var/tmp the same as /tmp: a link, or a bind mount if something is shown in it. */
static int make_var_tmp(const struct policy *policy, struct err *err)
{
	static const char path[] = "/var/tmp";

	if (!policy_shows_below(policy, path))
		return make_link("../tmp", path, err);
	if (rootfs_make_folder(path, err) < 0)
		return -1;
	if (mount("/tmp", path, NULL, MS_BIND, NULL) < 0)
		return err_sys(err, "mounting %s", path);
	return 0;
}

static int bind_shares_and_runtimes(const struct policy *policy,
				    const struct rootfs_sources *sources, struct err *err)
{
	cleanup_fd int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct bind binds[BINDS_MAX];
	const char *writable[BINDS_MAX];
	size_t count = 0;
	size_t writable_count = 0;

	for (size_t i = 0; i < policy->share_count; i++)
		binds[count++] = (struct bind){
			.path = policy->shares[i].path,
			.how = policy->shares[i].writable ? &read_write : &read_only,
			.source = sources->shares[i],
			.is_mount = (sources->idmapped & BIT(i)) != 0,
		};
	for (size_t i = 0; i < policy->runtime_count; i++)
		if (!hosttree_is_within(policy->runtimes[i], "/usr"))
			binds[count++] = (struct bind){
				.path = policy->runtimes[i],
				.how = &read_only,
				.source = sources->runtimes[i],
				.is_mount = (sources->overlaid & BIT(i)) != 0,
			};
	/* An outer folder must come before an inner one, which it would hide. */
	qsort(binds, count, sizeof(binds[0]), by_length);
	for (size_t i = 0; i < count; i++)
		if (bind_one(root, &binds[i], err) < 0)
			return -1;
	/* Last, because a share within a share is protected itself. */
	for (size_t i = 0; i < count; i++)
		if (binds[i].how->writable)
			writable[writable_count++] = binds[i].path;
	return protect_mount(root, writable, writable_count, err);
}

static int bind_folder(int source, const char *target, const struct mount_source_bind *how,
		       struct err *err)
{
	if (source < 0)
		return 0;
	if (rootfs_make_folder(target, err) < 0)
		return -1;
	return mount_source_bind(source, target, -1, how, err);
}

/* Without overlays the host's own folders are shown. */
static int make_host(const struct policy *policy, struct rootfs_sources *sources, uint32_t *layers,
		     struct err *err)
{
	/* Opened before it has an overlay, which takes a millisecond to list it. */
	cleanup_fd int etc = hosttree_open_etc(ROOT_OLD, err);
	struct err why;

	if (etc < 0)
		return -1;
	if ((*layers & BIT(LAYER_OWN_INODES)) != 0 &&
	    rootfs_overlay_host(policy, sources, &why) < 0)
		*layers &= ~BIT(LAYER_OWN_INODES);
	return make_system(etc, err);
}

static int link_user_data(const struct policy *policy, struct err *err)
{
	if (!hosttree_links_user_data(policy))
		return 0;
	if (rootfs_make_folder(POLICY_USER_DATA, err) < 0 ||
	    make_link(POLICY_DATA "/output", POLICY_OUTPUTS, err) < 0)
		return -1;
	return make_link(POLICY_DATA "/input", POLICY_UPLOADS, err);
}

static int build_tree(const struct policy *policy, struct rootfs_sources *sources, uint32_t *layers,
		      struct err *err)
{
	if (enter_base(err) < 0 || make_host(policy, sources, layers, err) < 0 ||
	    make_proc(layers, err) < 0 || make_devices(policy, err) < 0 ||
	    mount_scratch("/tmp", policy->tmp_bytes_max, policy, err) < 0)
		return -1;
	if (make_var_tmp(policy, err) < 0 || bind_shares_and_runtimes(policy, sources, err) < 0 ||
	    bind_folder(sources->data, POLICY_DATA, &read_write, err) < 0 ||
	    bind_folder(sources->spool, POLICY_SPOOL, &read_only, err) < 0 ||
	    link_user_data(policy, err) < 0)
		return -1;
	if (sources->packages < 0)
		return 0;
	/*
	 * Node searches for modules in the folders above a file, and import() searches nowhere
	 * else.
	 */
	if (symlink(POLICY_MODULES_TARGET, POLICY_MODULES) < 0)
		return err_sys(err, "making '%s'", POLICY_MODULES);
	return bind_folder(sources->packages, POLICY_PACKAGES, &read_only, err);
}

int rootfs_build(const struct policy *policy, struct rootfs_sources *sources, uint32_t *layers,
		 struct err *err)
{
	int rc = build_tree(policy, sources, layers, err);

	rootfs_sources_release(sources);
	return rc;
}

int rootfs_finish(struct err *err)
{
	if (umount2(ROOT_OLD, MNT_DETACH) < 0 || rmdir(ROOT_OLD) < 0)
		return err_sys(err, "leaving the old root");
	if (mount_source_seal("/dev", err) < 0 || mount_source_seal("/proc", err) < 0)
		return -1;
	return mount_source_seal("/", err);
}
