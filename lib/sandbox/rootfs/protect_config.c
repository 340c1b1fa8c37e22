/* SPDX-License-Identifier: MIT */
/*
 * protect_config.c - finds the files that git configs in a share name, and that must be held with
 * it.
 *
 * Configs in a share are untrusted input: sizes, depth and the number of files are limited.
 * Relative values count from the folder that git is called in, which is not known. They are
 * collected first and looked up in every such folder at the end.
 */
#include "sandbox/rootfs/protect_config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/gitini.h"
#include "base/mem.h"
#include "sandbox/rootfs/protect_follow.h"
#include "sandbox/rootfs/repository.h"

/* DEPTH_MAX is git's own. */
enum { DEPTH_MAX = 10, READS_MAX = 20000, FOLLOWS_MAX = 200000 };
enum { HOOKS_MAX = 4 << 10, COMMANDS_MAX = 16 << 10, PATHS_MAX = 4 << 20 };

/* Husky's hooks folder, whose hooks run the user's scripts in the folder above. */
#define HUSKY "/_"

struct reading {
	struct protect_config *config;
	const char *path;
	int depth;
};

static void read_config(struct protect_config *config, const char *path, int depth);

static const char *first_path(const struct buf *paths)
{
	return paths->len > 0 ? paths->data : NULL;
}

static const char *next_path(const struct buf *paths, const char *path)
{
	path += strlen(path) + 1;
	return path < paths->data + paths->len ? path : NULL;
}

static bool has_path(const struct buf *paths, const char *path)
{
	for (const char *at = first_path(paths); at != NULL; at = next_path(paths, at))
		if (str_eq(at, path))
			return true;
	return false;
}

/* The share is then refused. */
static void give_up(struct protect_config *config)
{
	(void)err_set(&config->problem, ERR_LIMIT,
		      "git's configs there name more hooks and programs than can be held "
		      "read-only; share it without :rw");
}

void protect_config_fail(struct protect_config *config, const char *folder)
{
	(void)err_sys(&config->problem, "reading '%s'", folder);
}

/* Appends the path and a NUL. */
static void add_path(struct protect_config *config, struct buf *paths, const char *path)
{
	if (paths->len + strlen(path) < paths->max)
		buf_put(paths, path, strlen(path) + 1);
	else
		give_up(config);
}

/*
 * Returns whether git may be called in the folder or below it. If it were held, nothing there could
 * be written.
 */
static bool is_workplace(const struct protect_config *config, const char *path)
{
	size_t len = strlen(path);

	if (str_eq(path, config->top))
		return true;
	for (const char *at = first_path(&config->workplaces); at != NULL;
	     at = next_path(&config->workplaces, at))
		if (strncmp(at, path, len) == 0 && (at[len] == '\0' || at[len] == '/'))
			return true;
	return false;
}

/* ---- paths ---- */

/*
 * Reports the links on the way and returns where the path leads, or NULL. The caller frees the
 * result.
 */
static char *follow_path(struct protect_config *config, const char *path)
{
	if (config->follows_left == 0) {
		give_up(config);
		return NULL;
	}
	config->follows_left--;
	return protect_follow(config->top, path, config->fn, config->data);
}

/* Makes a path of a config's value. The caller frees the result. */
static char *make_path(const struct protect_config *config, const char *folder, const char *value)
{
	const char *below = gitini_below_home(value, config->top);

	if (below != NULL)
		return xasprintf("%s/%s", config->top, below);
	return value[0] == '/' ? xstrdup(value) : xasprintf("%s/%s", folder, value);
}

static void report_path(struct protect_config *config, const char *path)
{
	cleanup_free char *real = follow_path(config, path);

	if (real != NULL && !is_workplace(config, real))
		config->fn(config->data, real);
}

static void report_links_in(struct protect_config *config, const char *folder)
{
	DIR *entries = opendir(folder);
	const struct dirent *entry;

	/* A folder that is closed to this user is closed to the session too. */
	if (entries == NULL && fd_hides_entries(errno) && errno != EACCES)
		protect_config_fail(config, folder);
	if (entries == NULL)
		return;
	errno = 0;
	while (config->follows_left > 0 && (entry = fd_next_entry(entries)) != NULL) {
		cleanup_free char *path = xasprintf("%s/%s", folder, entry->d_name);

		if (entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
			report_path(config, path);
		errno = 0;
	}
	if (errno != 0)
		protect_config_fail(config, folder);
	(void)closedir(entries);
}

static void report_hooks_among_others(struct protect_config *config, const char *folder)
{
	const char *hook;

	for (size_t i = 0; (hook = repository_hook(i)) != NULL; i++) {
		cleanup_free char *path = xasprintf("%s/%s", folder, hook);

		report_path(config, path);
	}
}

static void report_hooks(struct protect_config *config, const char *folder, const char *value)
{
	cleanup_free char *path = make_path(config, folder, value);
	cleanup_free char *real = follow_path(config, path);

	if (real == NULL)
		return;
	if (is_workplace(config, real)) {
		report_hooks_among_others(config, real);
		return;
	}
	config->fn(config->data, real);
	report_links_in(config, real);
}

/* .git leads to a repository, which is held as one. */
static void report_name(struct protect_config *config, const char *path)
{
	cleanup_free char *real = follow_path(config, path);

	if (real == NULL || str_eq(strrchr(path, '/'), "/.git") || is_workplace(config, real))
		return;
	if (!str_eq(real, path))
		config->fn(config->data, real);
	report_links_in(config, real);
}

static void report_file(struct protect_config *config, const char *folder, const char *file)
{
	cleanup_free char *path = make_path(config, folder, file);
	cleanup_free char *real = follow_path(config, path);
	struct stat st;

	if (real != NULL && lstat(real, &st) == 0 && S_ISREG(st.st_mode))
		config->fn(config->data, real);
}

/* ---- configs ---- */

static void include_config(const struct reading *reading, const char *value)
{
	cleanup_free char *folder =
		xmemdup(reading->path, (size_t)(strrchr(reading->path, '/') - reading->path));
	cleanup_free char *path = make_path(reading->config, folder, value);
	cleanup_free char *real = follow_path(reading->config, path);
	struct stat st;

	if (real == NULL || lstat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	reading->config->fn(reading->config->data, real);
	read_config(reading->config, real, reading->depth + 1);
}

static void add_hooks(struct protect_config *config, const char *value)
{
	size_t len = strlen(value);
	size_t husky = strlen(HUSKY);
	cleanup_free char *path = NULL;

	while (len > 1 && value[len - 1] == '/')
		len--;
	if (len > husky && strncmp(value + len - husky, HUSKY, husky) == 0)
		len -= husky;
	path = xmemdup(value, len);
	if (path[0] != '\0' && !has_path(&config->hooks, path))
		add_path(config, &config->hooks, path);
}

static void add_command(void *data, const char *word)
{
	struct protect_config *config = data;

	if (!has_path(&config->commands, word))
		add_path(config, &config->commands, word);
}

static void on_config_entry(void *data, const struct gitini_entry *entry)
{
	const struct reading *reading = data;

	if (entry->odd != NULL)
		return;
	if (gitini_is_include(entry))
		include_config(reading, entry->value);
	else if (gitini_is_hooks(entry))
		add_hooks(reading->config, entry->value);
	else if (gitini_is_command(entry))
		gitini_each_word(entry->value, add_command, reading->config);
}

static void read_config(struct protect_config *config, const char *path, int depth)
{
	struct reading reading = { .config = config, .path = path, .depth = depth };
	cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	cleanup_free char *text = NULL;
	struct stat st;
	ssize_t len;

	if (depth > DEPTH_MAX || fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	if (config->reads_left == 0) {
		give_up(config);
		return;
	}
	config->reads_left--;
	text = xcalloc(1, PROTECT_CONFIG_MAX + 1);
	len = read(fd, text, PROTECT_CONFIG_MAX + 1);
	if (len > PROTECT_CONFIG_MAX)
		(void)err_set(&config->problem, ERR_LIMIT,
			      "a config of git there is longer than %d KB, so what it names cannot "
			      "be held read-only; shorten it, or share the folder without :rw",
			      PROTECT_CONFIG_MAX >> 10);
	else if (len > 0)
		gitini_each(text, (size_t)len, on_config_entry, &reading);
}

void protect_config_begin(struct protect_config *config, const char *top,
			  void (*fn)(void *data, const char *path), void *data)
{
	*config = (struct protect_config){ .top = top,
					   .reads_left = READS_MAX,
					   .follows_left = FOLLOWS_MAX,
					   .fn = fn,
					   .data = data };
	buf_init(&config->hooks, HOOKS_MAX);
	buf_init(&config->commands, COMMANDS_MAX);
	buf_init(&config->names, PATHS_MAX);
	buf_init(&config->workplaces, PATHS_MAX);
}

void protect_config_add_workplace(struct protect_config *config, const char *folder)
{
	add_path(config, &config->workplaces, folder);
}

void protect_config_add_name(struct protect_config *config, const char *path)
{
	add_path(config, &config->names, path);
}

void protect_config_add_file(struct protect_config *config, const char *path)
{
	report_file(config, config->top, path);
}

void protect_config_read(struct protect_config *config, const char *path)
{
	cleanup_free char *real = follow_path(config, path);

	if (real != NULL)
		read_config(config, real, 0);
}

typedef void report_fn(struct protect_config *config, const char *folder, const char *value);

static void report_all(struct protect_config *config, const struct buf *values, report_fn *fn)
{
	for (const char *value = first_path(values); value != NULL;
	     value = next_path(values, value)) {
		const char *at = first_path(&config->workplaces);

		if (value[0] == '/' || value[0] == '~')
			fn(config, config->top, value);
		else
			for (; at != NULL; at = next_path(&config->workplaces, at))
				fn(config, at, value);
	}
}

int protect_config_end(struct protect_config *config, struct err *err)
{
	report_all(config, &config->hooks, report_hooks);
	report_all(config, &config->commands, report_file);
	for (const char *at = first_path(&config->names); at != NULL;
	     at = next_path(&config->names, at))
		report_name(config, at);
	buf_release(&config->hooks);
	buf_release(&config->commands);
	buf_release(&config->names);
	buf_release(&config->workplaces);
	if (config->problem.code != ERR_NONE)
		*err = config->problem;
	return config->problem.code != ERR_NONE ? -1 : 0;
}
