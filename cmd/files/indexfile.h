/* SPDX-License-Identifier: MIT */
/*
 * indexfile.h - holds an index of git, or a list of conflicts, that leads git out of its work tree
 * (base/gitindex.h).
 */
#ifndef FILES_INDEXFILE_H
#define FILES_INDEXFILE_H

struct folder_at;
struct inspection;

/*
 * Holds each index of the repository that is new and from which git may read paths out of the work
 * tree or in .git. One that can be read in two ways is held, too. The same for its list of
 * conflicts (MERGE_RR), however old: git reads and writes the files in it at the next commit.
 */
void indexfile_judge(struct inspection *run, const struct folder_at *folder);
/*
 * Holds lists of conflicts in this share that lead through a link of a work tree. Must be called
 * when the work trees of all shares are known.
 */
void indexfile_judge_links(struct inspection *run);

#endif
