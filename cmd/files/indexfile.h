/* SPDX-License-Identifier: MIT */
/* indexfile.h - holds an index of git that leads git out of its work tree (base/gitindex.h). */
#ifndef FILES_INDEXFILE_H
#define FILES_INDEXFILE_H

struct folder_at;
struct inspection;

/*
 * Holds each index of the repository that is new and from which git may read paths out of the work
 * tree or in .git. One that can be read in two ways is held, too.
 */
void indexfile_judge(struct inspection *run, const struct folder_at *folder);

#endif
