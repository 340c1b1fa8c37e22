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
 * Holds each new index of the repository that has a path out of the work tree or in .git, or that
 * can be read in two ways. Holds its list of conflicts (MERGE_RR) if that has such a path, even if
 * the list is old: git reads and writes the listed files at the next commit.
 */
void indexfile_judge(struct inspection *run, const struct folder_at *folder);
/*
 * Holds lists of conflicts in this share with a path that leads through a link in a work tree. Must
 * be called after the work trees of all shares are known.
 */
void indexfile_judge_links(struct inspection *run);

#endif
