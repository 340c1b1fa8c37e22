/* SPDX-License-Identifier: MIT */
/*
 * job_record.h - the record of a job's set: what the cache has of it, and what goes into the cache.
 *
 * A set is found by its request or by its files. Where builds are allowed, package code may have
 * run before "unpack": it may have chosen the files of a request, and it may have built some. Only
 * the files of a job include this header.
 */
#ifndef INSTALL_JOB_RECORD_H
#define INSTALL_JOB_RECORD_H

#include "install/job.h"

/* Returns true if package code may run. */
bool job_may_build(const struct job *job);
/* Returns true if the installer has the step "resolve" (install/program.h). */
bool job_resolves(const struct job *job);
/* Returns true if nothing is left of the requests. */
bool job_is_empty(const struct job *job);
/* Returns true for "--dry-run": the result is what "resolve" found. */
bool job_is_dry(const struct job *job);
/* Returns true if sessions may share the result: no build ran package code. */
bool job_is_shared(const struct job *job);
/*
 * Returns the record of a set of this request, as a new reference. Returns NULL if there is none,
 * for "--upgrade", and where package code may have chosen the files. `max_age_s` is as for
 * cache_find().
 */
json_t *job_find_requested(const struct job *job, uint64_t max_age_s);
/* Sets the key of these files. Returns -1 and sets *err as job_key_files. */
int job_set_files_key(struct job *job, const json_t *files, struct err *err) MUST_CHECK;
/* Returns the record of the set of the files, a new reference, or NULL. */
json_t *job_find_resolved(const struct job *job);
/* Begins the job's record with a reply that has the files. */
void job_begin_record(struct job *job, const json_t *answer);
/* Completes the job's record with a known one of the same files. */
void job_put_known(struct job *job, const json_t *known);
/*
 * Returns what the indexes said when this request was resolved, as a new reference. Returns NULL if
 * the cache has no set of it.
 */
json_t *job_seen(const struct job *job);
/*
 * Makes the cached record of this request the job's, and stores it again with the reply's "fresh".
 * Returns false if there is none.
 */
bool job_renew_record(struct job *job, const json_t *answer);
/*
 * Notes the files that both "resolve" and "unpack" named, if there is an index: each is kept as it
 * came.
 */
void job_note_wheels(struct job *job, const json_t *files);
/* Gives the job's record to the cache. */
void job_store_record(const struct job *job);

#endif
