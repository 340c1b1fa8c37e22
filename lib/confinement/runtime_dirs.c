/* SPDX-License-Identifier: MIT */
/*
 * runtime_dirs.c - follows links as the kernel would inside, since a program must be found by the
 * same path there. It knows the kinds of installations by their paths and files: pyvenv.cfg for
 * virtual environments, the folder above bin/ for others, and stores such as /nix/store, whose
 * programs need each other.
 */
#include "confinement/runtime_dirs.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "confinement/shares.h"
#include "text/sanitize.h"

enum { LINKS_MAX = 40, VENV_FILE_MAX = 64 << 10, SHOWN_MAX = 100 };

/* Folders that every session sees. */
static const char *const system_folders[] = { "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64" };

/* Stores whose programs need each other: they are brought along whole. */
static const char *const stores[] = { "/nix/store", "/gnu/store", "/snap" };

/* Folders that never belong to one interpreter alone. */
static const char *const crowded[] = { "/",    "/etc",     "/home",   "/media", "/mnt",
				       "/opt", "/root",    "/srv",    "/tmp",   "/var",
				       "/run", "/var/tmp", "/var/lib" };
static const char *const crowded_in_home[] = { ".local", ".config", ".cache", "bin", ".ssh" };

/* ---- paths ---- */

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == path ? xstrdup("/") : xmemdup(path, (size_t)(slash - path));
}

static bool is_within_any(const char *const *folders, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++)
		if (shares_path_within(folders[i], path))
			return true;
	return false;
}

static bool is_system(const char *path)
{
	return is_within_any(system_folders, ARRAY_SIZE(system_folders), path);
}

/*
 * Returns the folder of the installation that the real program `path` is in. The caller frees the
 * result.
 */
static char *prefix_of(const char *path)
{
	cleanup_free char *folder = folder_of(path);
	const char *cellar = strstr(path, "/Cellar/"); /* Homebrew's programs share libraries. */

	for (size_t i = 0; i < ARRAY_SIZE(stores); i++)
		if (shares_path_within(stores[i], path))
			return xstrdup(stores[i]);
	if (cellar != NULL && cellar > path)
		return xmemdup(path, (size_t)(cellar - path));
	return str_eq(path_base(folder), "bin") ? folder_of(folder) : mem_steal(&folder);
}

/* ---- allowed folders ---- */

static bool is_crowded(const struct runtime_dirs_bounds *bounds, const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(crowded); i++)
		if (str_eq(crowded[i], path))
			return true;
	for (size_t i = 0; bounds->home != NULL && i < ARRAY_SIZE(crowded_in_home); i++) {
		cleanup_free char *folder = xasprintf("%s/%s", bounds->home, crowded_in_home[i]);

		if (str_eq(folder, path))
			return true;
	}
	return false;
}

static bool holds_share(const struct runtime_dirs_bounds *bounds, const char *path)
{
	const struct policy_share *share;

	for (size_t i = 0; bounds->shares != NULL && (share = shares_at(bounds->shares, i)); i++)
		if (shares_path_within(path, share->path))
			return true;
	return false;
}

static int refuse(const char *path, const char *why, struct err *err)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&line, path, strlen(path), SHOWN_MAX);
	return err_set(err, ERR_DENIED, "it lies in '%s', which %s", buf_str(&line), why);
}

static int check(const struct runtime_dirs_bounds *bounds, const char *path, struct err *err)
{
	static const char more[] =
		"holds more than an interpreter: install it in a folder of its own";

	if (is_crowded(bounds, path) ||
	    (bounds->home != NULL && shares_path_within(path, bounds->home)))
		return refuse(path, more, err);
	if (bounds->cwd != NULL && shares_path_within(path, bounds->cwd))
		return refuse(path, "is or holds the folder in which ptycell was started", err);
	if (holds_share(bounds, path))
		return refuse(path, "is or holds a shared folder", err);
	if (bounds->shares != NULL && shares_overlap(bounds->shares, path, true))
		return refuse(path, "code may change, because it is shared with :rw", err);
	if (bounds->sessions != NULL && (shares_path_within(path, bounds->sessions) ||
					 shares_path_within(bounds->sessions, path)))
		return refuse(path, "holds sessions' own files", err);
	return 0;
}

/* Adds a folder. `path` is real: it has no link in it. */
static int add_folder(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
		      const char *path, struct err *err)
{
	size_t kept = 0;

	if (is_system(path) ||
	    is_within_any((const char *const *)runtimes->paths, runtimes->count, path))
		return 0;
	if (check(bounds, path, err) < 0)
		return -1;
	for (size_t i = 0; i < runtimes->count; i++) {
		if (shares_path_within(path, runtimes->paths[i]))
			free(runtimes->paths[i]);
		else
			runtimes->paths[kept++] = runtimes->paths[i];
	}
	runtimes->count = kept;
	if (kept == POLICY_RUNTIMES_MAX)
		return err_set(err, ERR_LIMIT, "interpreters lie in more than %d folders",
			       POLICY_RUNTIMES_MAX);
	runtimes->paths[runtimes->count++] = xstrdup(path);
	return 0;
}

/* ---- path resolution as inside a sandbox ---- */

/*
 * Returns the target of a link, made absolute; NULL when `path` is no link. The caller frees the
 * result.
 */
static char *read_link(const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	cleanup_free char *folder = NULL;

	if (len <= 0)
		return NULL;
	target[len] = '\0';
	if (target[0] == '/')
		return xstrdup(target);
	folder = folder_of(path);
	return xasprintf("%s/%s", str_eq(folder, "/") ? "" : folder, target);
}

/* Returns the shortest beginning of `path` that is a link; NULL when there is none. */
static char *first_link(const char *path)
{
	for (size_t len = 1; path[len - 1] != '\0'; len++) {
		cleanup_free char *part = NULL;
		cleanup_free char *target = NULL;

		if (path[len] != '/' && path[len] != '\0')
			continue;
		part = xmemdup(path, len);
		target = read_link(part);
		if (target != NULL)
			return mem_steal(&part);
		if (path[len] == '\0')
			break;
	}
	return NULL;
}

/*
 * Adds the folder of every link on the way, and its target, so that the same path leads there
 * inside. Returns the real path at the end; the caller frees it.
 */
static char *follow_links(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
			  const char *path, struct err *err)
{
	cleanup_free char *at = xstrdup(path);

	for (int i = 0; i < LINKS_MAX; i++) {
		cleanup_free char *link = first_link(at);
		cleanup_free char *target = link != NULL ? read_link(link) : NULL;
		cleanup_free char *folder = link != NULL ? folder_of(link) : NULL;
		cleanup_free char *real = NULL;
		char *next;

		if (link == NULL || target == NULL)
			return mem_steal(&at);
		real = realpath(folder, NULL);
		if (real == NULL)
			break;
		if (add_folder(runtimes, bounds, real, err) < 0)
			return NULL;
		next = xasprintf("%s%s", target, at + strlen(link));
		free(at);
		at = next;
	}
	(void)err_set(err, ERR_NOT_FOUND, "its links lead nowhere");
	return NULL;
}

/* ---- kinds of interpreters ---- */

static int add_prefix(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
		      const char *program, struct err *err)
{
	cleanup_free char *real = realpath(program, NULL);
	cleanup_free char *prefix = NULL;

	if (real == NULL)
		return err_sys(err, "looking for what its links lead to");
	if (is_system(real))
		return 0;
	prefix = prefix_of(real);
	return add_folder(runtimes, bounds, prefix, err);
}

/*
 * Returns the value of `key` in pyvenv.cfg, as Python's site.py reads it; NULL when there is none.
 */
static char *venv_value(const char *text, const char *key)
{
	size_t key_len = strlen(key);

	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line + strspn(line, " \t");
		size_t len;

		if (strncasecmp(at, key, key_len) != 0)
			continue;
		at += key_len + strspn(at + key_len, " \t");
		if (*at != '=')
			continue;
		at += 1 + strspn(at + 1, " \t");
		len = strcspn(at, "\r\n");
		while (len > 0 && (at[len - 1] == ' ' || at[len - 1] == '\t'))
			len--;
		return xmemdup(at, len);
	}
	return NULL;
}

/* Adds a virtual environment: its own folder, and the Python from which it was made. */
static int add_venv(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
		    const char *prefix, const char *config, struct err *err)
{
	cleanup_free char *home = venv_value(config, "home");
	cleanup_free char *real = realpath(prefix, NULL);
	cleanup_free char *traced = NULL;

	if (real == NULL)
		return err_sys(err, "looking at '%s'", prefix);
	if (add_folder(runtimes, bounds, real, err) < 0)
		return -1;
	if (home == NULL || home[0] != '/')
		return 0;
	traced = follow_links(runtimes, bounds, home, err);
	return traced != NULL ? 0 : -1;
}

/* Reads pyvenv.cfg of the environment that `path` appears to be in; NULL when it is in none. */
static char *read_venv(const char *prefix)
{
	cleanup_free char *file = xasprintf("%s/pyvenv.cfg", prefix);
	struct err err;
	size_t len;

	return fd_read_regular(file, VENV_FILE_MAX, &len, &err);
}

char *runtime_dirs_add(struct runtime_dirs *runtimes, const struct runtime_dirs_bounds *bounds,
		       const char *path, struct err *err)
{
	cleanup_free char *folder = folder_of(path);
	cleanup_free char *prefix = folder_of(folder);
	cleanup_free char *config = NULL;
	cleanup_free char *traced = NULL;

	if (is_system(path) && add_prefix(runtimes, bounds, path, err) == 0)
		return xstrdup(path);
	if (is_system(path))
		return NULL;
	config = read_venv(prefix);
	if (config == NULL)
		return add_prefix(runtimes, bounds, path, err) == 0 ? realpath(path, NULL) : NULL;
	if (add_venv(runtimes, bounds, prefix, config, err) < 0)
		return NULL;
	traced = follow_links(runtimes, bounds, path, err);
	if (traced == NULL || add_prefix(runtimes, bounds, traced, err) < 0)
		return NULL;
	return xstrdup(path);
}

void runtime_dirs_release(struct runtime_dirs *runtimes)
{
	for (size_t i = 0; i < runtimes->count; i++)
		free(runtimes->paths[i]);
	runtimes->count = 0;
}
