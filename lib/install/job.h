/* SPDX-License-Identifier: MIT */
/*
 * job.h - one installation, from what is wanted to what lies in the session's packages folder.
 *
 *   where     asks pip, npm or R for the index that nobody named (once a server)
 *   fetch     resolves, judges, downloads; with network
 *   unpack    judges the files themselves and unpacks them; without
 *   build     runs npm's scripts, installs R's sources, where builds are allowed; without
 *   pack      copies the result to the cache; to the session where builds are allowed
 *   link      gives the session the cache's files
 *
 * A set that the cache has begins with link. One that only checks has "check" instead, and no
 * session. Shared by broker.c and job.c only.
 */
#ifndef INSTALL_JOB_H
#define INSTALL_JOB_H

#include "base/list.h"
#include "install/broker.h"
#include "install/cache.h"
#include "install/indexes.h"

struct helper;
struct installer;
struct workspace;

/* What a session has in one language. */
struct installed {
	struct list node;
	char *folder;
	const struct language *language;
	char *from;     /* indexes_describe */
	json_t *wanted; /* all that was asked for, as it was written */
	json_t *result; /* as install_done_fn tells it */
};

struct broker {
	const struct session_host *host;
	const struct policyfile *policy;
	struct cache *cache;
	json_t *defaults; /* by language: what "where" told */
	struct list jobs;
	struct list installed;
	broker_over_fn *over; /* or NULL */
	void *over_data;
	struct list abandoned; /* jobs whose sandbox is not closed yet */
};

struct job {
	struct list node;
	struct broker *broker;
	char *folder; /* of the session */
	const struct language *language;
	json_t *asked;
	json_t *wanted; /* with what the session had; set by the broker before job_start */
	struct list waiting;
	int packages_fd;
	struct indexes indexes;
	struct workspace *work; /* the installer's; NULL before its first step */
	struct installer *installer;
	struct helper *helper;
	struct loop_defer failed;
	char *problem;
	uint64_t deadline_ms; /* for all steps in sandboxes together */
	char *key;            /* of what is wanted */
	char *files_key;      /* of the files that this came to */
	json_t *record;
	char *unreached; /* no index is, as was told: "fetch" has the folders only */
	bool renewed;    /* the cache is not asked any more */
	bool abandoned;
	bool checks;
};

/* ERR_SYSTEM. `session` is borrowed for the call. */
struct job *job_new(struct broker *broker, const struct session *session,
		    const struct language *language, const json_t *packages,
		    struct err *err) MUST_CHECK;
/* One that tells whether the installer works: {"tool", "from"}. */
struct job *job_new_check(struct broker *broker, const struct language *language);
/* broker_job_over follows from the loop. */
void job_start(struct job *job);
/* Ends and frees it, now or when its sandbox has closed. */
void job_abandon(struct job *job);
void job_free(struct job *job);

/* broker.c: `result` or `problem` is NULL. The job is freed. */
void broker_job_over(struct job *job, const json_t *result, const char *problem);

#endif
