/* SPDX-License-Identifier: MIT */
/* indexfile.h - holds an index of git that leads git out of its work tree (base/gitindex.h). */
#ifndef FILES_INDEXFILE_H
#define FILES_INDEXFILE_H

struct folder_at;
struct inspection;

/*
 * Holds the index of the repository, if it is new and git may read paths out of the work tree or in
 * .git from it. One that can be read in two ways is held, too.
 */
void indexfile_judge(struct inspection *run, const struct folder_at *folder);

#endif
