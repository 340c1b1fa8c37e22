/* SPDX-License-Identifier: MIT */
/* kept_size.c - a walk with fts, which needs few descriptors for any depth. */
#include "workspace/kept_size.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "workspace/keepname.h"

/* Returns true for a folder below the root that no session made. */
static bool is_other(const FTSENT *entry)
{
	return entry->fts_info == FTS_D && entry->fts_level == 1 &&
	       !keepname_is_folder(entry->fts_name);
}

int kept_size_measure(const char *root, void (*alive)(void), uint64_t *ret_bytes, struct err *err)
{
	cleanup_free char *copy = xstrdup(root);
	char *const roots[] = { copy, NULL };
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_XDEV, NULL);
	FTSENT *entry;

	if (walk == NULL)
		return err_sys(err, "measuring the folder of results");
	*ret_bytes = 0;
	errno = 0;
	while ((entry = fts_read(walk)) != NULL) {
		if (is_other(entry))
			(void)fts_set(walk, entry, FTS_SKIP);
		else if (entry->fts_info == FTS_F && entry->fts_level > 1)
			*ret_bytes += (uint64_t)entry->fts_statp->st_size;
		if (alive != NULL)
			alive();
		errno = 0;
	}
	if (errno != 0) {
		(void)err_sys(err, "measuring the folder of results");
		(void)fts_close(walk);
		return -1;
	}
	(void)fts_close(walk);
	return 0;
}
