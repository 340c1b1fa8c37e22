/* SPDX-License-Identifier: MIT */
/*
 * gitindex.h - reads an index of git for paths that git itself puts into none. git checks paths
 * when it adds them, and trusts those that it reads: "git checkout ." writes where they lead.
 */
#ifndef FILES_GITINDEX_H
#define FILES_GITINDEX_H

struct folder_at;
struct inspection;

/*
 * Holds the index of the repository, if it is new and git may read paths out of the work tree or in
 * .git from it. One that can be read in two ways is held, too.
 */
void gitindex_judge(struct inspection *run, const struct folder_at *folder);

#endif
