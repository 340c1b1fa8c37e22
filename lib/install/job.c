/* SPDX-License-Identifier: MIT */
/*
 * job.c - the steps of one installation. A set is found again by the request, or by the resolved
 * files as "unpack" reports them, because package code may have run in "resolve" and "fetch". Where
 * builds are allowed, package code may have changed both results and what a request resolves to.
 */
#include "install/job.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/util.h"
#include "confinement/confinement.h"
#include "helper/helper.h"
#include "install/installer.h"
#include "install/job_key.h"
#include "install/job_record.h"
#include "install/job_request.h"
#include "install/response.h"
#include "json/make.h"
#include "policy/policyfile.h"
#include "workspace/random_name.h"
#include "workspace/removal.h"
#include "workspace/workspace.h"

static void find_files(struct job *job);
static void look_up(struct job *job);
static void link_entry(struct job *job);

/* ---- end of a job ---- */

static void on_failed(struct loop_defer *defer)
{
	struct job *job = container_of(defer, struct job, failed);
	cleanup_free char *problem = mem_steal(&job->problem);

	broker_job_over(job, NULL, problem);
}

static void fail(struct job *job, const char *problem)
{
	free(job->problem);
	job->problem = xasprintf("%s%s", job->unreached != NULL ? job->unreached : "", problem);
	loop_defer_start(job->broker->host->loop, &job->failed, on_failed);
}

static void fail_err(struct job *job, const char *what, const struct err *err)
{
	cleanup_free char *text = xasprintf("%s: %s.", what, err->msg);

	fail(job, text);
}

static void succeed(struct job *job, bool cached)
{
	cleanup_json json_t *result = json_deep_copy(job->record);
	const json_t *packages = json_object_get(job->record, "packages");
	bool folded = str_eq(job->language->name, "python");
	cleanup_json json_t *missing = response_missing(job->have, packages, folded);

	if (job->removes || json_array_size(missing) > 0)
		json_put(result, "removed", json_incref(missing));
	if (!job->removes && !json_is_true(json_object_get(result, "dry")))
		json_put(result, "replaced", response_replaced(job->have, packages, folded));
	json_put(result, "unchanged", response_unchanged(job->have, packages, folded));
	json_put(result, "arrived", response_arrived(job->have, packages, folded));
	json_put_bool(result, "cached", cached);
	json_put_int(result, "ms", (json_int_t)(loop_now(job->broker->host->loop) - job->begun_ms));
	broker_job_over(job, result, NULL);
}

/* ---- steps in a sandbox ---- */

static int make_work(struct job *job, struct err *err)
{
	const struct session_host *host = job->broker->host;

	if (job->work != NULL)
		return 0;
	job->work = workspace_new(host->home, err);
	if (job->work == NULL)
		return -1;
	return confinement_adopt(host->confinement, job->work, err);
}

static void on_found(void *data, const json_t *answer, const struct err *err);

static void run_step(struct job *job, const char *step, bool network, installer_done_fn *done)
{
	const struct session_host *host = job->broker->host;
	cleanup_json json_t *request = job_request(job, step, network);
	const char *folders[JOB_FOLDERS_MAX];
	int folder_fds[JOB_FOLDERS_MAX];
	struct installer_spec spec = {
		.loop = host->loop,
		.confinement = host->confinement,
		.settings = host->settings,
		.language = job->language,
		.proxy_helper = host->proxy_helper,
		.hosts = network ? job->indexes.hosts : NULL,
		.allow_private = job->indexes.allow_private || host->settings->allow_private_hosts,
		.folders = folders,
		.folder_fds = folder_fds,
		.folder_count = job_folders(job, network, folders, folder_fds),
		.deadline_ms = job->deadline_ms,
		.request = request
	};
	struct err err;

	if (network && done == on_found)
		spec.index_count = json_array_size(job->indexes.urls);
	if (make_work(job, &err) == 0) {
		spec.workspace = job->work;
		job->installer = installer_start(&spec, done, job, &err);
	}
	if (job->installer == NULL)
		fail_err(job, "The installer could not be started", &err);
}

/* Returns true if the step succeeded. Otherwise ends the job. */
static bool went_well(struct job *job, const json_t *answer, const struct err *err)
{
	job->installer = NULL;
	if (job->abandoned) {
		list_remove(&job->node);
		job_free(job);
		return false;
	}
	if (err != NULL)
		fail_err(job, "It could not be installed", err);
	else if (json_is_false(json_object_get(answer, "ok")))
		fail(job, json_string_value(json_object_get(answer, "text")));
	return err == NULL && json_is_true(json_object_get(answer, "ok"));
}

/* ---- pack and link ---- */

static struct helper *start_helper(struct job *job, const json_t *request, const int *fds,
				   size_t fd_count, const struct helper_handlers *handlers,
				   struct err *err)
{
	struct helper_spec spec = { .path = job->broker->host->files_helper,
				    .request = request,
				    .fds = fds,
				    .fd_count = fd_count };

	return helper_start(job->broker->host->loop, &spec, handlers, job, err);
}

/* Frees the helper. Returns a copy of its error, ERR_NONE if there is none. */
static struct err end_helper(struct job *job, const struct err *err)
{
	struct err problem = { .code = ERR_NONE };

	if (err != NULL)
		problem = *err;
	helper_free(job->helper);
	job->helper = NULL;
	return problem;
}

/* Removes an entry that was changed, and makes the set again. */
static void renew(struct job *job)
{
	const struct session_host *host = job->broker->host;
	const char *entry = json_string_value(json_object_get(job->record, "entry"));
	cleanup_free char *path = cache_entry_path(entry);

	removal_start_spent(host->loop, host->home, host->files_helper, path, NULL, NULL);
	job->renewed = true;
	find_files(job);
}

static void on_linked(struct helper *helper, const json_t *result, const struct err *err)
{
	struct job *job = helper_data(helper);
	struct err problem = end_helper(job, err);

	(void)result;
	if (problem.code == ERR_NONE)
		succeed(job, !job->packed);
	else if (!job->renewed && (problem.code == ERR_INVALID || problem.code == ERR_NOT_FOUND))
		renew(job);
	else
		fail_err(job, "The packages could not be put into the session", &problem);
}

static void link_entry(struct job *job)
{
	static const struct helper_handlers handlers = { .done = on_linked };
	const int fds[] = { cache_sets_fd(job->broker->cache), job->packages_fd };
	const struct confinement *confinement = job->broker->host->confinement;
	cleanup_json json_t *request = json_object();
	struct err err;

	json_put_str(request, "op", "link");
	json_put(request, "entry", json_incref(json_object_get(job->record, "entry")));
	json_put_str(request, "to", job->language->name);
	json_put_bool(request, "copy", confinement_facts(confinement).tier == POLICY_UNCONFINED);
	job->helper = start_helper(job, request, fds, ARRAY_SIZE(fds), &handlers, &err);
	if (job->helper == NULL)
		fail_err(job, "The packages could not be put into the session", &err);
}

static void on_packed(struct helper *helper, const json_t *result, const struct err *err)
{
	struct job *job = helper_data(helper);
	struct err problem = end_helper(job, err);

	(void)result;
	if (problem.code != ERR_NONE) {
		fail_err(job, "The packages could not be stored", &problem);
	} else if (!job_is_shared(job)) {
		succeed(job, false);
	} else {
		job_store_record(job);
		link_entry(job);
	}
}

static void pack(struct job *job)
{
	static const struct helper_handlers handlers = { .done = on_packed };
	const struct cache *cache = job->broker->cache;
	const int fds[] = { workspace_data_fd(job->work),
			    job_is_shared(job) ? cache_sets_fd(cache) : job->packages_fd,
			    cache_wheels_fd(cache) };
	cleanup_free char *entry = random_name_new("");
	cleanup_json json_t *request = job_pack_request(job, entry);
	struct err err;

	job->packed = true;
	json_put_str(job->record, "entry", entry);
	job->helper = start_helper(job, request, fds, ARRAY_SIZE(fds), &handlers, &err);
	if (job->helper == NULL)
		fail_err(job, "The packages could not be stored", &err);
}

/* ---- order of the steps ---- */

static void on_built(void *data, const json_t *answer, const struct err *err)
{
	struct job *job = data;

	if (went_well(job, answer, err))
		pack(job);
}

/* The set is found again by the files of "unpack", which runs no package code; "fetch" may have. */
static void on_unpacked(void *data, const json_t *answer, const struct err *err)
{
	const json_t *files = json_object_get(answer, "files");
	struct job *job = data;
	struct err trouble;

	if (!went_well(job, answer, err))
		return;
	if (files != NULL && job_set_files_key(job, files, &trouble) < 0) {
		fail_err(job, "It could not be installed", &trouble);
		return;
	}
	json_put(job->record, "packages", response_rows(json_object_get(answer, "packages")));
	json_put(job->record, "left_out", response_names(json_object_get(answer, "left_out")));
	if (json_is_integer(json_object_get(answer, "bytes")))
		json_put(job->record, "bytes", json_incref(json_object_get(answer, "bytes")));
	job->unbuilt = job_resolves(job) ? json_equal(json_object_get(job->record, "files"), files)
					 : !json_is_true(json_object_get(answer, "build"));
	if (job_resolves(job))
		job_note_wheels(job, files);
	json_put(job->record, "files", json_deep_copy(files));
	if (job_may_build(job) && json_is_true(json_object_get(answer, "build")))
		run_step(job, "build", false, on_built);
	else
		pack(job);
}

static void on_downloaded(void *data, const json_t *answer, const struct err *err)
{
	struct job *job = data;

	if (went_well(job, answer, err))
		run_step(job, "unpack", false, on_unpacked);
}

/*
 * Takes the last answer for the same request if no index is reached. Returns false if there is
 * none.
 */
static bool holds_offline(struct job *job, const struct err *err)
{
	json_t *record;
	json_int_t age_s;
	json_t *notes;

	if (err == NULL || err->code != ERR_NOT_FOUND || job->abandoned)
		return false;
	record = job_find_requested(job, 0);
	if (record == NULL)
		return false;
	job->installer = NULL;
	age_s = (json_int_t)time(NULL) - json_integer_value(json_object_get(record, "made"));
	notes = json_object_get(record, "notes");
	json_append(notes, json_make_fmt("%s; its answer of %jd minutes ago was taken.", err->msg,
					 (intmax_t)(age_s / 60)));
	json_decref(job->record);
	job->record = record;
	link_entry(job);
	return true;
}

/* Starts again for the folders alone if no index is reached: pip would retry them. */
static bool retries_without_index(struct job *job, const struct err *err)
{
	if (err == NULL || err->code != ERR_NOT_FOUND || job->abandoned ||
	    job->indexes.folder_count == 0)
		return false;
	job->installer = NULL;
	job->unreached = xasprintf("It could not be installed: %s.\n", err->msg);
	find_files(job);
	return true;
}

/* Takes the cached set of the request: its indexes have not changed. */
static void take_again(struct job *job, const json_t *answer)
{
	if (job_renew_record(job, answer)) {
		link_entry(job);
	} else {
		job->renewed = true; /* it was trimmed meanwhile */
		find_files(job);
	}
}

/* Puts an empty folder in the place of the session's packages. */
static void put_nothing(struct job *job)
{
	struct err err;

	job->emptied = true;
	if (make_work(job, &err) < 0 || (mkdirat(workspace_data_fd(job->work), "site", 0700) < 0 &&
					 errno != EEXIST && err_sys(&err, "making a folder") < 0))
		fail_err(job, "The packages could not be removed", &err);
	else
		pack(job);
}

/* Handles the reply of "resolve", or of a "fetch" that resolves, too. */
static void on_found(void *data, const json_t *answer, const struct err *err)
{
	struct job *job = data;
	const json_t *files = json_object_get(answer, "files");
	cleanup_json json_t *known = NULL;
	struct err trouble;

	if (holds_offline(job, err) || retries_without_index(job, err) ||
	    !went_well(job, answer, err))
		return;
	if (json_is_true(json_object_get(answer, "same")) && !job->renewed) {
		take_again(job, answer);
		return;
	}
	job_begin_record(job, answer);
	if (job_is_dry(job)) {
		json_put(job->record, "packages",
			 response_rows(json_object_get(answer, "packages")));
		json_put_bool(job->record, "dry", true);
	}
	if (json_array_size(files) == 0 || job_is_dry(job)) {
		if (json_array_size(job->have) == 0 || job_is_dry(job))
			succeed(job, false); /* the interpreter already has all of it */
		else
			put_nothing(job);
		return;
	}
	if (job_set_files_key(job, files, &trouble) < 0) {
		fail_err(job, "It could not be installed", &trouble);
		return;
	}
	known = job_find_resolved(job);
	if (known != NULL) {
		job_put_known(job, known);
		job_store_record(job);
		link_entry(job);
	} else if (job_resolves(job)) {
		run_step(job, "fetch", job->unreached == NULL, on_downloaded);
	} else {
		run_step(job, "unpack", false, on_unpacked);
	}
}

static void on_checked(void *data, const json_t *answer, const struct err *err)
{
	struct job *job = data;
	cleanup_json json_t *result = NULL;
	cleanup_free char *from = NULL;

	if (!went_well(job, answer, err))
		return;
	result = json_deep_copy(answer);
	from = indexes_describe(&job->indexes);
	json_put_str(result, "from", from);
	broker_job_over(job, result, NULL);
}

static void find_files(struct job *job)
{
	run_step(job, job_resolves(job) ? "resolve" : "fetch", job->unreached == NULL, on_found);
}

static void look_up(struct job *job)
{
	struct err err;

	if (job->checks) {
		run_step(job, "check", true, on_checked);
		return;
	}
	free(job->key);
	job->key = job_key_request(job, &err);
	if (job->key == NULL) {
		fail_err(job, "Nothing was installed", &err);
		return;
	}
	json_decref(job->record);
	job->record = job_find_requested(job, BROKER_FRESH_S);
	if (job->record != NULL)
		link_entry(job);
	else
		find_files(job);
}

static void remove_all(struct job *job)
{
	json_decref(job->record);
	job->record = json_pack("{s:[], s:[]}", "packages", "present");
	put_nothing(job);
}

static void take_default(struct job *job, const json_t *reply)
{
	struct err err;

	if (indexes_take_default(&job->indexes, reply, &err) < 0)
		fail_err(job, "Nothing was installed", &err);
	else
		look_up(job);
}

static void on_where_replied(void *data, const json_t *answer, const struct err *err)
{
	struct job *job = data;
	struct broker *b = job->broker;

	if (!went_well(job, answer, err))
		return;
	json_put(b->defaults, job->language->name, json_deep_copy(answer));
	take_default(job, answer);
}

json_t *job_asks(const struct job *job)
{
	return job->removes ? json_array() : json_deep_copy(job->asked);
}

void job_start(struct job *job)
{
	const struct broker *b = job->broker;
	const json_t *reply = json_object_get(b->defaults, job->language->name);
	struct err err;

	job->begun_ms = loop_now(b->host->loop);
	job->deadline_ms = job->begun_ms + b->host->settings->install_timeout * 1000;
	if (indexes_read(b->host->settings, confinement_facts(b->host->confinement).shares,
			 job->language, &job->indexes, &err) < 0)
		fail_err(job, "Nothing was installed", &err);
	else if (job_is_empty(job))
		remove_all(job);
	else if (!job->indexes.wants_default)
		look_up(job);
	else if (reply != NULL)
		take_default(job, reply);
	else
		run_step(job, "where", false, on_where_replied);
}

/* ---- start and end ---- */

struct job *job_new_check(struct broker *broker, const struct language *language)
{
	struct job *job = xcalloc(1, sizeof(*job));

	list_init(&job->node);
	list_init(&job->waiting);
	job->broker = broker;
	job->folder = xstrdup(""); /* no session's folder has this name */
	job->language = language;
	job->asked = json_array();
	job->locked = json_array();
	job->packages_fd = job->journal_fd = -1;
	job->checks = true;
	return job;
}

struct job *job_new(struct broker *broker, const struct session *session,
		    const struct install_request *request, struct err *err)
{
	const struct workspace *workspace = session_workspace(session);
	int packages_fd = fd_dup(workspace_packages_fd(workspace), err);
	struct job *job;

	if (packages_fd < 0)
		return NULL;
	job = xcalloc(1, sizeof(*job));
	list_init(&job->node);
	list_init(&job->waiting);
	job->broker = broker;
	job->folder = xstrdup(workspace_name(workspace));
	job->language = request->language;
	job->asked = json_deep_copy(request->packages);
	job->locked = request->locked != NULL ? json_deep_copy(request->locked) : json_array();
	job->packages_fd = packages_fd;
	return job;
}

static void retire_work(struct job *job, struct sandbox *sandbox)
{
	const struct session_host *host = job->broker->host;

	if (job->work == NULL)
		return;
	host->retire(host->owner, sandbox, workspace_name(job->work), NULL, false);
	workspace_free(job->work);
	job->work = NULL;
}

static void await_sandbox(struct job *job)
{
	job->abandoned = true;
	list_append(&job->broker->abandoned, &job->node);
}

void job_cancel(struct job *job)
{
	if (job->installer == NULL) {
		job_free(job);
	} else {
		installer_stop(job->installer);
		await_sandbox(job);
	}
}

void job_abandon(struct job *job)
{
	struct sandbox *sandbox;

	if (job->installer == NULL) {
		job_free(job);
		return;
	}
	sandbox = installer_abandon(job->installer);
	if (sandbox == NULL) {
		await_sandbox(job);
	} else {
		job->installer = NULL;
		retire_work(job, sandbox);
		job_free(job);
	}
}

void job_free(struct job *job)
{
	list_remove(&job->node);
	loop_defer_stop(&job->failed);
	helper_free(job->helper);
	if (job->installer == NULL)
		retire_work(job, NULL);
	installer_free(job->installer); /* the server ends: the next one removes the folder */
	workspace_free(job->work);
	indexes_release(&job->indexes);
	fd_close(&job->packages_fd);
	fd_close(&job->journal_fd);
	json_decref(job->asked);
	json_decref(job->locked);
	json_decref(job->wanted);
	json_decref(job->have);
	json_decref(job->record);
	json_decref(job->wheels);
	free(job->problem);
	free(job->unreached);
	free(job->key);
	free(job->files_key);
	free(job->folder);
	free(job);
}
