/* SPDX-License-Identifier: MIT */
/*
 * broker.c - the lists of jobs, of waiting callers and of installed packages. A request that equals
 * one of a queued or running job joins it, because a model repeats a call whose time was too short.
 * A later job resolves all earlier requests of the session again, so that the versions fit
 * together.
 */
#include "install/broker.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "install/installer.h"
#include "install/job.h"
#include "install/progress.h"
#include "json/make.h"
#include "runtime/python/packages.h"
#include "workspace/workspace.h"

/* A caller that waits for a job. */
struct install {
	struct list node;
	struct job *job;
	install_done_fn *done;
	void *data;
	uint64_t cell; /* whose code asks; 0: a client */
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
 * Returns true for an option of pip, which holds for one installation (is_option in
 * python/requests.py).
 */
static bool is_option(const struct job *job, const json_t *text)
{
	return str_eq(job->language->name, "python") &&
	       strncmp(json_string_value(text), "--", 2) == 0;
}

/* Returns the earlier requests without those that a word of the job drops. */
static json_t *drop_wanted(const struct installed *before, const struct job *job,
			   bool drops(const struct job *job, const char *request, const char *word))
{
	json_t *wanted = json_array();
	size_t n;
	json_t *text;

	json_array_foreach (before != NULL ? before->wanted : NULL, n, text) {
		size_t i = 0;

		while (i < json_array_size(job->asked) &&
		       !drops(job, json_string_value(text),
			      json_string_value(json_array_get(job->asked, i))))
			i++;
		if (i == json_array_size(job->asked))
			json_append(wanted, json_incref(text));
	}
	return wanted;
}

/*
 * Returns true if a project of the session made the request, which ends in " --for=NAME", and
 * `option` is "--project=NAME".
 */
static bool is_of_project(const struct job *job, const char *request, const char *option)
{
	static const char names[] = "--project=";
	const char *owner = strstr(request, " --for=");

	return str_eq(job->language->name, "python") && owner != NULL &&
	       strncmp(option, names, strlen(names)) == 0 &&
	       str_eq(owner + strlen(" --for="), option + strlen(names));
}

/*
 * Returns the earlier requests of the session, then the new ones. A project that asks again
 * replaces its own. The installer decides which of the others still hold.
 */
static json_t *join_wanted(const struct installed *before, const struct job *job)
{
	json_t *wanted = drop_wanted(before, job, is_of_project);
	size_t n;
	json_t *text;

	json_array_foreach (job->asked, n, text) {
		size_t i = 0;

		if (is_option(job, text))
			continue;
		while (i < json_array_size(wanted) && !json_equal(json_array_get(wanted, i), text))
			i++;
		if (i < json_array_size(wanted))
			(void)json_array_remove(wanted, i);
		json_append(wanted, json_incref(text));
	}
	return wanted;
}

/* Returns true for a request for the package `name`, which has no version, or of a project. */
static bool is_for(const struct job *job, const char *request, const char *name)
{
	size_t len = strlen(name);

	if (str_eq(job->language->name, "python"))
		return python_packages_after(request, name) != NULL ||
		       is_of_project(job, request, name);
	return len > 0 && strncmp(request, name, len) == 0 &&
	       (request[len] == '\0' || request[len] == '@');
}

static void start_next(struct broker *b, const char *folder, const struct language *language)
{
	const struct installed *before;

	list_for_each (struct job, job, &b->jobs, node) {
		if (job->language != language || !str_eq(job->folder, folder))
			continue;
		before = installed_find(&b->installed, folder, language, false);
		job->wanted =
			job->removes ? drop_wanted(before, job, is_for) : join_wanted(before, job);
		job->have = before != NULL
				    ? json_incref(json_object_get(before->result, "packages"))
				    : NULL;
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

/* Returns the cell whose code asked for it, or 0 if a client asked for it, too. */
static uint64_t cell_of(const struct job *job)
{
	uint64_t cell = 0;

	list_for_each (const struct install, install, &job->waiting, node) {
		if (install->cell == 0)
			return 0;
		cell = install->cell;
	}
	return cell;
}

static void report_installation(const struct job *job, uint64_t cell, const json_t *result,
				const char *problem)
{
	const struct broker *b = job->broker;
	cleanup_free char *from = indexes_describe(&job->indexes);

	if (b->over != NULL && !job->checks)
		b->over(b->over_data, &(struct broker_event){ .folder = job->folder,
							      .language = job->language,
							      .asked = job->asked,
							      .from = from,
							      .result = result,
							      .problem = problem,
							      .cell = cell });
}

void broker_job_over(struct job *job, const json_t *result, const char *problem)
{
	struct broker *b = job->broker;
	const struct language *language = job->language;
	cleanup_free char *folder = xstrdup(job->folder);
	bool dry = json_is_true(json_object_get(result, "dry"));
	bool stored = result != NULL && !job->checks && !dry;

	list_remove(&job->node);
	if (stored)
		remember(b, job, result);
	if (stored && !json_is_true(json_object_get(result, "cached")))
		trim(b);
	report_installation(job, cell_of(job), dry ? NULL : result,
			    dry ? "It was a dry run: nothing was installed." : problem);
	report_result(job, result, problem);
	job_free(job);
	start_next(b, folder, language);
}

static int check_lengths(const json_t *packages, struct err *err)
{
	size_t n;
	json_t *text;

	json_array_foreach (packages, n, text)
		if (json_string_length(text) > BROKER_PACKAGE_CHARS)
			return err_set(err, ERR_LIMIT, "package %zu has more than %d characters",
				       n + 1, BROKER_PACKAGE_CHARS);
	return 0;
}

int broker_check_packages(const json_t *packages, struct err *err)
{
	if (json_array_size(packages) == 0)
		return err_set(err, ERR_INVALID, "no package is named");
	if (json_array_size(packages) > BROKER_PACKAGES_MAX)
		return err_set(err, ERR_LIMIT,
			       "%zu packages are named; name %d at most in one request",
			       json_array_size(packages), BROKER_PACKAGES_MAX);
	return check_lengths(packages, err);
}

static int check_locked(const json_t *locked, struct err *err)
{
	if (json_array_size(locked) > BROKER_LOCKED_MAX)
		return err_set(err, ERR_LIMIT,
			       "%zu packages of a lock file are named; name %d at most in one "
			       "request",
			       json_array_size(locked), BROKER_LOCKED_MAX);
	return check_lengths(locked, err);
}

/* Returns a job with the same request, or NULL: the caller did not wait long enough for it. */
static struct job *find_same(const struct broker *b, const struct job *job)
{
	list_for_each (struct job, other, &b->jobs, node)
		if (is_ahead(other, job) && other->removes == job->removes &&
		    json_equal(other->asked, job->asked) && json_equal(other->locked, job->locked))
			return other;
	return NULL;
}

static int check_room(const struct broker *b, const struct job *job, struct err *err)
{
	int count = 0;

	list_for_each (struct job, other, &b->jobs, node)
		count += str_eq(other->folder, job->folder);
	list_for_each (struct job, other, &b->abandoned, node)
		count += str_eq(other->folder, job->folder);
	if (count < BROKER_JOBS_MAX || find_same(b, job) != NULL)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "%d installations of this session are not done yet; wait for them (the same "
		       "call again waits), and name all packages in one call",
		       BROKER_JOBS_MAX);
}

static struct install *enqueue(struct broker *b, struct job *job_own, uint64_t cell,
			       install_done_fn *done, void *data)
{
	struct install *install = xcalloc(1, sizeof(*install));
	struct job *same = find_same(b, job_own);

	list_init(&install->node);
	install->done = done;
	install->data = data;
	install->cell = cell;
	install->job = same != NULL ? same : job_own;
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

/* Returns a job for the packages of a request, which are checked. */
static struct job *make_job(struct broker *b, const struct session *session,
			    const struct install_request *request, struct err *err)
{
	struct job *job;
	struct err ignored;

	if (broker_check_packages(request->packages, err) < 0 ||
	    check_locked(request->locked, err) < 0)
		return NULL;
	load_installed(b, session);
	job = job_new(b, session, request, err);
	if (job == NULL)
		return NULL;
	/* Without it the record is not written, which is logged. */
	job->journal_fd = fd_dup(workspace_journal_fd(session_workspace(session)), &ignored);
	if (check_room(b, job, err) == 0)
		return job;
	job_free(job);
	return NULL;
}

struct install *broker_install(struct broker *b, const struct session *session,
			       const struct install_request *request, install_done_fn *done,
			       void *data, struct err *err)
{
	struct job *job = make_job(b, session, request, err);

	return job != NULL ? enqueue(b, job, request->cell, done, data) : NULL;
}

struct install *broker_remove(struct broker *b, const struct session *session,
			      const struct install_request *request, install_done_fn *done,
			      void *data, struct err *err)
{
	struct job *job = make_job(b, session, request, err);
	const struct installed *before;
	cleanup_json json_t *left = NULL;

	if (job == NULL)
		return NULL;
	job->removes = true;
	before = installed_find(&b->installed, job->folder, job->language, false);
	left = drop_wanted(before, job, is_for);
	if (before != NULL && json_array_size(left) < json_array_size(before->wanted))
		return enqueue(b, job, request->cell, done, data);
	(void)err_set(err, ERR_NOT_FOUND,
		      "nothing was removed: none of these packages was asked for in this session");
	job_free(job);
	return NULL;
}

struct install *broker_check(struct broker *b, const struct language *language,
			     install_done_fn *done, void *data)
{
	return enqueue(b, job_new_check(b, language), 0, done, data);
}

void broker_forget(struct install *install)
{
	if (install == NULL)
		return;
	list_remove(&install->node);
	free(install);
}

void broker_cancel(struct install *install)
{
	struct job *job = install->job;
	struct broker *b = job->broker;
	const struct language *language = job->language;
	cleanup_free char *folder = xstrdup(job->folder);
	bool runs = find_running(b, job) == NULL;
	uint64_t cell = cell_of(job);

	broker_forget(install);
	if (!list_empty(&job->waiting))
		return;
	list_remove(&job->node);
	report_installation(job, cell, NULL, "It was cancelled.");
	job_cancel(job);
	if (runs)
		start_next(b, folder, language);
}

/* ---- progress ---- */

/* Sets the name of the first package that was asked for. */
static void name_first(const struct job *job, struct progress *progress)
{
	size_t n;
	json_t *text;

	json_array_foreach (job->asked, n, text) {
		if (is_option(job, text))
			continue;
		progress_set_name(progress, json_string_value(text));
		return;
	}
}

static char *progress_of(const struct job *job)
{
	struct progress progress = { .done = 0 };

	if (job->installer != NULL)
		installer_progress(job->installer, &progress);
	if (progress.name[0] == '\0')
		name_first(job, &progress);
	return progress_text(&progress, job->removes ? "uninstalling" : "installing");
}

char *broker_progress(const struct install *install)
{
	return progress_of(install->job);
}

char *broker_code_progress(const struct broker *b, const struct session *session)
{
	const char *folder = workspace_name(session_workspace(session));

	if (b == NULL)
		return NULL;
	list_for_each (const struct job, job, &b->jobs, node)
		if (str_eq(job->folder, folder) && cell_of(job) != 0)
			return progress_of(job);
	return NULL;
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
