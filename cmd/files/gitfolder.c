/* SPDX-License-Identifier: MIT */
/*
 * gitfolder.c - finds what git would run in a folder. Configs are read as git reads them, and what
 * they name is followed: includes, hooks, programs, .git and commondir. Equal times count as young,
 * because file systems round them. With `learn`, at the session's start, the same walk records what
 * exists already (known.h), and holds nothing.
 */
#include "gitfolder.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fd.h"
#include "base/gitini.h"
#include "base/mem.h"
#include "hold.h"
#include "indexfile.h"
#include "inspection.h"
#include "known.h"
#include "leads.h"
#include "sandbox/rootfs/protect_config.h"
#include "sandbox/rootfs/repository.h"
#include "workspace/beneath.h"
#include "workspace/gitconfig.h"

/* DEPTH_MAX is git's limit for includes. */
enum { DEPTH_MAX = 10 };

#define GITDIR "gitdir: "
#define SAMPLE ".sample"

/* ---- names ---- */

static bool is_sample(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(SAMPLE) && str_eq(name + len - strlen(SAMPLE), SAMPLE);
}

/* ---- config ---- */

struct config_reader {
	struct inspection *run;
	const struct folder_at *folder;
	const char *name;
	int depth; /* of includes */
	bool young;
	bool untrusted;
};

static void judge_config(struct inspection *run, const struct folder_at *folder, const char *name,
			 int depth);

static void on_foreign(void *data, const char *entry)
{
	struct config_reader *reader = data;
	struct inspection *run = reader->run;
	size_t prefix = strlen(GITCONFIG_WORKTREE);

	if (strncmp(entry, GITCONFIG_WORKTREE, prefix) == 0 &&
	    leads_inside(run, reader->folder->path, entry + prefix, NULL))
		return;
	if (!known_has(run, reader->folder, reader->name, entry))
		reader->untrusted = true;
}

/* ---- a folder elsewhere ---- */

/* A visit to a folder of some share, which is the current one until leave(). */
struct visit {
	struct inspection *run;
	int share;
	char *share_path;
	struct leads_place place;
	struct folder_at folder;
};

/* Returns false when the folder is in no share. */
static bool enter(struct visit *visit, struct inspection *run, int dir, const char *path,
		  bool is_file)
{
	*visit = (struct visit){ .run = run, .share = run->share, .share_path = run->share_path };
	if (!leads_to_share(run, dir, path, is_file, &visit->place))
		return false;
	run->share = visit->place.share;
	run->share_path = visit->place.share_path;
	visit->folder = (struct folder_at){ .fd = visit->place.fd, .path = visit->place.path };
	return true;
}

static void leave(struct visit *visit)
{
	visit->run->share = visit->share;
	visit->run->share_path = visit->share_path;
	leads_place_release(&visit->place);
}

/* Opens a folder of the current share. */
static int open_below(const struct inspection *run, const char *path)
{
	return path[0] == '\0' ? openat(run->share, ".", O_PATH | O_CLOEXEC)
			       : beneath_open(run->share, path, O_PATH | O_DIRECTORY, 0);
}

static bool has_path(const struct buf *paths, const char *path)
{
	for (size_t at = 0; at < paths->len; at += strlen(paths->data + at) + 1)
		if (str_eq(paths->data + at, path))
			return true;
	return false;
}

/* Appends the path and a NUL. One without room is not judged, which is reported as a limit. */
static void add_path(struct inspection *run, struct buf *paths, const char *path)
{
	if (paths->len + strlen(path) < paths->max)
		buf_put(paths, path, strlen(path) + 1);
	else
		run->more = "entries";
}

/* Returns the path that git makes of a value that begins with ~ or similar. The caller frees it. */
static char *plain_value(const struct inspection *run, const char *value)
{
	const char *below = gitini_below_home(value, run->share_path);

	return below != NULL ? xasprintf("%s/%s", run->share_path, below) : xstrdup(value);
}

/* ---- hooks ---- */

/*
 * Returns true for a possible hook. In a folder where git may be called, every program would count
 * as one: there only git's names do.
 */
static bool may_be_hook(const char *name, bool among_others)
{
	return !hold_is_held(name) && !is_sample(name) &&
	       (!among_others || repository_is_hook(name));
}

static bool is_hook(struct inspection *run, const struct folder_at *hooks, const char *name)
{
	struct stat st;

	return inspection_stat(hooks, name, &st) &&
	       (S_ISLNK(st.st_mode) || (S_ISREG(st.st_mode) && (st.st_mode & 0111) != 0)) &&
	       known_is_new(run, hooks, name, &st);
}

/* Holds the hook, or the target of an old link, which may be new. */
static void judge_hook(struct inspection *run, const struct folder_at *hooks, const char *name)
{
	struct visit visit;
	struct stat st;

	if (is_hook(run, hooks, name)) {
		hold(run, hooks, name);
		return;
	}
	if (!inspection_stat(hooks, name, &st) || !S_ISLNK(st.st_mode) ||
	    !enter(&visit, run, hooks->fd, name, true))
		return;
	if (is_hook(run, &visit.folder, visit.place.name))
		hold(run, &visit.folder, visit.place.name);
	leave(&visit);
}

static void judge_hooks_in(struct inspection *run, const struct folder_at *hooks, bool among_others)
{
	enum judged_as as = among_others ? AS_HOOKS_AMONG_OTHERS : AS_HOOKS;
	cleanup_fd int fd = openat(hooks->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *entry;
	bool judged = fd >= 0 && (!inspection_is_first(run, fd, as) ||
				  (!among_others && known_is_moved_in(run, fd)));
	DIR *entries = fd < 0 || judged ? NULL : fdopendir(fd);

	if (entries == NULL) {
		if (!judged)
			inspection_note_unread(run);
		return;
	}
	fd_steal(&fd);
	while ((entry = fd_next_entry(entries)) != NULL && inspection_count(run))
		if (may_be_hook(entry->d_name, among_others))
			judge_hook(run, hooks, entry->d_name);
	if (entry == NULL)
		inspection_note_unread(run);
	(void)closedir(entries);
}

static void judge_hooks(struct inspection *run, const struct folder_at *folder)
{
	cleanup_fd int fd =
		openat(folder->fd, "hooks", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *path = xasprintf("%s%shooks", folder->path, folder->path[0] ? "/" : "");
	cleanup_free char *whole = xasprintf("%s/%s", run->share_path, path);
	struct folder_at hooks = { .fd = fd, .path = path };
	struct stat st;

	if (!inspection_stat(folder, "hooks", &st))
		return;
	if (fd >= 0)
		judge_hooks_in(run, &hooks, false);
	/* A link, or a folder that only git can read. */
	else if (inspection_is_young(run, &st))
		hold(run, folder, "hooks");
	else if (S_ISLNK(st.st_mode))
		add_path(run, &run->hooks, whole);
}

/* ---- files that a config names ---- */

static void take_hooks(struct inspection *run, const char *value)
{
	cleanup_free char *path = plain_value(run, value);

	if (!has_path(&run->hooks, path))
		add_path(run, &run->hooks, path);
}

static void take_word(void *data, const char *word)
{
	struct inspection *run = data;
	cleanup_free char *path = plain_value(run, word);

	if (!has_path(&run->commands, path))
		add_path(run, &run->commands, path);
}

static bool is_workplace(const struct inspection *run, const char *path)
{
	const struct buf *workplaces = &run->workplaces[inspection_share(run)];
	size_t len = strlen(path);

	for (size_t i = 0; i < workplaces->len; i += strlen(workplaces->data + i) + 1) {
		const char *at = workplaces->data + i;

		if (len == 0 ||
		    (strncmp(at, path, len) == 0 && (at[len] == '\0' || at[len] == '/')))
			return true;
	}
	return false;
}

static void judge_hooks_at(struct inspection *run, int dir, const char *path)
{
	struct visit visit;

	if (!enter(&visit, run, dir, path, false))
		return;
	judge_hooks_in(run, &visit.folder, is_workplace(run, visit.folder.path));
	leave(&visit);
}

static void judge_command_at(struct inspection *run, int dir, const char *path)
{
	struct visit visit;
	struct stat st;

	if (!enter(&visit, run, dir, path, true))
		return;
	if (inspection_stat(&visit.folder, visit.place.name, &st) && S_ISREG(st.st_mode) &&
	    known_is_new(run, &visit.folder, visit.place.name, &st))
		hold(run, &visit.folder, visit.place.name);
	leave(&visit);
}

typedef void judge_fn(struct inspection *run, int dir, const char *path);

/*
 * Judges all paths that are relative, from a folder that git may be called in. `workplace` NULL
 * judges the absolute ones.
 */
static void judge_from(struct inspection *run, const char *workplace, const struct buf *paths,
		       judge_fn *fn)
{
	cleanup_fd int fd = open_below(run, workplace != NULL ? workplace : "");

	for (size_t at = 0; fd >= 0 && at < paths->len; at += strlen(paths->data + at) + 1)
		if ((paths->data[at] == '/') == (workplace == NULL))
			fn(run, fd, paths->data + at);
}

static void judge_wherever(struct inspection *run, const struct buf *paths, judge_fn *fn)
{
	const struct buf *workplaces = &run->workplaces[inspection_share(run)];

	judge_from(run, NULL, paths, fn);
	for (size_t at = 0; paths->len > 0 && at < workplaces->len;
	     at += strlen(workplaces->data + at) + 1)
		if (inspection_goes_on(run))
			judge_from(run, workplaces->data + at, paths, fn);
}

void gitfolder_judge_named(struct inspection *run)
{
	judge_wherever(run, &run->hooks, judge_hooks_at);
	judge_wherever(run, &run->commands, judge_command_at);
}

/*
 * Adds a work tree that a config names: git runs relative names there, wherever it is called.
 * `path` is relative to the config's folder.
 */
static void add_worktree(struct inspection *run, const struct folder_at *folder, const char *path)
{
	struct visit visit;

	if (!enter(&visit, run, folder->fd, path, false))
		return;
	add_path(run, &run->workplaces[inspection_share(run)], visit.folder.path);
	leave(&visit);
}

static void take_worktree(const struct config_reader *reader, const char *path)
{
	struct inspection *run = reader->run;

	add_worktree(run, reader->folder, path);
	if (!reader->young && !has_path(&run->worktrees, path))
		add_path(run, &run->worktrees, path);
}

/*
 * Adds the work trees that configs of other folders name relative to this one: with
 * extensions.worktreeConfig git reads the value in the common folder's config so.
 */
static void add_common_worktrees(struct inspection *run, const struct folder_at *folder)
{
	for (size_t at = 0; at < run->worktrees.len; at += strlen(run->worktrees.data + at) + 1)
		if (inspection_goes_on(run))
			add_worktree(run, folder, run->worktrees.data + at);
}

static void judge_included(struct inspection *run, const struct folder_at *folder, const char *path,
			   int depth)
{
	struct visit visit;

	if (depth >= DEPTH_MAX || !inspection_count(run) ||
	    !enter(&visit, run, folder->fd, path, true))
		return;
	judge_config(run, &visit.folder, visit.place.name, depth + 1);
	leave(&visit);
}

static void on_entry(void *data, const struct gitini_entry *entry)
{
	const struct config_reader *reader = data;
	cleanup_free char *path = NULL;

	if (entry->odd != NULL)
		return;
	path = plain_value(reader->run, entry->value);
	if (gitini_is_include(entry))
		judge_included(reader->run, reader->folder, path, reader->depth);
	else if (gitini_is_hooks(entry))
		take_hooks(reader->run, entry->value);
	else if (gitini_is_worktree(entry))
		take_worktree(reader, path);
	else if (gitini_is_command(entry))
		gitini_each_word(entry->value, take_word, reader->run);
}

static void judge_config(struct inspection *run, const struct folder_at *folder, const char *name,
			 int depth)
{
	struct config_reader reader = {
		.run = run, .folder = folder, .name = name, .depth = depth
	};
	cleanup_free char *text = NULL;
	struct stat st;
	size_t len = 0;
	bool young;

	if (!inspection_stat(folder, name, &st) || S_ISDIR(st.st_mode))
		return;
	if (S_ISLNK(st.st_mode) && !inspection_is_young(run, &st)) {
		judge_included(run, folder, name, depth);
		return;
	}
	text = inspection_read(folder, name, PROTECT_CONFIG_MAX, &len);
	young = depth > 0 ? known_is_new(run, folder, name, &st) : inspection_is_young(run, &st);
	reader.young = young;
	if (text != NULL && young != run->learn)
		gitconfig_each_foreign(text, len, on_foreign, &reader);
	if (young && (text == NULL || reader.untrusted))
		hold(run, folder, name);
	else if (text != NULL)
		gitini_each(text, len, on_entry, &reader);
}

/* ---- remotes ---- */

static bool has_new(struct inspection *run, const struct folder_at *folder)
{
	DIR *entries = fd_list(folder->fd);
	const struct dirent *entry = NULL;
	struct stat st;
	bool found = false;

	if (entries == NULL) {
		inspection_note_unread(run);
		return false;
	}
	while (!found && (entry = fd_next_entry(entries)) != NULL && inspection_count(run))
		found = !fd_is_dot(entry->d_name) && inspection_stat(folder, entry->d_name, &st) &&
			known_is_new(run, folder, entry->d_name, &st);
	if (entry == NULL)
		inspection_note_unread(run);
	(void)closedir(entries);
	return found;
}

/*
 * Holds the whole folder: any name in it is the name of a remote, also one that hold() would give.
 */
static void judge_remotes(struct inspection *run, const struct folder_at *folder, const char *name)
{
	cleanup_fd int fd =
		openat(folder->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	cleanup_free char *path = xasprintf("%s/%s", folder->path, name);
	struct folder_at remotes = { .fd = fd, .path = path };
	struct stat st;

	if (fd >= 0 && known_is_moved_in(run, fd))
		return;
	if (fd < 0 ? inspection_young_there(run, folder, name, &st) : has_new(run, &remotes))
		hold(run, folder, name);
}

static void judge_each_file(struct inspection *run, const struct folder_at *folder)
{
	run->new_repository = known_is_new_repository(run, folder);
	if (!inspection_is_first(run, folder->fd, AS_REPOSITORY))
		return;
	known_add_repository(run, folder);
	judge_config(run, folder, "config", 0);
	judge_config(run, folder, "config.worktree", 0);
	judge_hooks(run, folder);
	indexfile_judge(run, folder);
	for (size_t i = 0; repository_remotes(i) != NULL; i++)
		judge_remotes(run, folder, repository_remotes(i));
}

static void judge_files(struct inspection *run, const struct folder_at *folder)
{
	run->begun = !repository_is(folder->fd) && !known_was_repository(run, folder);
	judge_each_file(run, folder);
	run->begun = false;
}

/* ---- where it leads ---- */

/* Judges another folder of the share as a repository, although its own walk would not. */
static void judge_there(struct inspection *run, const char *path)
{
	cleanup_fd int fd = open_below(run, path);
	struct folder_at there = { .fd = fd, .path = path };

	if (fd >= 0)
		judge_files(run, &there);
	run->new_repository = false;
}

static void judge_commondir(struct inspection *run, const struct folder_at *folder)
{
	cleanup_free char *text = inspection_read_pointer(folder, "commondir");
	cleanup_free char *path = NULL;
	struct stat st;

	if (!run->learn && inspection_young_there(run, folder, "commondir", &st) &&
	    (text == NULL || (!str_eq(text, "../..") && !str_eq(text, ".")))) {
		hold(run, folder, "commondir");
		return;
	}
	if (text != NULL && leads_inside(run, folder->path, text, &path) && path != NULL) {
		judge_there(run, path);
		add_common_worktrees(run, folder);
	}
}

static void judge_git_file(struct inspection *run, const struct folder_at *folder)
{
	cleanup_free char *text = NULL;
	cleanup_free char *path = NULL;
	struct stat st;

	if (!inspection_stat(folder, ".git", &st) || S_ISDIR(st.st_mode) ||
	    !known_is_new(run, folder, ".git", &st) || run->learn)
		return;
	text = inspection_read_pointer(folder, ".git");
	if (text == NULL) {
		hold(run, folder, ".git");
		return;
	}
	if (strncmp(text, GITDIR, strlen(GITDIR)) != 0)
		return;
	if (!leads_inside(run, folder->path, text + strlen(GITDIR), &path))
		hold(run, folder, ".git");
	else if (path != NULL)
		judge_there(run, path);
}

/*
 * Returns true for a folder named .git. "git init" makes a repository of it, and keeps the config
 * and hooks that are there.
 */
static bool is_begun(const struct folder_at *folder)
{
	const char *slash = strrchr(folder->path, '/');

	return strcasecmp(slash != NULL ? slash + 1 : folder->path, ".git") == 0;
}

bool gitfolder_is_written(const struct inspection *run, const struct folder_at *folder)
{
	cleanup_free char *path = xstrdup(folder->path);
	bool written = true;

	for (char *slash; path[0] != '\0'; path[slash != NULL ? slash - path : 0] = '\0') {
		cleanup_fd int fd = written ? open_below(run, path) : -1;
		struct folder_at own = { .fd = fd, .path = path };

		if (fd >= 0 && (is_begun(&own) || repository_is(fd)))
			return true;
		slash = strrchr(path, '/');
		written = repository_is_written(slash != NULL ? slash + 1 : path);
	}
	return written && repository_is(run->share);
}

void gitfolder_judge_written_link(struct inspection *run, const struct folder_at *folder,
				  bool moved, const char *name)
{
	struct stat st;

	if ((run->learn && moved) || !inspection_stat(folder, name, &st))
		return;
	if (known_is_new(run, folder, name, &st))
		hold_remove(run, folder, name);
}

void gitfolder_judge_link(struct inspection *run, const struct folder_at *folder, bool moved,
			  const char *name)
{
	struct stat st;
	bool young;

	if (run->home == NULL || (run->learn && moved) || !inspection_stat(folder, name, &st))
		return;
	young = inspection_is_young(run, &st);
	if (!young && !((moved || run->learn) && leads_out(run, folder, name)))
		return;
	if ((run->learn || leads_home(run, folder, name)) && known_is_new(run, folder, name, &st))
		hold_remove(run, folder, name);
}

/* ptycell's placeholders change the folder at the top, which code cannot move. */
static bool is_begun_meanwhile(const struct inspection *run, const struct folder_at *folder)
{
	return strchr(folder->path, '/') != NULL && known_is_moved_in(run, folder->fd);
}

void gitfolder_judge(struct inspection *run, const struct folder_at *folder)
{
	bool repository = repository_is(folder->fd);
	bool begun = !repository && is_begun(folder);
	struct stat st;

	judge_git_file(run, folder);
	if (repository || inspection_stat(folder, ".git", &st))
		add_path(run, &run->workplaces[inspection_share(run)], folder->path);
	if (!repository && !begun)
		return;
	/* A repository that code makes meanwhile is not learned. */
	if (run->learn && (inspection_young_there(run, folder, "HEAD", &st) ||
			   (begun && is_begun_meanwhile(run, folder))))
		return;
	judge_files(run, folder);
	judge_commondir(run, folder);
	run->new_repository = false;
}
