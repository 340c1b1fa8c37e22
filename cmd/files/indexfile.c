/* SPDX-License-Identifier: MIT */
/*
 * indexfile.c - judges the index of a repository, and the shared one of a split index. The length
 * of hashes is a setting of the repository's config.
 */
#include "indexfile.h"

#include <stdlib.h>

#include <sys/stat.h>

#include "base/gitindex.h"
#include "base/gitini.h"
#include "base/mem.h"
#include "base/util.h"
#include "hold.h"
#include "inspection.h"
#include "sandbox/rootfs/protect_config.h"

enum {
	FILE_MAX = 512 << 20,
	MORE = 1 << 20, /* git may replace it by a larger one meanwhile */
};

static void on_entry(void *data, const struct gitini_entry *entry)
{
	size_t *len = data;

	if (entry->odd == NULL && str_eq(entry->section, "extensions") &&
	    str_eq(entry->name, "objectformat"))
		*len = str_eq(entry->value, "sha256") ? GITINDEX_HASH_MAX : GITINDEX_HASH_SHORT;
}

/* Returns the length of the repository's hashes, a setting of its own config. */
static size_t hash_length(const struct folder_at *folder)
{
	const char *const configs[] = { "config", "../../config" /* of a work tree's */ };
	size_t hash_len = GITINDEX_HASH_SHORT;

	for (size_t i = 0; i < ARRAY_SIZE(configs); i++) {
		size_t len = 0;
		cleanup_free char *text =
			inspection_read(folder, configs[i], PROTECT_CONFIG_MAX, &len);

		if (text == NULL)
			continue;
		gitini_each(text, len, on_entry, &hash_len);
		break;
	}
	return hash_len;
}

/* Returns true also when there is no such file. */
static bool is_file_sound(const struct folder_at *folder, const char *name, char *ret_shared)
{
	cleanup_free char *data = NULL;
	struct stat st;
	size_t len = 0;

	ret_shared[0] = '\0';
	if (!inspection_stat(folder, name, &st))
		return true;
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX)
		return false;
	data = inspection_read(folder, name, (size_t)st.st_size * 2 + MORE, &len);
	return data != NULL && gitindex_is_sound(data, len, hash_length(folder), ret_shared);
}

void indexfile_judge(struct inspection *run, const struct folder_at *folder)
{
	char shared[2 * GITINDEX_HASH_MAX + 1];
	char based[2 * GITINDEX_HASH_MAX + 1];
	cleanup_free char *name = NULL;
	struct stat st;

	if (run->learn || !inspection_young_there(run, folder, "index", &st))
		return;
	if (!is_file_sound(folder, "index", shared)) {
		hold(run, folder, "index");
		return;
	}
	if (shared[0] == '\0')
		return;
	name = xasprintf("sharedindex.%s", shared);
	if (!is_file_sound(folder, name, based))
		hold(run, folder, name);
}
