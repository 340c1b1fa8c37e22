/* SPDX-License-Identifier: MIT */
/*
 * repository.c - recognises git repositories, and orders the folders in which to search for them.
 *
 * git accepts any folder with HEAD and objects or refs as a repository under any name, so names
 * prove nothing. The search has a limit of entries; folders of packages are searched late, since
 * they are large and users do not work in them.
 */
#include "sandbox/rootfs/repository.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"

struct queued {
	struct list node;
	char *path;
	bool packages;
	bool inner;
};

static bool has_entry(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool repository_is(int dir)
{
	return has_entry(dir, "HEAD") &&
	       (has_entry(dir, "objects") || has_entry(dir, "refs") || has_entry(dir, "commondir"));
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

bool repository_is_written(const char *name)
{
	static const char *const names[] = { "rebase-merge", "rebase-apply", "sequencer",
					     "rr-cache",     "lost-found",   "reftable",
					     "worktrees",    "modules" };

	return is_one_of(names, ARRAY_SIZE(names), name) ||
	       (repository_holds_none(name) && !str_eq(name, "hooks"));
}

/* The hooks of all git versions, including those of its server and mail commands. */
static const char *const hooks[] = { "applypatch-msg",
				     "pre-applypatch",
				     "post-applypatch",
				     "pre-commit",
				     "pre-merge-commit",
				     "prepare-commit-msg",
				     "commit-msg",
				     "post-commit",
				     "pre-rebase",
				     "post-checkout",
				     "post-merge",
				     "pre-push",
				     "pre-receive",
				     "update",
				     "proc-receive",
				     "post-receive",
				     "post-update",
				     "reference-transaction",
				     "push-to-checkout",
				     "pre-auto-gc",
				     "post-rewrite",
				     "sendemail-validate",
				     "fsmonitor-watchman",
				     "p4-changelist",
				     "p4-prepare-changelist",
				     "p4-post-changelist",
				     "p4-pre-submit",
				     "post-index-change" };

bool repository_is_hook(const char *name)
{
	return is_one_of(hooks, ARRAY_SIZE(hooks), name);
}

const char *repository_hook(size_t i)
{
	return i < ARRAY_SIZE(hooks) ? hooks[i] : NULL;
}

const char *repository_remotes(size_t i)
{
	static const char *const names[] = { "branches", "remotes" };

	return i < ARRAY_SIZE(names) ? names[i] : NULL;
}

static bool are_packages(const char *name)
{
	static const char *const names[] = { "node_modules", "site-packages",   ".venv",
					     "venv",         "__pycache__",     ".tox",
					     ".nox",         ".cache",          "target",
					     ".mypy_cache",  "bower_components" };

	return is_one_of(names, ARRAY_SIZE(names), name);
}

bool repository_in_packages(const char *path)
{
	cleanup_free char *rest = xstrdup(path);

	for (char *slash; (slash = strrchr(rest, '/')) != NULL; *slash = '\0')
		if (are_packages(slash + 1))
			return true;
	return are_packages(rest);
}

void repository_queue_init(struct repository_queue *queue)
{
	list_init(&queue->first);
	list_init(&queue->packages);
	list_init(&queue->inner);
	queue->in_packages = false;
	queue->in_inner = false;
}

void repository_queue_add(struct repository_queue *queue, const char *name, bool inner,
			  char *path_own)
{
	struct queued *queued = xcalloc(1, sizeof(*queued));

	queued->path = path_own;
	queued->packages = queue->in_packages || are_packages(name);
	queued->inner = queue->in_inner || inner || str_eq(name, "objects");
	list_init(&queued->node);
	list_append(queued->inner      ? &queue->inner
		    : queued->packages ? &queue->packages
				       : &queue->first,
		    &queued->node);
}

char *repository_queue_take(struct repository_queue *queue)
{
	struct list *heads[] = { &queue->first, &queue->packages, &queue->inner };
	size_t i = 0;
	struct queued *queued;
	char *path;

	while (i < ARRAY_SIZE(heads) && list_empty(heads[i]))
		i++;
	if (i == ARRAY_SIZE(heads))
		return NULL;
	queued = list_entry(heads[i]->next, struct queued, node);
	path = queued->path;
	queue->in_packages = queued->packages;
	queue->in_inner = queued->inner;
	list_remove(&queued->node);
	free(queued);
	return path;
}
