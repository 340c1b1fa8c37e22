/* SPDX-License-Identifier: MIT */
/*
 * inspect.c - walks the shares. The walk is breadth first, with folders of packages last, so that
 * its budget is spent where repositories usually are. A folder that session code closed by its mode
 * is opened again: git needs no list of names to use one, so a mode must not hide it.
 */
#include "inspect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "gitfolder.h"
#include "helper/program.h"
#include "indexfile.h"
#include "inspection.h"
#include "json/get.h"
#include "json/make.h"
#include "known.h"
#include "leads.h"
#include "lockdown.h"
#include "sandbox/rootfs/repository.h"
#include "unlock.h"
#include "workspace/beneath.h"

enum { HOOKS_MAX = 64 << 10, COMMANDS_MAX = 64 << 10, WORKPLACES_MAX = 16 << 20 };

struct walk {
	struct inspection inspection;
	struct repository_queue folders;
	/* For each share the folders with links. */
	struct repository_queue linked[INSPECT_SHARES_MAX];
};

/* ---- a folder ---- */

static int open_below(const struct walk *walk, const char *path, int flags)
{
	if (path[0] == '\0')
		return openat(walk->inspection.share, ".", flags | O_DIRECTORY | O_CLOEXEC);
	return beneath_open(walk->inspection.share, path, flags | O_DIRECTORY, 0);
}

/*
 * Opens a folder, lifting a mode by which session code has closed it: git needs no list of names to
 * use it.
 */
static int open_folder(const struct walk *walk, const char *path)
{
	int fd = open_below(walk, path, O_RDONLY);
	cleanup_fd int closed = -1;
	struct stat st;

	if (fd >= 0 || errno != EACCES || walk->inspection.learn)
		return fd;
	closed = open_below(walk, path, O_PATH);
	if (closed < 0 || fstat(closed, &st) < 0 || !inspection_is_young(&walk->inspection, &st) ||
	    unlock_open_folder(closed) < 0)
		return -1;
	return open_below(walk, path, O_RDONLY);
}

static unsigned char type_of(int dir, const struct dirent *entry)
{
	struct stat st;

	if (entry->d_type != DT_UNKNOWN)
		return entry->d_type;
	if (fstatat(dir, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_REG;
}

/* Queues a folder. A path that is too long for git is skipped. */
static void add_folder(struct walk *walk, const struct folder_at *folder, const char *name)
{
	char *path = xasprintf("%s%s%s", folder->path, folder->path[0] != '\0' ? "/" : "", name);

	if (strlen(path) > BENEATH_PATH_MAX)
		free(path);
	else
		repository_queue_add(&walk->folders, name, false, path);
}

/* Returns true for a link. */
static bool visit(struct walk *walk, const struct folder_at *folder, const struct dirent *entry)
{
	unsigned char type = type_of(folder->fd, entry);

	if (fd_is_dot(entry->d_name))
		return false;
	if (type == DT_DIR)
		add_folder(walk, folder, entry->d_name);
	return type == DT_LNK;
}

static void walk_links(struct walk *walk, const char *path)
{
	cleanup_fd int fd = open_folder(walk, path);
	struct folder_at folder = { .fd = fd, .path = path };
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	bool written;
	bool moved;

	if (entries == NULL) {
		inspection_note_unread(&walk->inspection);
		return;
	}
	fd_steal(&fd);
	moved = known_is_below_young(&walk->inspection, path);
	written = gitfolder_is_written(&walk->inspection, &folder);
	while ((entry = fd_next_entry(entries)) != NULL && inspection_goes_on(&walk->inspection))
		if (type_of(folder.fd, entry) == DT_LNK && written)
			gitfolder_judge_written_link(&walk->inspection, &folder, moved,
						     entry->d_name);
		else if (type_of(folder.fd, entry) == DT_LNK)
			gitfolder_judge_link(&walk->inspection, &folder, moved, entry->d_name);
	if (entry == NULL)
		inspection_note_unread(&walk->inspection);
	(void)closedir(entries);
}

static void walk_folder(struct walk *walk, const char *path)
{
	cleanup_fd int fd = open_folder(walk, path);
	struct folder_at folder = { .fd = fd, .path = path };
	const struct dirent *entry;
	bool has_links = false;
	DIR *entries;

	if (fd < 0) {
		inspection_note_unread(&walk->inspection);
		return;
	}
	gitfolder_judge(&walk->inspection, &folder);
	entries = fdopendir(fd);
	if (entries == NULL) {
		inspection_note_unread(&walk->inspection);
		return;
	}
	fd_steal(&fd);
	while ((entry = fd_next_entry(entries)) != NULL && inspection_count(&walk->inspection))
		has_links |= visit(walk, &folder, entry);
	if (entry == NULL)
		inspection_note_unread(&walk->inspection);
	(void)closedir(entries);
	if (has_links && gitfolder_is_written(&walk->inspection, &folder))
		walk_links(walk, path); /* a few links, which need not wait for all others */
	else if (has_links)
		repository_queue_add(&walk->linked[inspection_share(&walk->inspection)], "", false,
				     xstrdup(path));
}

/* Empties the queue. Its folders are walked until a limit is met. */
static void walk_queue(struct walk *walk, struct repository_queue *queue,
		       void (*fn)(struct walk *walk, const char *path))
{
	for (;;) {
		cleanup_free char *path = repository_queue_take(queue);

		if (path == NULL)
			break;
		if (walk->inspection.more == NULL)
			fn(walk, path);
	}
}

static void walk_share(struct walk *walk)
{
	repository_queue_add(&walk->folders, "", false, xstrdup(""));
	walk_queue(walk, &walk->folders, walk_folder);
	gitfolder_judge_named(&walk->inspection);
}

static void walk_named(struct walk *walk)
{
	gitfolder_judge_named(&walk->inspection);
}

static void walk_conflicts(struct walk *walk)
{
	indexfile_judge_links(&walk->inspection);
}

static void walk_linked(struct walk *walk)
{
	walk_queue(walk, &walk->linked[inspection_share(&walk->inspection)], walk_links);
}

/* ---- the request ---- */

static void learn_known(struct map *known, const json_t *texts)
{
	static char there;

	for (size_t i = 0; i < json_array_size(texts); i++) {
		const char *text = json_string_value(json_array_get(texts, i));

		if (text != NULL)
			(void)map_set(known, text, strlen(text), &there);
	}
}

static int confine_to_shares(size_t count, struct err *err)
{
	struct lockdown_rule rules[INSPECT_SHARES_MAX];

	for (size_t i = 0; i < count; i++)
		rules[i] = (struct lockdown_rule){ .fd = INSPECT_FIRST_FD + (int)i,
						   .rights = lockdown_rename };
	return lockdown_files(rules, count, 1, err);
}

static void each_share(struct walk *walk, void (*fn)(struct walk *walk))
{
	for (size_t i = 0; i < json_array_size(walk->inspection.shares); i++) {
		walk->inspection.share = INSPECT_FIRST_FD + (int)i;
		walk->inspection.share_path =
			json_path_of(json_array_get(walk->inspection.shares, i));
		if (walk->inspection.share_path != NULL)
			fn(walk);
		free(walk->inspection.share_path);
	}
}

static void learn_share(struct walk *walk)
{
	known_add_share(&walk->inspection);
}

static void walk_all(struct walk *walk)
{
	each_share(walk, walk_share);
	/* Names of a later share's configs are judged in earlier shares, too. */
	if (json_array_size(walk->inspection.shares) > 1)
		each_share(walk, walk_named);
	each_share(walk, walk_conflicts);
	/* The slowest to judge, which code can make many of. */
	each_share(walk, walk_linked);
	each_share(walk, learn_share);
}

int inspect_run(const json_t *request, struct err *err)
{
	const json_t *shares = json_object_get(request, "shares");
	cleanup_free char *home = json_path_of(json_object_get(request, "home"));
	cleanup_free char *home_real = home != NULL ? leads_to(AT_FDCWD, home, O_DIRECTORY) : NULL;
	struct walk walk = {
		.inspection = { .shares = shares,
				.home = home,
				.home_real = home_real,
				.since_ns = json_integer_value(json_object_get(request, "since")),
				.learn = json_is_true(json_object_get(request, "learn")),
				.known = map_new(),
				.judged = map_new(),
				.held = json_array(),
				.learned = json_array(),
				.entries_left = (uint64_t)json_integer_value(
					json_object_get(request, "entries")),
				.until_ms = clock_ms() + (uint64_t)json_integer_value(
								 json_object_get(request, "ms")) },
	};
	json_t *result = json_object();

	if (json_array_size(shares) == 0 || json_array_size(shares) > INSPECT_SHARES_MAX)
		return err_set(err, ERR_INVALID, "the request names no shares, or too many");
	if (confine_to_shares(json_array_size(shares), err) < 0)
		return -1;
	repository_queue_init(&walk.folders);
	buf_init(&walk.inspection.hooks, HOOKS_MAX);
	buf_init(&walk.inspection.commands, COMMANDS_MAX);
	buf_init(&walk.inspection.worktrees, HOOKS_MAX);
	for (size_t i = 0; i < INSPECT_SHARES_MAX; i++) {
		repository_queue_init(&walk.linked[i]);
		buf_init(&walk.inspection.workplaces[i], WORKPLACES_MAX / json_array_size(shares));
		buf_init(&walk.inspection.conflicts[i], HOOKS_MAX);
	}
	learn_known(walk.inspection.known, json_object_get(request, "known"));
	walk_all(&walk);
	map_free(walk.inspection.known);
	map_free(walk.inspection.judged);
	buf_release(&walk.inspection.hooks);
	buf_release(&walk.inspection.commands);
	buf_release(&walk.inspection.worktrees);
	for (size_t i = 0; i < INSPECT_SHARES_MAX; i++) {
		buf_release(&walk.inspection.workplaces[i]);
		buf_release(&walk.inspection.conflicts[i]);
	}
	json_put(result, "held", walk.inspection.held);
	json_put(result, "known", walk.inspection.learned);
	if (walk.inspection.more == NULL && walk.inspection.unread)
		walk.inspection.more = "unread";
	json_put_str(result, "more", walk.inspection.more);
	json_put_int(result, "count", (json_int_t)walk.inspection.held_count);
	program_result(result);
	return 0;
}
