/* SPDX-License-Identifier: MIT */
/*
 * gitfolder.h - inspects a folder of a share as git would, and holds what session code must not
 * give to git.
 *
 * A folder with HEAD and one of objects, refs and commondir counts as a repository, under any name.
 * These of its entries are held, if they are new (known.h):
 *   - config, config.worktree: too long (PROTECT_CONFIG_MAX), or with an entry that
 *     workspace/gitconfig.h calls untrusted, that was not there before, or that leads the worktree
 *     out of the shares
 *   - hooks/NAME: executable and not a sample; also in a folder of core.hooksPath, and there only
 *     names of hooks when git may be called in it or above it
 *   - the target of a link there: as if it were there itself
 *   - a file that a config includes: as a config
 *   - a file in a command that git runs by itself
 *   - branches, remotes: the folder, with any file in it, as each names a remote
 *   - index, sharedindex.*, MERGE_RR: with a path out of the work tree or in .git (base/gitindex.h)
 *   - commondir: unless it leads two folders up, as git's does
 *   - .git: a file or a link that leads out of the shares
 *   - any link at a name that git writes: removed, because git would write where it leads
 *   - any link into the sessions' folders, where code has all rights: removed
 *
 * In a repository that was not one when the session began, everything counts as young: session code
 * may have made its files earlier.
 *
 * All access is by descriptors of folders that were opened below the share without following links.
 */
#ifndef FILES_GITFOLDER_H
#define FILES_GITFOLDER_H

#include <stdbool.h>

struct folder_at;
struct inspection;

/* Inspects those entries of the folder that git reads. */
void gitfolder_judge(struct inspection *run, const struct folder_at *folder);
/* Inspects in this share what configs of all shares have named so far. */
void gitfolder_judge_named(struct inspection *run);
/* Returns whether git writes to names in the folder, and so where a link there leads. */
bool gitfolder_is_written(const struct inspection *run, const struct folder_at *folder);
/*
 * Inspects the link `name` in a folder for which gitfolder_is_written() is true. `moved`: the
 * folder, or one above it, changed since the session began.
 */
void gitfolder_judge_written_link(struct inspection *run, const struct folder_at *folder,
				  bool moved, const char *name);
/* Inspects the link `name` in any other folder. `moved` is as for the function above. */
void gitfolder_judge_link(struct inspection *run, const struct folder_at *folder, bool moved,
			  const char *name);

#endif
