/* SPDX-License-Identifier: MIT */
/*
 * locate.c - searches the environment for an interpreter, and resolves the shims of version
 * managers.
 *
 * Each manager is a row: how its root is found, and where the binaries of a version are. A folder
 * on PATH is recognised as shims by its path alone, in any home, because the host may have started
 * the server with another HOME.
 */
#include "runtime/locate.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "runtime/language.h"

enum { VERSION_FILE_MAX = 64 << 10 };

struct search {
	const struct language *language;
	char *const *environ;
};

struct manager {
	const char *name;
	const char *root_env;
	const char *root_in_home;
	const char *shims; /* folder in the root */
	/* Appends the folder of the chosen version's binaries to `out`. Returns false if unknown.
	 */
	bool (*bin)(const struct search *search, const char *root, struct buf *out);
};

void locate_release(struct interpreter_path *path)
{
	free(path->path);
	*path = (struct interpreter_path){ 0 };
}

/* Returns NULL if the variable is unset or empty. */
static const char *env_get(const struct search *search, const char *name)
{
	size_t len = strlen(name);

	for (char *const *entry = search->environ; *entry != NULL; entry++) {
		if (strncmp(*entry, name, len) == 0 && (*entry)[len] == '=')
			return (*entry)[len + 1] != '\0' ? *entry + len + 1 : NULL;
	}
	return NULL;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* Returns whether `s` may be a version: the name of one visible folder. */
static bool is_plain_name(const char *s, size_t len)
{
	return len > 0 && s[0] != '.' && memchr(s, '/', len) == NULL;
}

static size_t word_len(const char *s)
{
	return strcspn(s, " \t\r\n:");
}

static char *read_home_file(const struct search *search, const char *name)
{
	const char *home = env_get(search, "HOME");
	cleanup_free char *path = NULL;
	struct err err;
	size_t len;

	if (home == NULL)
		return NULL;
	path = xasprintf("%s/%s", home, name);
	return fd_read_regular(path, VERSION_FILE_MAX, &len, &err);
}

static bool versions_bin(const struct search *search, const char *variable, const char *root,
			 struct buf *out)
{
	const char *version = env_get(search, variable);
	cleanup_free char *path = xasprintf("%s/version", root);
	cleanup_free char *file = NULL;
	struct err err;
	size_t len;

	if (version == NULL)
		version = file = fd_read_regular(path, VERSION_FILE_MAX, &len, &err);
	if (version == NULL || !is_plain_name(version, word_len(version)))
		return false;
	buf_putf(out, "%s/versions/%.*s/bin", root, (int)word_len(version), version);
	return true;
}

static bool pyenv_bin(const struct search *search, const char *root, struct buf *out)
{
	return versions_bin(search, "PYENV_VERSION", root, out);
}

static bool nodenv_bin(const struct search *search, const char *root, struct buf *out)
{
	return versions_bin(search, "NODENV_VERSION", root, out);
}

/* Reads the user's version from the first "runtime" of a small JSON file. */
static bool volta_bin(const struct search *search, const char *root, struct buf *out)
{
	static const char key[] = "\"runtime\"";
	cleanup_free char *path = xasprintf("%s/tools/user/platform.json", root);
	cleanup_free char *file = NULL;
	const char *version;
	struct err err;
	size_t len;

	(void)search;
	file = fd_read_regular(path, VERSION_FILE_MAX, &len, &err);
	version = file != NULL ? strstr(file, key) : NULL;
	if (version == NULL)
		return false;
	version += strlen(key) + strspn(version + strlen(key), " \t\r\n:\"");
	len = strcspn(version, "\"");
	if (!is_plain_name(version, len))
		return false;
	buf_putf(out, "%s/tools/image/node/%.*s/bin", root, (int)len, version);
	return true;
}

/* Returns the version in a line "TOOL VERSION ..." of ~/.tool-versions, or NULL. */
static const char *tool_version(const char *file, const char *tool)
{
	size_t len = strlen(tool);

	for (const char *line = file; line != NULL; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, tool, len) == 0 && (line[len] == ' ' || line[len] == '\t'))
			return line + len + strspn(line + len, " \t");
	}
	return NULL;
}

/* Returns PREFIX_TOOL_VERSION of the environment, or NULL. */
static const char *tool_env(const struct search *search, const char *prefix, const char *tool)
{
	cleanup_free char *name = xasprintf("%s_%s_VERSION", prefix, tool);

	for (char *c = name; *c != '\0'; c++)
		*c = (char)toupper((unsigned char)*c);
	return env_get(search, name);
}

static bool install_bin(const char *root, const char *tool, const char *version, struct buf *out)
{
	if (version == NULL || !is_plain_name(version, word_len(version)))
		return false;
	buf_putf(out, "%s/installs/%s/%.*s/bin", root, tool, (int)word_len(version), version);
	return true;
}

static const char *tool_name(const struct search *search, const char *own)
{
	return own != NULL ? own : search->language->name;
}

static bool asdf_bin(const struct search *search, const char *root, struct buf *out)
{
	cleanup_free char *file = read_home_file(search, ".tool-versions");
	const char *tool = tool_name(search, search->language->asdf_name);
	const char *version = tool_env(search, "ASDF", tool);

	if (version == NULL && file != NULL)
		version = tool_version(file, tool);
	return install_bin(root, tool, version, out);
}

static bool mise_bin(const struct search *search, const char *root, struct buf *out)
{
	cleanup_free char *file = read_home_file(search, ".tool-versions");
	const char *tool = tool_name(search, search->language->mise_name);
	const char *version = tool_env(search, "MISE", tool);

	if (version == NULL && file != NULL)
		version = tool_version(file, tool);
	/* mise keeps this link to the newest version that is installed. */
	return install_bin(root, tool, version != NULL ? version : "latest", out);
}

static const struct manager managers[] = {
	{ "pyenv", "PYENV_ROOT", ".pyenv", "shims", pyenv_bin },
	{ "nodenv", "NODENV_ROOT", ".nodenv", "shims", nodenv_bin },
	{ "volta", "VOLTA_HOME", ".volta", "bin", volta_bin },
	{ "asdf", "ASDF_DATA_DIR", ".asdf", "shims", asdf_bin },
	{ "mise", "MISE_DATA_DIR", ".local/share/mise", "shims", mise_bin },
};

/* Returns true if `folder` is ROOT/NAME, with or without slashes at the end. */
static bool is_shims_of(const char *folder, const char *root, const char *name)
{
	size_t len = strlen(root);
	size_t name_len = strlen(name);

	while (len > 0 && root[len - 1] == '/')
		len--;
	if (len == 0 || strncmp(folder, root, len) != 0 || folder[len] != '/')
		return false;
	folder += len + strspn(folder + len, "/");
	return strncmp(folder, name, name_len) == 0 &&
	       strspn(folder + name_len, "/") == strlen(folder + name_len);
}

/* Returns the manager's root if `folder` has its shims, in any home, else NULL. The caller frees
 * it.
 */
static char *root_in_a_home(const struct manager *manager, const char *folder)
{
	const char *at = strstr(folder, manager->root_in_home);
	size_t len = strlen(manager->root_in_home);
	cleanup_free char *root = NULL;

	if (at == NULL || at == folder || at[-1] != '/')
		return NULL;
	root = xasprintf("%.*s", (int)((size_t)(at - folder) + len), folder);
	return is_shims_of(folder, root, manager->shims) ? mem_steal(&root) : NULL;
}

/*
 * Returns the manager whose shims are in `folder`, and its root, which the caller frees. Returns
 * NULL for other folders.
 */
static const struct manager *manager_of(const struct search *search, const char *folder,
					char **ret_root)
{
	for (size_t i = 0; i < ARRAY_SIZE(managers); i++) {
		const char *from_env = env_get(search, managers[i].root_env);

		if (from_env != NULL && is_shims_of(folder, from_env, managers[i].shims))
			*ret_root = xstrdup(from_env);
		else
			*ret_root = root_in_a_home(&managers[i], folder);
		if (*ret_root != NULL)
			return &managers[i];
	}
	return NULL;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): the result takes it */
static bool found(char *path_own, const char *reason, struct interpreter_path *ret_path)
{
	*ret_path = (struct interpreter_path){ .path = path_own, .reason = reason };
	return true;
}

/* Looks for `command` in the absolute `folder`, and resolves a shim. */
static bool try_folder(const struct search *search, const char *folder, const char *command,
		       const char *reason, struct interpreter_path *ret_path)
{
	cleanup_free char *path = xasprintf("%s/%s", folder, command);
	cleanup_free char *root = NULL;
	cleanup_buf struct buf bin;
	const struct manager *manager;

	buf_init(&bin, BUF_UNBOUNDED);
	if (!is_program(path))
		return false;
	manager = manager_of(search, folder, &root);
	if (manager == NULL)
		return found(mem_steal(&path), reason, ret_path);
	if (!manager->bin(search, root, &bin))
		return false;
	buf_putf(&bin, "/%s", command);
	if (!is_program(buf_str(&bin)))
		return false;
	return found(buf_steal(&bin), manager->name, ret_path);
}

static bool try_path(const struct search *search, const char *command, const char *reason,
		     struct interpreter_path *ret_path)
{
	const char *entry = env_get(search, "PATH");

	while (entry != NULL && *entry != '\0') {
		size_t len = strcspn(entry, ":");

		if (*entry == '/') {
			cleanup_free char *folder = xmemdup(entry, len);

			if (try_folder(search, folder, command, reason, ret_path))
				return true;
		}
		entry += len + (entry[len] == ':');
	}
	return false;
}

/* Looks for the program that the user named: a path, or a command on PATH. */
static bool try_override(const struct search *search, const char *value,
			 struct interpreter_path *ret_path)
{
	const char *reason = search->language->env_override;
	const char *slash = strrchr(value, '/');
	cleanup_free char *folder = NULL;

	if (slash == NULL)
		return try_path(search, value, reason, ret_path);
	if (*value != '/')
		return false;
	folder = xmemdup(value, slash > value ? (size_t)(slash - value) : 1);
	return try_folder(search, folder, slash + 1, reason, ret_path);
}

static bool try_virtual_env(const struct search *search, struct interpreter_path *ret_path)
{
	const char *root = env_get(search, "VIRTUAL_ENV");
	cleanup_free char *folder = NULL;

	if (root == NULL || *root != '/')
		return false;
	folder = xasprintf("%s/bin", root);
	for (size_t i = 0; search->language->commands[i] != NULL; i++) {
		if (try_folder(search, folder, search->language->commands[i], "VIRTUAL_ENV",
			       ret_path))
			return true;
	}
	return false;
}

int locate_interpreter(const struct language *language, char *const env[],
		       struct interpreter_path *ret_path, struct err *err)
{
	const struct search search = { language, env };
	const char *override = env_get(&search, language->env_override);

	if (override != NULL) {
		if (try_override(&search, override, ret_path))
			return 0;
		return err_set(
			err, ERR_NOT_FOUND,
			"%s is '%s', which is neither the absolute path of a program nor a command "
			"on PATH",
			language->env_override, override);
	}
	if (try_virtual_env(&search, ret_path))
		return 0;
	for (size_t i = 0; language->commands[i] != NULL; i++) {
		if (try_path(&search, language->commands[i], "PATH", ret_path))
			return 0;
	}
	return err_set(err, ERR_NOT_FOUND,
		       "no '%s' on PATH: install it (%s), or set %s to an interpreter's path",
		       language->commands[0], language->install_hint, language->env_override);
}
