/* SPDX-License-Identifier: MIT */
/*
 * likeness.c - makes the digest by which two servers are compared. Every part goes into it with its
 * length, so that no two parts can be taken for others. Variables go in in alphabetical order:
 * hosts pass them in any.
 */
#include "console/likeness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "config/paths.h"
#include "config/schema.h"
#include "net/upstream.h"

enum { FILE_BYTES_MAX = 1 << 20 /* as many as are read of a file with settings */ };

/* Beginnings of the variables that ptycell reads, beside settings, proxies and certificates. */
static const char *const beginnings[] = {
	"ASDF_",       "HOME=",  "MISE_",  "NETRC=",       "NODENV_",  "NPM_",
	"npm_config_", "ODBC",   "PATH=",  "PIP_",         "PTYCELL_", "PYENV_",
	"R_",          "TMPDIR", "TZ=",    "VIRTUAL_ENV=", "VOLTA_",   "WSL_DISTRO_NAME=",
	"XDG_CACHE_",  "XDG_CO", "XDG_ST",
};

static void add(struct digest *digest, const void *data, size_t len)
{
	digest_add(digest, &len, sizeof(len));
	digest_add(digest, data, len);
}

static void add_text(struct digest *digest, const char *text)
{
	add(digest, text != NULL ? text : "", text != NULL ? strlen(text) : 0);
}

/* An upgrade replaces the file, so that another version never has the same number. */
static void add_program(struct digest *digest)
{
	struct stat st = { .st_ino = 0 };
	const long long facts[] = { stat("/proc/self/exe", &st),  (long long)st.st_dev,
				    (long long)st.st_ino,         (long long)st.st_size,
				    (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
				    (long long)geteuid(),         (long long)getegid() };

	add(digest, facts, sizeof(facts));
}

static void add_folder(struct digest *digest)
{
	cleanup_free char *path = getcwd(NULL, 0);

	add_text(digest, path);
}

static bool is_read(const char *variable)
{
	cleanup_free char *name = xmemdup(variable, strcspn(variable, "="));

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (str_begins(variable, beginnings[i]))
			return true;
	return schema_find(name) != NULL; /* another name of a setting */
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_variables(struct digest *digest, char *const environment[])
{
	const char **read = NULL;
	size_t count = 0;

	for (size_t i = 0; environment[i] != NULL; i++) {
		if (!is_read(environment[i]))
			continue;
		read = xrealloc(read, (count + 1) * sizeof(*read));
		read[count++] = environment[i];
	}
	if (count > 0)
		qsort(read, count, sizeof(*read), compare);
	for (size_t i = 0; i < count; i++)
		add_text(digest, read[i]);
	free(read);
}

/* A file of settings may name variables in braces: what came of them counts. */
static void add_values(struct digest *digest, const struct settings *settings)
{
	for (size_t i = 0; i < settings->user_env.count; i++) {
		add_text(digest, settings->user_env.items[i].name);
		add_text(digest, settings->user_env.items[i].value);
	}
	for (size_t i = 0; i < settings->database_count; i++) {
		add_text(digest, settings->databases[i].name);
		add_text(digest, settings->databases[i].string);
	}
	add_text(digest, settings->database_password);
}

/* The proxies and certificates of the user's other tools have names in both cases. */
static void add_upstream(struct digest *digest, char *const environment[])
{
	struct upstream_variables upstream;

	upstream_find(environment, &upstream);
	add_text(digest, upstream.https_proxy);
	add_text(digest, upstream.http_proxy);
	add_text(digest, upstream.no_proxy);
	add_text(digest, upstream.authorities);
}

static void add_file(struct digest *digest, const char *path)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *text =
		path != NULL ? fd_read_regular(path, FILE_BYTES_MAX, &len, &err) : NULL;

	add_text(digest, path);
	add(digest, text, len);
}

/* npm's configuration names variables as ${NAME}: those that it names count. */
static void add_named(struct digest *digest, char *const environment[], const char *path)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *text =
		path != NULL ? fd_read_regular(path, FILE_BYTES_MAX, &len, &err) : NULL;

	for (const char *at = text; at != NULL && (at = strstr(at, "${")) != NULL; at += 2) {
		cleanup_free char *name = xmemdup(at + 2, strcspn(at + 2, "}\n"));

		add_text(digest, name);
		add_text(digest, paths_getenv(environment, name));
	}
}

static void add_npmrc(struct digest *digest, char *const environment[])
{
	const char *home = paths_getenv(environment, "HOME");
	const char *upper = paths_getenv(environment, "NPM_CONFIG_USERCONFIG");
	const char *lower = paths_getenv(environment, "npm_config_userconfig");
	cleanup_free char *usual = home != NULL ? xasprintf("%s/.npmrc", home) : NULL;

	add_named(digest, environment, usual);
	add_named(digest, environment, upper);
	add_named(digest, environment, lower);
}

void likeness_make(const struct settings *settings, char *const argv[], char text[LIKENESS_LEN + 1])
{
	struct digest digest;

	digest_init(&digest);
	add_program(&digest);
	add_folder(&digest);
	for (size_t i = 0; argv[i] != NULL; i++)
		add_text(&digest, argv[i]);
	add_text(&digest, settings->home);
	add_variables(&digest, settings->environment);
	add_upstream(&digest, settings->environment);
	add_values(&digest, settings);
	add_npmrc(&digest, settings->environment);
	add_file(&digest, settings->policy);
	for (size_t i = 0; settings->env_files[i] != NULL; i++)
		add_file(&digest, settings->env_files[i]);
	digest_end(&digest, text);
}
