/* SPDX-License-Identifier: MIT */
#include "sandbox/repository.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"

struct waiting {
	struct list node;
	char *path;
};

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

/* Of all versions, of its server and its mail as well. */
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

static bool comes_last(const char *name)
{
	static const char *const names[] = { "node_modules", "site-packages", ".venv",
					     "venv",         "__pycache__",   ".tox",
					     ".nox",         ".cache",        "target",
					     "objects",      ".mypy_cache",   "bower_components" };

	return is_one_of(names, ARRAY_SIZE(names), name);
}

void repository_queue_init(struct repository_queue *queue)
{
	list_init(&queue->first);
	list_init(&queue->last);
	queue->in_packages = false;
}

void repository_queue_add(struct repository_queue *queue, const char *name, char *path_own)
{
	bool last = queue->in_packages || comes_last(name);
	struct waiting *waiting = xcalloc(1, sizeof(*waiting));

	waiting->path = path_own;
	list_init(&waiting->node);
	list_append(last ? &queue->last : &queue->first, &waiting->node);
}

char *repository_queue_take(struct repository_queue *queue)
{
	struct list *head = list_empty(&queue->first) ? &queue->last : &queue->first;
	struct waiting *waiting;
	char *path;

	if (list_empty(head))
		return NULL;
	queue->in_packages = head == &queue->last;
	waiting = list_entry(head->next, struct waiting, node);
	path = waiting->path;
	list_remove(&waiting->node);
	free(waiting);
	return path;
}
