/* SPDX-License-Identifier: MIT */
/*
 * job_request.h - the request of a step to the program that runs it, or to ptycell-files. Only
 * job.c includes this header.
 */
#ifndef INSTALL_JOB_REQUEST_H
#define INSTALL_JOB_REQUEST_H

#include "install/job.h"

enum { JOB_FOLDERS_MAX = INDEXES_FOLDERS_MAX + 1 };

/* Returns the request, as a new reference. Without network it has no indexes and no logins. */
json_t *job_request(const struct job *job, const char *step, bool network);
/*
 * Writes the folders that a step reads beside its own, at most JOB_FOLDERS_MAX, and returns their
 * number. Borrowed.
 */
size_t job_folders(const struct job *job, bool network, const char **ret_paths, int *ret_fds);
/* Returns the request to pack the result as this entry of the cache, or into the session. */
json_t *job_pack_request(const struct job *job, const char *entry);

#endif
