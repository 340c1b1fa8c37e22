/* SPDX-License-Identifier: MIT */
/* job_request.h - the request of a step to the program that runs it. Only job.c includes this
 * header. */
#ifndef INSTALL_JOB_REQUEST_H
#define INSTALL_JOB_REQUEST_H

#include "install/job.h"

/* Returns the request, as a new reference. Without network it has no indexes and no logins. */
json_t *job_request(const struct job *job, const char *step, bool network);

#endif
