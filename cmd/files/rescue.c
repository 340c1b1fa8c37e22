/* SPDX-License-Identifier: MIT */
/*
 * rescue.c - exports what the dead server would have exported. The names come from the same
 * keeptree. A file whose content is in the result folder already is skipped, under its own name or
 * a numbered one. A lock on the data folder waits for a copy that the dead server's helper is still
 * making.
 */
#include "rescue.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "copy.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"
#include "keep.h"
#include "workspace/beneath.h"
#include "workspace/beside.h"
#include "workspace/dblogs.h"
#include "workspace/keepname.h"
#include "workspace/keeptree.h"
#include "workspace/mark.h"

#define INPUT "input"
#define OUTPUT "output"

struct search {
	int data_fd;
	int kept_fd; /* -1 when nothing was exported yet */
	struct keeptree *tree;
	struct list found; /* of struct found */
	size_t count;
	bool cut;
	char *large;  /* a folder beside output/ with too many files to be results; may be NULL */
	char *unread; /* the first name that could not be looked at, and why; may be NULL */
};

/* A file of the session. */
struct found {
	struct list node;
	char *path;
	struct place *place;
};

static void forget_last(struct search *search)
{
	struct found *found = list_entry(search->found.prev, struct found, node);

	list_remove(&found->node);
	free(found->path);
	free(found);
	search->count--;
}

/* Returns true when the file is there under its own name, or a numbered one. */
static bool is_kept(const struct search *search, const char *from, const struct place *place)
{
	cleanup_free char *to = keeptree_path(place);
	size_t folder = strlen(to) - strlen(place->name);
	struct err err;
	cleanup_fd int file = -1;

	if (search->kept_fd < 0)
		return false;
	file = beneath_open_regular(search->data_fd, from, NULL, &err);
	for (int number = 1; file >= 0; number++) {
		cleanup_free char *name = keepname_numbered(place->own, number);
		cleanup_free char *path = xasprintf("%.*s%s", (int)folder, to, name);
		cleanup_fd int kept = beneath_open_regular(search->kept_fd, path, NULL, &err);

		if (kept < 0)
			return false;
		if (copy_is_same(file, kept, program_alive))
			return true;
	}
	return false;
}

static void add_found(struct search *search, const char *path, struct place *place)
{
	struct found *found;

	if (search->count == RESCUE_FILES_MAX) {
		search->cut = true;
		return;
	}
	found = xcalloc(1, sizeof(*found));
	found->path = xstrdup(path);
	found->place = place;
	list_init(&found->node);
	list_append(&search->found, &found->node);
	search->count++;
}

/* Names files as the server does when it exports them (workspace/keeper.c). */
static void add_file(struct search *search, const char *path)
{
	struct place *place = keeptree_file(search->tree, path);

	if (!is_kept(search, path, place))
		add_found(search, path, place);
}

/* Adds a file that exists and was not added: its copy is there already. */
static void add_along(struct search *search, const char *path)
{
	struct err ignored; /* it does not exist */
	cleanup_fd int fd = beneath_open_regular(search->data_fd, path, NULL, &ignored);

	if (fd < 0)
		return;
	list_for_each (const struct found, found, &search->found, node)
		if (str_eq(found->path, path))
			return;
	add_found(search, path, keeptree_file(search->tree, path));
}

/*
 * Adds the logs of each database, and the database of each log: their copies must be of one state.
 * The loop also visits entries that it appends.
 */
static void add_others(struct search *search)
{
	for (struct list *node = search->found.next; node != &search->found; node = node->next) {
		const struct found *found = list_entry(node, struct found, node);
		cleanup_free char *database = dblogs_database(found->path);

		if (database != NULL)
			add_along(search, database);
		for (size_t i = 0; database == NULL && i < DBLOGS_COUNT; i++) {
			cleanup_free char *log = dblogs_name(found->path, i);

			add_along(search, log);
		}
	}
}

/*
 * Adds the recorded copy of the file, if there is one. It is replaced, wherever it is, unless the
 * user has changed it.
 */
static void put_copy(json_t *file, const json_t *copies, const char *path)
{
	cleanup_json json_t *from = json_make_path(path);
	json_t *copy = json_object_get(copies, json_string_value(from));

	if (copy == NULL)
		return;
	(void)json_object_update(file, copy);
	json_put_bool(file, "known", true);
}

static json_t *list_files(struct search *search, const json_t *request)
{
	bool replaces = json_is_true(json_object_get(request, "replaces"));
	const json_t *copies = replaces ? json_object_get(request, "recorded") : NULL;
	json_t *files = json_array();

	list_for_each (const struct found, found, &search->found, node) {
		cleanup_free char *to = keeptree_path(found->place);
		json_t *file = json_object();

		json_put_path(file, "from", found->path);
		json_put_path(file, "to", to);
		put_copy(file, copies, found->path);
		json_append(files, file);
	}
	while (search->count > 0)
		forget_last(search);
	return files;
}

/* Notes an error that hides files. A name that is gone, a link or another mount hides none. */
static void note_unread(struct search *search, const char *path)
{
	if (search->unread != NULL || !fd_hides_entries(errno) || errno == EXDEV)
		return;
	search->unread = xasprintf("'%s' could not be read: %s", path[0] == '\0' ? "." : path,
				   strerrordesc_np(errno));
}

/* Ends the list of a folder. Must follow its last entry. */
static void end_list(struct search *search, const char *path, DIR *folder)
{
	note_unread(search, path);
	(void)closedir(folder);
}

static void look_into(struct search *search, const char *path, int depth);

static void look_at_result(struct search *search, int folder_fd, const char *path, const char *name,
			   int depth)
{
	struct stat st;

	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		note_unread(search, path);
	else if (S_ISREG(st.st_mode))
		add_file(search, path);
	else if (S_ISDIR(st.st_mode) && depth == RESCUE_DEPTH_MAX)
		search->cut = true;
	else if (S_ISDIR(st.st_mode) && !keepname_is_skipped(name))
		look_into(search, path, depth + 1);
}

static void look_into(struct search *search, const char *path, int depth)
{
	DIR *folder =
		fd_list_own(beneath_open_same_mount(search->data_fd, path, O_RDONLY | O_DIRECTORY));
	const struct dirent *entry;

	if (folder == NULL) {
		note_unread(search, path);
		return;
	}
	while ((entry = fd_next_entry(folder)) != NULL) {
		cleanup_free char *below = xasprintf("%s/%s", path, entry->d_name);

		if (!fd_is_dot(entry->d_name))
			look_at_result(search, dirfd(folder), below, entry->d_name, depth);
	}
	end_list(search, path, folder);
}

/* ---- beside output/ (workspace/beside.h) ---- */

static bool is_aside(const char *name)
{
	return name[0] == '.' || keepname_is_skipped(name);
}

static void look_beside(struct search *search, const char *path, int depth);

static void look_at(struct search *search, int folder_fd, const char *path, const char *name,
		    int depth)
{
	struct stat st;

	if (is_aside(name))
		return;
	if (fstatat(folder_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		note_unread(search, path);
	else if (S_ISREG(st.st_mode))
		add_file(search, path);
	else if (S_ISDIR(st.st_mode) && depth == RESCUE_DEPTH_MAX)
		search->cut = true;
	else if (S_ISDIR(st.st_mode) && !str_eq(path, INPUT) && !str_eq(path, OUTPUT))
		look_beside(search, path, depth + 1);
}

/* Searches a folder. `path` is relative to the data folder, which itself is "". */
static void look_beside(struct search *search, const char *path, int depth)
{
	bool at_top = path[0] == '\0';
	int fd = at_top ? openat(search->data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
			: beneath_open_same_mount(search->data_fd, path, O_RDONLY | O_DIRECTORY);
	bool is_marked = fd >= 0 && mark_of(search->data_fd, path) != NULL;
	DIR *folder = fd < 0 || is_marked ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (folder == NULL) {
		if (!is_marked)
			note_unread(search, path);
		fd_close(&fd);
		return;
	}
	while ((entry = fd_next_entry(folder)) != NULL) {
		cleanup_free char *below =
			at_top ? xstrdup(entry->d_name) : xasprintf("%s/%s", path, entry->d_name);
		size_t before = search->count;

		look_at(search, dirfd(folder), below, entry->d_name, depth);
		if (!at_top || search->count - before <= BESIDE_TREE_MAX)
			continue;
		while (search->count > before)
			forget_last(search);
		free(search->large);
		search->large = mem_steal(&below);
	}
	end_list(search, path, folder);
}

/* Returns -1 when nothing was exported yet. */
static int open_kept(const json_t *request)
{
	const char *folder = json_string_value(json_object_get(request, "folder"));
	cleanup_free char *path = json_path_of(json_object_get(request, "root"));
	cleanup_fd int fd = path == NULL ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || folder == NULL ? -1 : beneath_open(fd, folder, O_RDONLY | O_DIRECTORY, 0);
}

/* Reports what is not copied. Must run before the copies: their result ends the output. */
static void report_left(const struct search *search)
{
	cleanup_free char *left = NULL;
	json_t *progress;

	if (search->unread != NULL)
		left = xstrdup(search->unread);
	else if (search->large != NULL)
		left = xasprintf("'%s' has more than %d files that were not kept", search->large,
				 BESIDE_TREE_MAX);
	else if (search->cut)
		left = xasprintf("there are more than %d files, or folders nested deeper than %d",
				 RESCUE_FILES_MAX, RESCUE_DEPTH_MAX);
	if (left == NULL)
		return;
	progress = json_object();
	json_put_str(progress, "left", left);
	program_progress(progress);
}

int rescue_run(int data_fd, json_t *request, struct err *err)
{
	cleanup_fd int kept_fd = open_kept(request);
	struct search search = { .data_fd = data_fd, .kept_fd = kept_fd };
	json_t *files;

	/* A copy that the dead server started may still be running. */
	if (flock(data_fd, LOCK_EX) < 0)
		return err_sys(err, "waiting for another copy");
	if (kept_fd >= 0)
		copy_remove_halves(kept_fd, 1);
	list_init(&search.found);
	search.tree = keeptree_new();
	look_into(&search, OUTPUT, 1);
	look_beside(&search, "", 1);
	add_others(&search);
	report_left(&search);
	files = list_files(&search, request);
	keeptree_free(search.tree);
	free(search.large);
	free(search.unread);
	json_put(request, "files", files);
	if (json_array_size(files) > 0)
		return keep_run(data_fd, request, -1, err);
	program_result(json_object());
	return 0;
}
