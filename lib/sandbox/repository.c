/* SPDX-License-Identifier: MIT */
#include "sandbox/repository.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/util.h"

static bool has(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool repository_is(int dir)
{
	return has(dir, "HEAD") &&
	       (has(dir, "objects") || has(dir, "refs") || has(dir, "commondir"));
}

static bool is_one_of(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

bool repository_holds_none(const char *name)
{
	static const char *const names[] = { "objects", "refs", "logs", "hooks", "info", "lfs" };

	return is_one_of(names, ARRAY_SIZE(names), name);
}

bool repository_comes_last(const char *name)
{
	static const char *const names[] = { "node_modules", "site-packages", ".venv",
					     "venv",         "__pycache__",   ".tox",
					     ".nox",         ".cache",        "target",
					     "objects",      ".mypy_cache",   "bower_components" };

	return is_one_of(names, ARRAY_SIZE(names), name);
}
