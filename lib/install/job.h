/* SPDX-License-Identifier: MIT */
/*
 * job.h - one installation, from the request to the files in the session's packages folder.
 *
 *   - where    asks pip, npm or R for the default index (once per server)
 *   - resolve  finds the files and judges them, before their download; with network; Python only
 *   - fetch    downloads; finds and judges first, without a resolve step; with network
 *   - unpack   judges the files themselves and unpacks them; without network
 *   - build    runs npm's scripts, installs R's sources, if builds are allowed; without network
 *   - pack     copies the result to the cache; to the session if something may have been built
 *   - link     gives the session the cache's files
 *
 * A cached set begins with link. A job that only checks has the one step "check" and no session.
 * Only broker.c and the files of a job include this header.
 */
#ifndef INSTALL_JOB_H
#define INSTALL_JOB_H

#include "base/list.h"
#include "install/broker.h"
#include "install/cache.h"
#include "install/indexes.h"
#include "install/installed.h"

struct helper;
struct installer;
struct workspace;

struct broker {
	const struct session_host *host;
	const struct policyfile *policy;
	struct cache *cache;
	json_t *defaults; /* by language: the replies to "where" */
	struct list jobs;
	struct list installed;
	broker_over_fn *over; /* may be NULL */
	void *over_data;
	struct list abandoned; /* jobs whose sandbox is not closed yet */
};

struct job {
	struct list node;
	struct broker *broker;
	char *folder; /* of the session */
	const struct language *language;
	json_t *asked;  /* with `removes`: names that are removed from the requests */
	json_t *locked; /* the lines of a lock file, which hold for this job only */
	json_t *wanted; /* with the earlier requests of the session; set by the broker before
			   job_start */
	json_t *have;   /* rows of packages that the session has; set like `wanted` */
	struct list waiting;
	int packages_fd;
	int journal_fd; /* set by the broker; the session's: the record of its packages is there */
	struct indexes indexes;
	struct workspace *work; /* of the installer; NULL before its first step */
	struct installer *installer;
	struct helper *helper;
	struct loop_defer failed;
	char *problem;
	uint64_t begun_ms;
	uint64_t deadline_ms; /* for all steps in sandboxes together */
	char *key;            /* cache key of the requested packages */
	char *files_key;      /* cache key of the files that they resolve to */
	json_t *record;
	json_t *wheels;  /* rows of files that the index has and "unpack" found; may be NULL */
	char *unreached; /* error of the unreachable indexes: "fetch" uses the folders only */
	bool renewed;    /* the cache is not used any more */
	bool packed;     /* a new set was stored */
	bool emptied;    /* its set is an empty folder of the session */
	bool unbuilt;    /* no code of a package ran: the files are those of the index */
	bool abandoned;
	bool checks;
	bool removes;
};

/*
 * Makes a job for a session, which is borrowed for the call. Returns NULL and sets *err
 * (ERR_SYSTEM).
 */
struct job *job_new(struct broker *broker, const struct session *session,
		    const struct install_request *request, struct err *err) MUST_CHECK;
/* Makes a job that only checks if the installer works: its result is {"tool", "from"}. */
struct job *job_new_check(struct broker *broker, const struct language *language);
/*
 * Returns the requests that the installer must satisfy now, as a new reference. The array is empty
 * when packages are removed.
 */
json_t *job_asks(const struct job *job);
/* Starts the job. broker_job_over is called from the loop. */
void job_start(struct job *job);
/*
 * Ends the job, and frees it when its sandbox has closed: until then it counts as one of its
 * session.
 */
void job_cancel(struct job *job);
/* Ends the job of a session that ends: the job's sandbox is left to the end of the session's
 * folder. */
void job_abandon(struct job *job);
void job_free(struct job *job);

/* Defined in broker.c. Ends a job and frees it. One of `result` and `problem` is NULL. */
void broker_job_over(struct job *job, const json_t *result, const char *problem);

#endif
