/* SPDX-License-Identifier: MIT */
#include "sandbox/protect_config.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/gitini.h"
#include "base/mem.h"

/* DEPTH_MAX is git's. */
enum { CONFIG_MAX = 256 << 10, DEPTH_MAX = 10, READS_MAX = 20000, HOOKS_MAX = 4 << 10 };
enum { WORKPLACES_MAX = 4 << 20 };

/* Husky's folder of hooks, which run the user's scripts in the folder above. */
#define HUSKY "/_"

struct reading {
	struct protect_config *config;
	const char *path;
	int depth;
};

static void read_config(struct protect_config *config, const char *path, int depth);

static const char *first(const struct buf *paths)
{
	return paths->len > 0 ? paths->data : NULL;
}

static const char *next(const struct buf *paths, const char *path)
{
	path += strlen(path) + 1;
	return path < paths->data + paths->len ? path : NULL;
}

static bool has_path(const struct buf *paths, const char *path)
{
	for (const char *at = first(paths); at != NULL; at = next(paths, at))
		if (str_eq(at, path))
			return true;
	return false;
}

static void add_path(struct buf *paths, const char *path)
{
	if (paths->len + strlen(path) < paths->max)
		buf_put(paths, path, strlen(path) + 1);
}

/* Not a folder that git may be called in, or above it: nothing there could be written. */
static bool is_workplace(const struct protect_config *config, const char *path)
{
	size_t len = strlen(path);

	for (const char *at = first(&config->workplaces); at != NULL;
	     at = next(&config->workplaces, at))
		if (strncmp(at, path, len) == 0 && (at[len] == '\0' || at[len] == '/'))
			return true;
	return false;
}

/* Through no link and in the share, for the caller to free; NULL: not there. */
static char *real_in_share(const struct protect_config *config, const char *folder,
			   const char *path)
{
	const char *below = gitini_below_home(path, config->top);
	cleanup_free char *whole = NULL;
	char real[PATH_MAX];
	size_t len = strlen(config->top);

	if (below != NULL)
		whole = xasprintf("%s/%s", config->top, below);
	else
		whole = path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", folder, path);
	if (realpath(whole, real) == NULL || strncmp(real, config->top, len) != 0 ||
	    real[len] != '/')
		return NULL;
	return xstrdup(real);
}

static void give_hooks(struct protect_config *config, const char *folder, const char *path)
{
	cleanup_free char *real = real_in_share(config, folder, path);

	if (real != NULL && !is_workplace(config, real))
		config->fn(config->data, real);
}

static void include(const struct reading *reading, const char *value)
{
	cleanup_free char *folder =
		xmemdup(reading->path, (size_t)(strrchr(reading->path, '/') - reading->path));
	cleanup_free char *real = real_in_share(reading->config, folder, value);

	if (real == NULL)
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
		add_path(&config->hooks, path);
}

static void on_entry(void *data, const struct gitini_entry *entry)
{
	const struct reading *reading = data;

	if (entry->odd != NULL)
		return;
	if (gitini_is_include(entry))
		include(reading, entry->value);
	else if (gitini_is_hooks(entry))
		add_hooks(reading->config, entry->value);
}

static void read_config(struct protect_config *config, const char *path, int depth)
{
	struct reading reading = { .config = config, .path = path, .depth = depth };
	cleanup_fd int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	cleanup_free char *text = NULL;
	struct stat st;
	ssize_t len;

	if (depth > DEPTH_MAX || config->reads_left == 0 || fd < 0 || fstat(fd, &st) < 0 ||
	    !S_ISREG(st.st_mode))
		return;
	config->reads_left--;
	text = xcalloc(1, CONFIG_MAX);
	len = read(fd, text, CONFIG_MAX);
	if (len > 0)
		gitini_each(text, (size_t)len, on_entry, &reading);
}

void protect_config_begin(struct protect_config *config, const char *top,
			  void (*fn)(void *data, const char *path), void *data)
{
	*config = (struct protect_config){
		.top = top, .reads_left = READS_MAX, .fn = fn, .data = data
	};
	buf_init(&config->hooks, HOOKS_MAX);
	buf_init(&config->workplaces, WORKPLACES_MAX);
}

void protect_config_add_workplace(struct protect_config *config, const char *folder)
{
	add_path(&config->workplaces, folder);
}

void protect_config_read(struct protect_config *config, const char *path)
{
	read_config(config, path, 0);
}

static void give_everywhere(struct protect_config *config, const char *hooks)
{
	for (const char *at = first(&config->workplaces); at != NULL;
	     at = next(&config->workplaces, at))
		give_hooks(config, at, hooks);
}

void protect_config_end(struct protect_config *config)
{
	for (const char *at = first(&config->hooks); at != NULL; at = next(&config->hooks, at)) {
		if (at[0] == '/')
			give_hooks(config, config->top, at);
		else
			give_everywhere(config, at);
	}
	buf_release(&config->hooks);
	buf_release(&config->workplaces);
}
