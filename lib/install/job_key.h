/* SPDX-License-Identifier: MIT */
/*
 * job_key.h - the keys by which the cache finds a set of packages again.
 *
 * A key is a text with everything that decides what a set has: the interpreter, the policy, the
 * indexes, and either the request, with the state of folders, or the files that it resolved to.
 * Another policy makes another key: it must judge again. Only job.c and job_record.c include this
 * header.
 */
#ifndef INSTALL_JOB_KEY_H
#define INSTALL_JOB_KEY_H

#include "install/job.h"

/*
 * Returns the key of what the job asks for, together with what its session has. The caller frees
 * it. Returns NULL and sets *err if there is no interpreter.
 */
char *job_key_request(const struct job *job, struct err *err) MUST_CHECK;
/* Returns the key of these files, in the form of broker_event. As job_key_request. */
char *job_key_files(const struct job *job, const json_t *files, struct err *err) MUST_CHECK;

#endif
