/* SPDX-License-Identifier: MIT */
/*
 * known.c - makes the keys of what a share had: percent-encoded paths. Folders of packages are not
 * pinned (sandbox/rootfs/protect.h), so session code can put one in the place of another: the keys
 * of what is in them have the inode, too.
 */
#include "known.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "inspection.h"
#include "journal/digest.h"
#include "json/make.h"
#include "sandbox/rootfs/repository.h"
#include "text/percent.h"
#include "workspace/beneath.h"

enum {
	LEARNED_BYTES_MAX = 512 << 10, /* of an answer, quotes included */
	CONTENT_BYTES_MAX = LEARNED_BYTES_MAX / 4,
	CONTENT_MAX = 64 << 10, /* of a file */
};

static void learn(struct inspection *run, const char *key)
{
	if (run->learned_bytes + strlen(key) > LEARNED_BYTES_MAX) {
		run->unlearned = true;
		return;
	}
	run->learned_bytes += strlen(key);
	json_append(run->learned, json_make_str(key));
}

static bool has_key(const struct inspection *run, const char *key)
{
	return map_get(run->known, key, strlen(key)) != NULL;
}

/* Returns the key that says that the whole share was learned. The caller frees it. */
static char *share_key(const struct inspection *run)
{
	cleanup_free char *whole = xasprintf("%s\n", run->share_path);

	return percent_encode(whole);
}

static bool is_share_learned(const struct inspection *run)
{
	cleanup_free char *key = share_key(run);

	return has_key(run, key);
}

/* A folder that was not yet a repository is new to git once code has completed it. */
static char *entry_key(const struct inspection *run, const struct folder_at *folder,
		       const char *name, const char *entry)
{
	cleanup_free char *whole = xasprintf("%s/%s/%s\n%s%s", run->share_path, folder->path, name,
					     run->begun ? "begun " : "", entry);

	return percent_encode(whole);
}

bool known_has(struct inspection *run, const struct folder_at *folder, const char *name,
	       const char *entry)
{
	cleanup_free char *key = entry_key(run, folder, name, entry);

	if (run->learn)
		learn(run, key);
	return run->learn || has_key(run, key);
}

/*
 * Returns the key of a file with its folder's inode and what it contains now, NULL for a long one
 * and for what is no file. The caller frees it. The file's own inode is a new one where a program
 * replaces the file, as lefthook does.
 */
static char *content_key(const struct inspection *run, const struct folder_at *folder,
			 const char *name)
{
	struct stat st;
	char digest[DIGEST_LEN + 1];
	size_t len = 0;
	cleanup_free char *text = inspection_read(folder, name, CONTENT_MAX, &len);
	cleanup_free char *entry = NULL;

	if (text == NULL || fstat(folder->fd, &st) < 0)
		return NULL;
	digest_sha256(text, len, digest);
	entry = xasprintf("%ju %s", (uintmax_t)st.st_ino, digest);
	return entry_key(run, folder, name, entry);
}

static void learn_content(struct inspection *run, const struct folder_at *folder, const char *name)
{
	cleanup_free char *key = NULL;

	if (!run->learn || run->learned_bytes > CONTENT_BYTES_MAX)
		return;
	key = content_key(run, folder, name);
	if (key != NULL)
		learn(run, key);
}

/* Returns true for a file that was written again and is the same, as by an installer of hooks. */
static bool is_as_learned(const struct inspection *run, const struct folder_at *folder,
			  const char *name)
{
	cleanup_free char *key = NULL;

	if (run->learn || run->new_repository)
		return false;
	key = content_key(run, folder, name);
	return key != NULL && has_key(run, key);
}

/* The entry is never one of a config, whose names are not empty and begin with no digit. */
bool known_is_new(struct inspection *run, const struct folder_at *folder, const char *name,
		  const struct stat *st)
{
	bool movable = repository_in_packages(folder->path);
	cleanup_free char *entry = movable ? xasprintf("%ju", (uintmax_t)st->st_ino) : xstrdup("");

	if (inspection_is_young(run, st))
		return !is_as_learned(run, folder, name);
	learn_content(run, folder, name);
	return (run->learn || is_share_learned(run)) && !known_has(run, folder, name, entry);
}

bool known_is_moved_in(const struct inspection *run, int fd)
{
	struct stat st;

	return run->learn && (fstat(fd, &st) < 0 || inspection_is_young(run, &st));
}

bool known_is_below_young(const struct inspection *run, const char *path)
{
	cleanup_free char *part = xstrdup(path);
	struct stat st;
	char *slash;

	while (part[0] != '\0' && !str_eq(part, ".git")) {
		cleanup_fd int fd = beneath_open(run->share, part, O_PATH | O_DIRECTORY, 0);

		if (fd < 0 || fstat(fd, &st) < 0 || inspection_is_young(run, &st))
			return true;
		slash = strrchr(part, '/');
		*(slash != NULL ? slash : part) = '\0';
	}
	return false;
}

/* ---- repositories ---- */

static char *repository_key(const struct inspection *run, const struct folder_at *folder,
			    bool begun)
{
	bool movable = repository_in_packages(folder->path);
	struct stat st = { .st_ino = 0 };
	cleanup_free char *whole = NULL;

	if (movable)
		(void)fstat(folder->fd, &st);
	whole = xasprintf("%s/%s\n%s %ju", run->share_path, folder->path,
			  begun ? "begun" : "repository", (uintmax_t)st.st_ino);
	return percent_encode(whole);
}

bool known_was_repository(const struct inspection *run, const struct folder_at *folder)
{
	cleanup_free char *key = repository_key(run, folder, false);

	return has_key(run, key);
}

bool known_is_new_repository(const struct inspection *run, const struct folder_at *folder)
{
	cleanup_free char *key = repository_key(run, folder, run->begun);

	return !run->learn && is_share_learned(run) && !has_key(run, key);
}

void known_add_repository(struct inspection *run, const struct folder_at *folder)
{
	cleanup_free char *key = repository_key(run, folder, run->begun);

	if (run->learn)
		learn(run, key);
}

void known_add_share(struct inspection *run)
{
	cleanup_free char *key = share_key(run);

	if (run->learn && run->more == NULL && !run->unlearned && !run->unread)
		learn(run, key);
}
