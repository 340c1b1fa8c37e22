/* SPDX-License-Identifier: MIT */
/*
 * environment.c - constructs the arguments and the environment of an interpreter from nothing. User
 * variables are put last, in place of one of the same name, so that they have precedence.
 */
#include "runner/environment.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "config/user_env.h"
#include "runtime/language.h"
#include "runtime/programs.h"
#include "sandbox/policy.h"
#include "workspace/workspace.h"

enum { NODE_BESIDE_HEAP = 96 << 20 };

/*
 * Pagers would wait for a key, and models do not see colours. git stops where a file /etc/gitconfig
 * is there that it must not read, as in tier landlock.
 */
static const char *const common[] = {
	"TERM=xterm-256color",   "PAGER=cat",    "GIT_PAGER=cat",
	"MANPAGER=cat",          "GH_PAGER=cat", "LC_ALL=C.UTF-8",
	"LANG=C.UTF-8",          "USER=ptycell", "SHELL=/bin/sh",
	"GIT_CONFIG_NOSYSTEM=1",
};

/* Lets programs that scripts start find out at once that they reach nothing. */
static const char *const offline[] = {
	"PIP_RETRIES=0",
	"PIP_DISABLE_PIP_VERSION_CHECK=1",
	"npm_config_fetch_retries=0",
	"npm_config_update_notifier=false",
};

struct strings {
	char **items;
	size_t count;
};

static void add(struct strings *s, char *item_own)
{
	s->items = xrealloc(s->items, (s->count + 2) * sizeof(char *));
	s->items[s->count++] = item_own;
	s->items[s->count] = NULL;
}

char **environment_argv(const struct language *language, const char *path)
{
	const char *const *arguments = language->arguments();
	struct strings s = { .items = NULL };

	add(&s, xstrdup(path));
	for (size_t i = 0; arguments[i] != NULL; i++)
		add(&s, xstrdup(arguments[i]));
	return s.items;
}

/* Returns "FOLDER:" of an interpreter, "" for one of the system or none. The caller frees it. */
static char *own_folder(const char *path)
{
	const char *slash = path != NULL ? strrchr(path, '/') : NULL;
	size_t len = slash != NULL ? (size_t)(slash - path) : 0;
	bool is_system = len == 0 || (len == 8 && memcmp(path, "/usr/bin", 8) == 0);

	return is_system ? xstrdup("") : xasprintf("%.*s:", (int)len, path);
}

/*
 * Puts the programs that ask for packages first, then the interpreter's own folder, so that its
 * scripts are found, then Python's, so that pip's packages are for the python3 of a shell. Programs
 * of packages come last.
 */
static char *search_path(const struct environment_spec *spec, const char *packages,
			 const char *data)
{
	cleanup_free char *own = own_folder(spec->path);
	cleanup_free char *python = own_folder(spec->python);

	return xasprintf("PATH=%s/" ASK_FOLDER "/" PROGRAMS_BIN
			 ":%s%s/usr/local/bin:/usr/bin:/bin:%s/python/bin:"
			 "%s/javascript/node_modules/.bin:%s/.cache/packages/bin",
			 packages, own, str_eq(own, python) ? "" : python, packages, packages,
			 data);
}

/* Adds the paths on which interpreters find installed packages. */
static void add_packages(struct strings *s, const char *packages, const char *data)
{
	/* The last one has what was installed from the session's own files. */
	add(s, xasprintf("PYTHONPATH=%s/python:%s/" ASK_FOLDER "/" PROGRAMS_MODULES
			 ":%s/.cache/packages",
			 packages, packages, data));
	add(s, xasprintf("NODE_PATH=%s/javascript/node_modules", packages));
	add(s, xasprintf("R_LIBS=%s/r", packages));
	add(s, xasprintf("R_PROFILE=%s/" ASK_FOLDER "/" PROGRAMS_R_PROFILE, packages));
}

/*
 * Some programs read the upper case names, some the lower case ones. Node needs a switch to read
 * them.
 */
static void add_proxy(struct strings *s)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "all_proxy",
					     "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		add(s, xasprintf("%s=http://127.0.0.1:%d", names[i], POLICY_PROXY_PORT));
	add(s, xstrdup("no_proxy=localhost,127.0.0.1,::1"));
	add(s, xstrdup("NO_PROXY=localhost,127.0.0.1,::1"));
	add(s, xstrdup("NODE_USE_ENV_PROXY=1"));
}

/* Puts a user variable in place of one of the same name. */
static void put_user_variable(struct strings *s, const struct user_env_variable *variable)
{
	char *item = xasprintf("%s=%s", variable->name, variable->value);
	size_t len = strlen(variable->name) + 1;

	for (size_t i = 0; i < s->count; i++) {
		if (strncmp(s->items[i], item, len) == 0) {
			free(s->items[i]);
			s->items[i] = item;
			return;
		}
	}
	add(s, item);
}

/*
 * V8 collects garbage by its maximum heap, and ends a worker alone at that limit. Beside the heap
 * it needs room for young objects and code, and Node for its threads.
 */
static void add_heap(struct strings *s, uint64_t memory_max)
{
	uint64_t beside = memory_max / 8 + NODE_BESIDE_HEAP;
	uint64_t least = memory_max / 4;
	uint64_t heap = memory_max > beside + least ? memory_max - beside : least;

	if (memory_max > 0)
		add(s, xasprintf("NODE_OPTIONS=--max-old-space-size=%ju", (uintmax_t)(heap >> 20)));
}

char **environment_new(const struct environment_spec *spec)
{
	const struct language *language = spec->language;
	const struct workspace *workspace = spec->workspace;
	const struct user_env *user_env = spec->user_env;
	const char *data = workspace_data_path(workspace);
	const char *packages = workspace_packages_path(workspace);
	struct strings s = { .items = NULL };

	add(&s, search_path(spec, packages, data));
	add_packages(&s, packages, data);
	add(&s, xasprintf("HOME=%s", data));
	if (workspace_tmp_path(workspace) != NULL)
		add(&s, xasprintf("TMPDIR=%s", workspace_tmp_path(workspace)));
	add(&s, xasprintf("XDG_CACHE_HOME=%s/.cache", data));
	/* their files are as large as their data, and /tmp and /dev/shm are memory */
	add(&s, xasprintf("JOBLIB_TEMP_FOLDER=%s/.cache/joblib", data));
	add(&s, xasprintf("DASK_TEMPORARY_DIRECTORY=%s/.cache/dask", data));
	add(&s, xasprintf("SQLITE_TMPDIR=%s", data));
	add(&s, xasprintf("MPLCONFIGDIR=%s/.cache/matplotlib", data));
	for (size_t i = 0; i < ARRAY_SIZE(common); i++)
		add(&s, xstrdup(common[i]));
	for (size_t i = 0; language->environment[i] != NULL; i++)
		add(&s, xstrdup(language->environment[i]));
	add_heap(&s, spec->memory_max);
	/*
	 * Bytecode counts for a module of the same size and second. Cells that run again may write
	 * a module twice in one second, so no Python in their reach stores any.
	 */
	if (spec->runs_again)
		add(&s, xstrdup("PYTHONDONTWRITEBYTECODE=1"));
	if (spec->network == ENVIRONMENT_PROXY)
		add_proxy(&s);
	for (size_t i = 0; spec->network == ENVIRONMENT_NONE && i < ARRAY_SIZE(offline); i++)
		add(&s, xstrdup(offline[i]));
	for (size_t i = 0; user_env != NULL && i < user_env->count; i++)
		put_user_variable(&s, &user_env->items[i]);
	return s.items;
}

void environment_free(char **strings)
{
	for (size_t i = 0; strings[i] != NULL; i++)
		free(strings[i]);
	free(strings);
}

char *environment_output_folder(const struct workspace *workspace)
{
	return xasprintf("%s/output", workspace_data_path(workspace));
}
