/* SPDX-License-Identifier: MIT */
/*
 * protect_mount.c - finds the protected names that exist when a session starts, and mounts each on
 * itself.
 *
 * A mount point can be neither renamed nor removed. The folders above it could be moved, so each of
 * them is mounted on itself as well, writable. Mounts are made from the outside in. No process of
 * the session runs yet, so names cannot change between search and mount, except by the user.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/runnames.h"
#include "sandbox/rootfs/mount_source.h"
#include "sandbox/rootfs/protect.h"
#include "sandbox/rootfs/protect_config.h"
#include "sandbox/rootfs/repository.h"

/* A name that is mounted on itself. */
struct pin {
	char *path;
	bool writable;
};

/* A search has one of these aims. */
enum search {
	FIND_NAMES,  /* that are protected */
	FIND_LINKED, /* files in a protected folder that have more names than one */
	FIND_LINKS,  /* the other names of these */
};

/* Protected files, of all shares, that have several hard links. */
struct linked {
	struct stat *files;
	size_t count;
	size_t room;
};

struct walk {
	enum search search;
	const char *share;
	size_t top; /* length of its path */
	struct pin *pins;
	size_t count;
	size_t sorted; /* of them, the first ones; each path once */
	size_t room;
	struct repository_queue folders;
	struct protect_config named;
	size_t entries_seen;
	struct linked *linked;
};

/* ---- pins ---- */

static void add_pin(struct walk *walk, const char *path, size_t len, bool writable)
{
	if (walk->count == walk->room) {
		walk->room = walk->room > 0 ? walk->room * 2 : 16;
		walk->pins = xrealloc(walk->pins, walk->room * sizeof(*walk->pins));
	}
	walk->pins[walk->count++] =
		(struct pin){ .path = xmemdup(path, len), .writable = writable };
}

/*
 * The folders above are pinned too, so that they cannot be moved away; not in packages, because a
 * package update moves its folder.
 */
static void pin(struct walk *walk, const char *path, bool writable)
{
	if (walk->folders.in_packages) {
		add_pin(walk, path, strlen(path), writable);
		return;
	}
	for (const char *slash = strchr(path + walk->top + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/'))
		add_pin(walk, path, (size_t)(slash - path), true);
	add_pin(walk, path, strlen(path), writable);
}

/* An outer path comes before an inner one; of two on one path the read-only one. */
static int by_path(const void *a, const void *b)
{
	const struct pin *one = a;
	const struct pin *other = b;
	int order = strcmp(one->path, other->path);

	return order != 0 ? order : (int)one->writable - (int)other->writable;
}

static void sort_pins(struct walk *walk)
{
	size_t kept = 0;

	if (walk->count > 0)
		qsort(walk->pins, walk->count, sizeof(*walk->pins), by_path);
	for (size_t i = 0; i < walk->count; i++) {
		if (kept > 0 && str_eq(walk->pins[kept - 1].path, walk->pins[i].path))
			free(walk->pins[i].path);
		else
			walk->pins[kept++] = walk->pins[i];
	}
	walk->count = kept;
	walk->sorted = kept;
}

static int path_to_pin(const void *path, const void *pin)
{
	return strcmp(path, ((const struct pin *)pin)->path);
}

/* Returns whether a path is read-only already, with all that is in it. */
static bool is_pinned(const struct walk *walk, const char *path)
{
	const struct pin *found = walk->sorted == 0 ? NULL
						    : bsearch(path, walk->pins, walk->sorted,
							      sizeof(*walk->pins), path_to_pin);

	return found != NULL && !found->writable;
}

/* The descriptor may be of a link itself. */
static int mount_pin(int root, const struct pin *one, struct err *err)
{
	const struct mount_source_bind how = { .writable = one->writable, .execute = true };
	cleanup_fd int fd = mount_source_open_name_below(root, one->path, err);
	struct stat st;

	if (fd < 0)
		return lstat(one->path, &st) < 0 && errno == ENOENT
			       ? 0
			       : -1; /* it was removed meanwhile */
	if (fstat(fd, &st) == 0 && S_ISLNK(st.st_mode))
		return mount_source_pin_link(fd, err);
	return mount_source_bind(fd, one->path, fd, &how, err);
}

static int mount_pins(const struct walk *walk, int root, struct err *err)
{
	if (walk->count > PROTECT_MOUNTS)
		return err_set(err, ERR_LIMIT, "more than %d names to protect in a share",
			       PROTECT_MOUNTS);
	for (size_t i = 0; i < walk->count; i++)
		if (mount_pin(root, &walk->pins[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the search ---- */

static bool is_folder(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type == DT_DIR;
	return fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static bool is_placeholder_folder(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (st.st_mode & 07777) == PROTECT_FOLDER_MODE;
}

/* The target is held at the end, when all folders are known. */
static void pin_name(struct walk *walk, int dir, const char *path)
{
	struct stat st;

	pin(walk, path, false);
	if (fstatat(dir, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (S_ISLNK(st.st_mode) || S_ISDIR(st.st_mode)))
		protect_config_add_name(&walk->named, path);
}

/* Also matches "config.worktree". */
#define CONFIG "config"

static void pin_of_repository(struct walk *walk, int dir, const char *folder, const char *name)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, name);
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	pin_name(walk, dir, path);
	if (strncmp(name, CONFIG, strlen(CONFIG)) == 0)
		protect_config_read(&walk->named, path);
}

static void pin_repository(struct walk *walk, int dir, const char *path)
{
	if (strlen(path) > walk->top)
		pin(walk, path, true);
	for (size_t i = 0; i < PROTECT_ROWS; i++)
		pin_of_repository(walk, dir, path, protect_rows[i].name);
	for (size_t i = 0; repository_remotes(i) != NULL; i++)
		pin_of_repository(walk, dir, path, repository_remotes(i));
}

/* Packages come from elsewhere, and an update replaces their files. */
static bool is_held_name(const struct walk *walk, const char *name, bool is_folder)
{
	return runnames_is_held(name) ||
	       (!walk->folders.in_packages && runnames_stays(name, is_folder));
}

static void pin_inside(struct walk *walk, const char *folder, const char *name)
{
	const char *inside;

	for (size_t i = 0; (inside = runnames_inside(name, i)) != NULL; i++) {
		cleanup_free char *path = xasprintf("%s/%s", folder, inside);

		protect_config_add_file(&walk->named, path);
	}
}

static void add_linked(struct linked *linked, const struct stat *st)
{
	if (!S_ISREG(st->st_mode) || st->st_nlink < 2)
		return;
	if (linked->count == linked->room) {
		linked->room = linked->room > 0 ? linked->room * 2 : 16;
		linked->files = xrealloc(linked->files, linked->room * sizeof(*linked->files));
	}
	linked->files[linked->count++] = *st;
}

static int by_inode(const void *a, const void *b)
{
	const struct stat *one = a;
	const struct stat *other = b;

	if (one->st_ino != other->st_ino)
		return one->st_ino < other->st_ino ? -1 : 1;
	if (one->st_dev != other->st_dev)
		return one->st_dev < other->st_dev ? -1 : 1;
	return 0;
}

/* By a hard link a protected file could be written. */
static bool is_link_to_protected(const struct walk *walk, const struct stat *st)
{
	const struct linked *linked = walk->linked;

	return bsearch(st, linked->files, linked->count, sizeof(*st), by_inode) != NULL;
}

static void visit_file(struct walk *walk, int dir, const char *path)
{
	struct stat st;

	if (fstatat(dir, strrchr(path, '/') + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (walk->search == FIND_LINKED)
		add_linked(walk->linked, &st);
	else if (is_link_to_protected(walk, &st))
		add_pin(walk, path, strlen(path), false);
}

static void visit_entry(struct walk *walk, int dir, const char *folder, bool in_repository,
			const struct dirent *entry)
{
	const char *name = entry->d_name;
	bool is_git = str_eq(name, ".git");
	bool enters = is_folder(dir, entry) && !(is_git && is_placeholder_folder(dir, name));
	bool inner = in_repository && repository_holds_none(name);
	cleanup_free char *path = NULL;

	if (fd_is_dot(name))
		return;
	path = xasprintf("%s/%s", folder, name);
	if (strlen(path) >= PATH_MAX)
		return;
	if (walk->search == FIND_LINKS && is_pinned(walk, path))
		return;
	if (walk->search != FIND_NAMES) {
		if (enters)
			repository_queue_add(&walk->folders, name, inner, mem_steal(&path));
		else
			visit_file(walk, dir, path);
		return;
	}
	if (is_git && !is_placeholder_folder(dir, name))
		protect_config_add_workplace(&walk->named, folder);
	if (is_held_name(walk, name, enters) && !(is_git && enters)) {
		pin_name(walk, dir, path);
	} else if (enters) {
		pin_inside(walk, folder, name);
		repository_queue_add(&walk->folders, name, inner, mem_steal(&path));
	}
}

/* `folder` is under a mount of the sandbox, where no session code runs yet. */
static void scan_folder(struct walk *walk, const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	const char *name = strrchr(folder, '/');
	bool repository;
	bool is_git;

	if (entries == NULL) {
		/* A folder that is closed to this user is closed to the session too. */
		if (fd_hides_entries(errno) && errno != EACCES)
			protect_config_fail(&walk->named, folder);
		fd_close(&fd);
		return;
	}
	is_git = name != NULL && str_eq(name, "/.git");
	repository = walk->search == FIND_NAMES && (repository_is(fd) || is_git);
	if (repository)
		pin_repository(walk, fd, folder);
	if (repository && !is_git)
		protect_config_add_workplace(&walk->named, folder);
	errno = 0;
	while (walk->entries_seen < PROTECT_ENTRIES_MAX &&
	       (entry = fd_next_entry(entries)) != NULL) {
		walk->entries_seen++;
		visit_entry(walk, fd, folder, repository, entry);
		errno = 0;
	}
	if (errno != 0)
		protect_config_fail(&walk->named, folder);
	(void)closedir(entries);
}

static void scan_share(struct walk *walk, const char *top)
{
	repository_queue_add(&walk->folders, "", false, xstrdup(top));
	for (;;) {
		cleanup_free char *path = repository_queue_take(&walk->folders);

		if (path == NULL)
			return;
		if (walk->entries_seen < PROTECT_ENTRIES_MAX)
			scan_folder(walk, path);
	}
}

static void find_linked(struct walk *walk)
{
	size_t pinned = walk->count;
	struct stat st;

	walk->search = FIND_LINKED;
	walk->entries_seen = 0;
	for (size_t i = 0; i < pinned; i++) {
		if (walk->pins[i].writable || lstat(walk->pins[i].path, &st) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			scan_share(walk, walk->pins[i].path);
		else
			add_linked(walk->linked, &st);
	}
}

/* Pins a file that a config names, with the folders above it, wherever the config is. */
static void on_named(void *data, const char *path)
{
	struct walk *walk = data;
	bool in_packages = walk->folders.in_packages;

	walk->folders.in_packages = false;
	pin(walk, path, false);
	walk->folders.in_packages = in_packages;
}

/* Finds the names to protect in a share. */
static int find_names(struct walk *walk, struct err *err)
{
	int rc;

	repository_queue_init(&walk->folders);
	protect_config_begin(&walk->named, walk->share, on_named, walk);
	scan_share(walk, walk->share);
	walk->folders.in_packages = false;
	rc = protect_config_end(&walk->named, err);
	sort_pins(walk);
	return rc;
}

/* Searches the share for other names of these files. Rarely a share has such a file. */
static void find_links(struct walk *walk)
{
	walk->search = FIND_LINKS;
	walk->entries_seen = 0;
	if (walk->linked->count > 0)
		scan_share(walk, walk->share);
	sort_pins(walk);
}

static int protect_share(struct walk *walk, int root, struct err *err)
{
	find_links(walk);
	if (walk->named.problem.code != ERR_NONE) { /* of the search for links */
		*err = walk->named.problem;
		return -1;
	}
	return mount_pins(walk, root, err);
}

static void release_walk(struct walk *walk)
{
	for (size_t i = 0; i < walk->count; i++)
		free(walk->pins[i].path);
	free(walk->pins);
}

static int protect_shares(struct walk *walks, size_t count, int root, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (find_names(&walks[i], err) < 0)
			return err_wrap(err, "protecting the share '%s'", walks[i].share);
		find_linked(&walks[i]);
	}
	if (count > 0 && walks[0].linked->count > 0)
		qsort(walks[0].linked->files, walks[0].linked->count,
		      sizeof(*walks[0].linked->files), by_inode);
	for (size_t i = 0; i < count; i++)
		if (protect_share(&walks[i], root, err) < 0)
			return err_wrap(err, "protecting the share '%s'", walks[i].share);
	return 0;
}

int protect_mount(int root, const char *const *paths, size_t count, struct err *err)
{
	struct walk *walks = xcalloc(count + 1, sizeof(*walks));
	struct linked linked = { .count = 0 };
	int rc;

	for (size_t i = 0; i < count; i++)
		walks[i] = (struct walk){ .share = paths[i],
					  .top = strlen(paths[i]),
					  .linked = &linked };
	rc = protect_shares(walks, count, root, err);
	for (size_t i = 0; i < count; i++)
		release_walk(&walks[i]);
	free(walks);
	free(linked.files);
	return rc;
}
