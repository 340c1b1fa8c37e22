/* SPDX-License-Identifier: MIT */
/*
 * broker.c - the lists of jobs, of waiting callers and of installed packages. A request that equals
 * one of a queued or running job joins it, because a model repeats a call whose time was too short.
 * A later job resolves all earlier packages of the session again, so that the versions fit
 * together.
 */
#include "install/broker.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "install/job.h"
#include "json/make.h"
#include "workspace/workspace.h"

/* A caller that waits for a job. */
struct install {
	struct list node;
	install_done_fn *done;
	void *data;
};

/* ---- installed packages ---- */

/* Finds the packages of an earlier life of the session, too. */
static void load_installed(struct broker *b, const struct session *session)
{
	const struct workspace *workspace = session_workspace(session);

	installed_read(&b->installed, workspace_name(workspace), workspace_journal_fd(workspace));
}

static void remember(struct broker *b, const struct job *job, const json_t *result)
{
	struct installed *one = installed_find(&b->installed, job->folder, job->language, true);

	json_decref(one->wanted);
	json_decref(one->result);
	one->wanted = json_incref(job->wanted);
	one->result = json_deep_copy(result);
	free(one->from);
	one->from = indexes_describe(&job->indexes);
	installed_write(&b->installed, job->folder, job->journal_fd);
}

bool broker_has(struct broker *b, const struct session *session, const struct language *language,
		const json_t *packages)
{
	const struct installed *one;
	size_t n;
	json_t *text;

	load_installed(b, session);
	one = installed_find(&b->installed, workspace_name(session_workspace(session)), language,
			     false);

	json_array_foreach (packages, n, text) {
		size_t i = 0;
		size_t count = one != NULL ? json_array_size(one->wanted) : 0;

		while (i < count && !json_equal(json_array_get(one->wanted, i), text))
			i++;
		if (i == count)
			return false;
	}
	return true;
}

json_t *broker_list(struct broker *b, const struct session *session)
{
	const char *folder = workspace_name(session_workspace(session));
	json_t *list = json_array();

	load_installed(b, session);
	list_for_each (const struct installed, one, &b->installed, node) {
		size_t n;
		json_t *row;

		if (!str_eq(one->folder, folder))
			continue;
		json_array_foreach (json_object_get(one->result, "packages"), n, row) {
			json_t *shown = json_object();

			json_put(shown, "name", json_incref(json_object_get(row, "name")));
			json_put(shown, "version", json_incref(json_object_get(row, "version")));
			json_put_str(shown, "language", one->language->name);
			json_put(shown, "file", json_incref(json_object_get(row, "file")));
			json_put_str(shown, "from", one->from);
			json_append(list, shown);
		}
	}
	return list;
}

/* ---- jobs ---- */

static bool is_ahead(const struct job *a, const struct job *b)
{
	return a != b && a->language == b->language && str_eq(a->folder, b->folder);
}

static struct job *find_running(const struct broker *b, const struct job *job)
{
	list_for_each (struct job, other, &b->jobs, node) {
		if (other == job)
			return NULL; /* the first of its kind */
		if (is_ahead(other, job))
			return other;
	}
	return NULL;
}

/*
 * Returns the earlier packages of the session, then the new ones. A later request for the same name
 * replaces the earlier one.
 */
static json_t *join_wanted(struct broker *b, const struct job *job)
{
	const struct installed *before =
		installed_find(&b->installed, job->folder, job->language, false);
	json_t *wanted = json_array();
	size_t n;
	json_t *text;

	if (before != NULL)
		json_array_extend(wanted, before->wanted);
	json_array_foreach (job->asked, n, text) {
		size_t i = 0;

		while (i < json_array_size(wanted) && !json_equal(json_array_get(wanted, i), text))
			i++;
		if (i < json_array_size(wanted))
			(void)json_array_remove(wanted, i);
		json_append(wanted, json_incref(text));
	}
	return wanted;
}

static void start_next(struct broker *b, const char *folder, const struct language *language)
{
	list_for_each (struct job, job, &b->jobs, node) {
		if (job->language != language || !str_eq(job->folder, folder))
			continue;
		job->wanted = join_wanted(b, job);
		job_start(job);
		return;
	}
}

static void report_result(struct job *job, const json_t *result, const char *problem)
{
	while (!list_empty(&job->waiting)) {
		struct install *install = list_entry(job->waiting.next, struct install, node);
		install_done_fn *done = install->done;
		void *data = install->data;

		list_remove(&install->node);
		free(install);
		done(data, result, problem);
	}
}

static void trim(struct broker *b)
{
	cache_trim(b->cache, b->host->loop, b->host->files_helper, b->host->settings->packages_max);
}

void broker_on_over(struct broker *b, broker_over_fn *over, void *data)
{
	b->over = over;
	b->over_data = data;
}

static void report_installation(const struct broker *b, const struct job *job, const json_t *result,
				const char *problem)
{
	cleanup_free char *from = indexes_describe(&job->indexes);

	if (b->over != NULL && !job->checks)
		b->over(b->over_data, &(struct broker_event){ .folder = job->folder,
							      .language = job->language,
							      .asked = job->asked,
							      .from = from,
							      .result = result,
							      .problem = problem });
}

void broker_job_over(struct job *job, const json_t *result, const char *problem)
{
	struct broker *b = job->broker;
	const struct language *language = job->language;
	cleanup_free char *folder = xstrdup(job->folder);
	bool stored = result != NULL && !job->checks;

	list_remove(&job->node);
	if (stored)
		remember(b, job, result);
	if (stored && !json_is_true(json_object_get(result, "cached")))
		trim(b);
	report_installation(b, job, result, problem);
	report_result(job, result, problem);
	job_free(job);
	start_next(b, folder, language);
}

int broker_check_packages(const json_t *packages, struct err *err)
{
	size_t n;
	json_t *text;

	if (json_array_size(packages) == 0)
		return err_set(err, ERR_INVALID, "arguments.packages names no package");
	if (json_array_size(packages) > BROKER_PACKAGES_MAX)
		return err_set(err, ERR_LIMIT, "arguments.packages has more than %d",
			       BROKER_PACKAGES_MAX);
	json_array_foreach (packages, n, text)
		if (json_string_length(text) > BROKER_PACKAGE_CHARS)
			return err_set(err, ERR_LIMIT, "arguments.packages[%zu] is too long", n);
	return 0;
}

/* Returns a job with the same request, or NULL: the caller did not wait long enough for it. */
static struct job *find_same(const struct broker *b, const struct job *job)
{
	list_for_each (struct job, other, &b->jobs, node)
		if (is_ahead(other, job) && json_equal(other->asked, job->asked))
			return other;
	return NULL;
}

static int check_room(const struct broker *b, const struct job *job, struct err *err)
{
	int count = 0;

	list_for_each (struct job, other, &b->jobs, node)
		count += str_eq(other->folder, job->folder);
	if (count < BROKER_JOBS_MAX || find_same(b, job) != NULL)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "%d installations of this session are not done yet; wait for them (the same "
		       "call again waits), and name all packages in one call",
		       BROKER_JOBS_MAX);
}

static struct install *enqueue(struct broker *b, struct job *job_own, install_done_fn *done,
			       void *data)
{
	struct install *install = xcalloc(1, sizeof(*install));
	struct job *same = find_same(b, job_own);

	list_init(&install->node);
	install->done = done;
	install->data = data;
	if (same != NULL) {
		list_append(&same->waiting, &install->node);
		job_free(job_own);
		return install;
	}
	list_append(&job_own->waiting, &install->node);
	list_append(&b->jobs, &job_own->node);
	if (find_running(b, job_own) == NULL)
		start_next(b, job_own->folder, job_own->language);
	return install;
}

struct install *broker_install(struct broker *b, const struct session *session,
			       const struct install_request *request, install_done_fn *done,
			       void *data, struct err *err)
{
	struct job *job;
	struct err ignored;

	if (broker_check_packages(request->packages, err) < 0)
		return NULL;
	load_installed(b, session);
	job = job_new(b, session, request->language, request->packages, err);
	if (job == NULL)
		return NULL;
	/* Without it the record is not written, which is logged. */
	job->journal_fd = fd_dup(workspace_journal_fd(session_workspace(session)), &ignored);
	if (check_room(b, job, err) < 0) {
		job_free(job);
		return NULL;
	}
	return enqueue(b, job, done, data);
}

struct install *broker_check(struct broker *b, const struct language *language,
			     install_done_fn *done, void *data)
{
	return enqueue(b, job_new_check(b, language), done, data);
}

void broker_forget(struct install *install)
{
	if (install == NULL)
		return;
	list_remove(&install->node);
	free(install);
}

/* ---- start and end ---- */

struct broker *broker_new(const struct session_host *host, const struct policyfile *policy,
			  struct err *err)
{
	struct cache *cache = cache_open(host->home, err);
	struct broker *b;

	if (cache == NULL)
		return NULL;
	b = xcalloc(1, sizeof(*b));
	b->host = host;
	b->policy = policy;
	b->cache = cache;
	b->defaults = json_object();
	list_init(&b->jobs);
	list_init(&b->installed);
	list_init(&b->abandoned);
	trim(b); /* the remains of an earlier server's installers */
	return b;
}

static void end_jobs(struct broker *b, const char *folder)
{
	list_for_each (struct job, job, &b->jobs, node) {
		if (folder != NULL && !str_eq(job->folder, folder))
			continue;
		list_remove(&job->node);
		report_result(job, NULL, "The session ended.");
		job_abandon(job);
	}
}

void broker_end_folder(struct broker *b, const char *folder)
{
	if (b == NULL)
		return;
	end_jobs(b, folder);
	list_for_each (struct installed, one, &b->installed, node)
		if (str_eq(one->folder, folder))
			installed_free(one);
}

void broker_end(struct broker *b)
{
	if (b != NULL)
		end_jobs(b, NULL);
}

void broker_free(struct broker *b)
{
	if (b == NULL)
		return;
	while (!list_empty(&b->abandoned))
		job_free(list_entry(b->abandoned.next, struct job, node));
	while (!list_empty(&b->installed))
		installed_free(list_entry(b->installed.next, struct installed, node));
	json_decref(b->defaults);
	cache_free(b->cache);
	free(b);
}
