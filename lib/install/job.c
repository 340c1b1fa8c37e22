/* SPDX-License-Identifier: MIT */
/*
 * job.c - the steps of one installation. A set is found again by the request, or by the resolved
 * files as "unpack" reports them, because package code may have run in "fetch". Results of builds
 * are never shared between sessions: package code may have changed them.
 */
#include "install/job.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "confinement/confinement.h"
#include "helper/helper.h"
#include "install/installer.h"
#include "install/response.h"
#include "json/make.h"
#include "json/write.h"
#include "policy/policyfile.h"
#include "workspace/keeper.h"
#include "workspace/random_name.h"
#include "workspace/workspace.h"

static void fetch(struct job *job);
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

	json_put_bool(result, "cached", cached);
	broker_job_over(job, result, NULL);
}

/* ---- keys ---- */

/* Adds the identity of the interpreter to the key, without running it. */
static int put_interpreter(const struct job *job, json_t *key, struct err *err)
{
	struct interpreter_path path;
	struct utsname machine;
	struct stat st = { .st_size = 0 };

	if (confinement_locate(job->broker->host->confinement, job->language, &path, err) < 0)
		return -1;
	json_put_str(key, "interpreter", path.path);
	if (stat(path.path, &st) == 0) {
		json_put_int(key, "size", (json_int_t)st.st_size);
		json_put_int(key, "time", (json_int_t)st.st_mtime);
		json_put_int(key, "inode", (json_int_t)st.st_ino);
	}
	locate_release(&path);
	if (uname(&machine) == 0)
		json_put_str(key, "machine", machine.machine);
	return 0;
}

/*
 * Returns the members of all keys, or NULL. Another policy makes another key: it must judge again.
 */
static json_t *key_base(const struct job *job, struct err *err)
{
	const struct policyfile *policy = job->broker->policy;
	json_t *key = json_object();

	json_put_str(key, "language", job->language->name);
	json_put(key, "policy", json_deep_copy(policyfile_packages(policy, job->language->name)));
	json_put(key, "index", json_incref(job->indexes.urls));
	for (size_t i = 0; i < job->indexes.folder_count; i++)
		json_put_bool(key, job->indexes.folders[i], true);
	if (put_interpreter(job, key, err) == 0)
		return key;
	json_decref(key);
	return NULL;
}

static char *write_key(const json_t *key)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	return json_write_sorted(&text, key, &err) == 0 ? buf_steal(&text) : xstrdup("");
}

static int make_key(struct job *job, struct err *err)
{
	cleanup_json json_t *key = key_base(job, err);

	if (key == NULL)
		return -1;
	json_put(key, "wanted", json_incref(job->wanted));
	free(job->key);
	job->key = write_key(key);
	return 0;
}

static int make_files_key(struct job *job, const json_t *files, struct err *err)
{
	cleanup_json json_t *key = key_base(job, err);

	if (key == NULL)
		return -1;
	json_put(key, "files", json_deep_copy(files));
	free(job->files_key);
	job->files_key = write_key(key);
	return 0;
}

/* Returns true if sessions may share the result: no build can run package code. */
static bool is_shared(const struct job *job)
{
	return !job->broker->host->settings->install_builds;
}

/* Returns a record of the cache without malformed parts, or NULL. */
static json_t *find_record(const struct job *job, const char *key, uint64_t max_age_s)
{
	json_t *record = NULL;

	if (is_shared(job) && !job->renewed)
		record = cache_find(job->broker->cache, key, max_age_s);
	if (record == NULL)
		return NULL;
	json_put(record, "packages", response_rows(json_object_get(record, "packages")));
	json_put(record, "present", response_rows(json_object_get(record, "present")));
	return record;
}

/* ---- steps in a sandbox ---- */

static json_t *make_request(const struct job *job, const char *step)
{
	const struct policyfile *policy = job->broker->policy;
	const struct indexes *from = &job->indexes;
	json_t *request = json_object();
	json_t *folders = json_array();

	for (size_t i = 0; i < from->folder_count; i++)
		json_append(folders, json_make_str(from->folders[i]));
	json_put_str(request, "step", step);
	json_put(request, "packages", json_incref(job->wanted));
	json_put(request, "policy",
		 json_deep_copy(policyfile_packages(policy, job->language->name)));
	json_put_str(request, "policy_path", policyfile_path(policy));
	json_put(request, "indexes", job->unreached ? json_array() : json_incref(from->urls));
	json_put(request, "options", from->options ? json_incref(from->options) : json_object());
	json_put(request, "trusted", from->trusted ? json_incref(from->trusted) : json_array());
	json_put_str(request, "certificates", from->certificates);
	json_put(request, "folders", folders);
	json_put_bool(request, "builds", job->broker->host->settings->install_builds);
	json_put_bool(request, "proxied", confinement_facts(job->broker->host->confinement).rooted);
	return request;
}

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

static void run_step(struct job *job, const char *step, bool network, installer_done_fn *done)
{
	const struct session_host *host = job->broker->host;
	cleanup_json json_t *request = make_request(job, step);
	const char *folders[INDEXES_FOLDERS_MAX];
	struct installer_spec spec = { .loop = host->loop,
				       .confinement = host->confinement,
				       .settings = host->settings,
				       .language = job->language,
				       .proxy_helper = host->proxy_helper,
				       .hosts = network ? job->indexes.hosts : NULL,
				       .allow_private = job->indexes.allow_private ||
							host->settings->allow_private_hosts,
				       .folders = folders,
				       .folder_fds = job->indexes.folder_fds,
				       .folder_count = job->indexes.folder_count,
				       .deadline_ms = job->deadline_ms,
				       .request = request };
	struct err err;

	if (network && str_eq(step, "fetch"))
		spec.index_count = json_array_size(job->indexes.urls);
	for (size_t i = 0; i < job->indexes.folder_count; i++)
		folders[i] = job->indexes.folders[i];
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

static void put_record(struct job *job, const char *entry, const json_t *packages)
{
	json_put_str(job->record, "entry", entry);
	json_put(job->record, "packages", response_rows(packages));
}

/* ---- pack and link ---- */

static struct helper *start_helper(struct job *job, const json_t *request, const int fds[2],
				   const struct helper_handlers *handlers, struct err *err)
{
	struct helper_spec spec = { .path = job->broker->host->files_helper,
				    .request = request,
				    .fds = fds,
				    .fd_count = 2 };

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

	removal_start(host->loop, host->home, host->files_helper, path, NULL, NULL);
	job->renewed = true;
	fetch(job);
}

static void on_linked(struct helper *helper, const json_t *result, const struct err *err)
{
	struct job *job = helper_data(helper);
	struct err problem = end_helper(job, err);

	(void)result;
	if (problem.code == ERR_NONE)
		succeed(job, job->work == NULL);
	else if (!job->renewed && (problem.code == ERR_INVALID || problem.code == ERR_NOT_FOUND))
		renew(job);
	else
		fail_err(job, "The packages could not be put into the session", &problem);
}

static void link_entry(struct job *job)
{
	static const struct helper_handlers handlers = { .done = on_linked };
	const int fds[2] = { cache_sets_fd(job->broker->cache), job->packages_fd };
	const struct confinement *confinement = job->broker->host->confinement;
	cleanup_json json_t *request = json_object();
	struct err err;

	json_put_str(request, "op", "link");
	json_put(request, "entry", json_incref(json_object_get(job->record, "entry")));
	json_put_str(request, "to", job->language->name);
	json_put_bool(request, "copy", confinement_facts(confinement).tier == POLICY_UNCONFINED);
	job->helper = start_helper(job, request, fds, &handlers, &err);
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
	} else if (!is_shared(job)) {
		succeed(job, false);
	} else {
		cache_put(job->broker->cache, job->key, job->record);
		cache_put(job->broker->cache, job->files_key, job->record);
		link_entry(job);
	}
}

static void pack(struct job *job)
{
	static const struct helper_handlers handlers = { .done = on_packed };
	const struct settings *settings = job->broker->host->settings;
	bool shared = is_shared(job);
	const int fds[2] = { workspace_data_fd(job->work),
			     shared ? cache_sets_fd(job->broker->cache) : job->packages_fd };
	cleanup_free char *entry = random_name_new("");
	cleanup_json json_t *request = json_object();
	struct err err;

	json_put_str(job->record, "entry", entry);
	json_put_str(request, "op", "pack");
	json_put_str(request, "from", "site");
	json_put_str(request, "to", shared ? entry : job->language->name);
	json_put_bool(request, "entry", shared);
	json_put_int(request, "bytes_max", (json_int_t)settings->install_max);
	json_put_int(request, "files_max", (json_int_t)settings->install_files_max);
	job->helper = start_helper(job, request, fds, &handlers, &err);
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
	if (files != NULL && make_files_key(job, files, &trouble) < 0) {
		fail_err(job, "It could not be installed", &trouble);
		return;
	}
	json_put(job->record, "packages", response_rows(json_object_get(answer, "packages")));
	json_put(job->record, "files", json_deep_copy(files));
	if (job->broker->host->settings->install_builds &&
	    json_is_true(json_object_get(answer, "build")))
		run_step(job, "build", false, on_built);
	else
		pack(job);
}

/* Starts "fetch" again for the folders alone if no index is reached: it would retry them. */
static bool retries_without_index(struct job *job, const struct err *err)
{
	if (err == NULL || err->code != ERR_NOT_FOUND || job->abandoned ||
	    job->indexes.folder_count == 0)
		return false;
	job->installer = NULL;
	job->unreached = xasprintf("It could not be installed: %s.\n", err->msg);
	fetch(job);
	return true;
}

static void on_fetched(void *data, const json_t *answer, const struct err *err)
{
	struct job *job = data;
	const json_t *files = json_object_get(answer, "files");
	cleanup_json json_t *known = NULL;
	struct err trouble;

	if (retries_without_index(job, err) || !went_well(job, answer, err))
		return;
	json_decref(job->record);
	job->record = json_object();
	json_put(job->record, "present", response_rows(json_object_get(answer, "present")));
	json_put(job->record, "packages", json_array());
	json_put(job->record, "files", json_deep_copy(files));
	if (json_array_size(files) == 0) {
		succeed(job, false); /* the interpreter already has all of it */
		return;
	}
	if (make_files_key(job, files, &trouble) < 0) {
		fail_err(job, "It could not be installed", &trouble);
		return;
	}
	known = find_record(job, job->files_key, 0);
	if (known == NULL) {
		run_step(job, "unpack", false, on_unpacked);
		return;
	}
	put_record(job, json_string_value(json_object_get(known, "entry")),
		   json_object_get(known, "packages"));
	cache_put(job->broker->cache, job->key, job->record);
	link_entry(job);
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

static void fetch(struct job *job)
{
	run_step(job, "fetch", job->unreached == NULL, on_fetched);
}

static void look_up(struct job *job)
{
	struct err err;

	if (job->checks) {
		run_step(job, "check", true, on_checked);
		return;
	}
	if (make_key(job, &err) < 0) {
		fail_err(job, "Nothing was installed", &err);
		return;
	}
	json_decref(job->record);
	job->record = find_record(job, job->key, BROKER_FRESH_S);
	if (job->record != NULL)
		link_entry(job);
	else
		fetch(job);
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

void job_start(struct job *job)
{
	const struct broker *b = job->broker;
	const json_t *reply = json_object_get(b->defaults, job->language->name);
	struct err err;

	job->deadline_ms = loop_now(b->host->loop) + b->host->settings->install_timeout * 1000;
	if (indexes_read(b->host->settings, confinement_facts(b->host->confinement).shares,
			 job->language, &job->indexes, &err) < 0)
		fail_err(job, "Nothing was installed", &err);
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
	job->packages_fd = job->journal_fd = -1;
	job->checks = true;
	return job;
}

struct job *job_new(struct broker *broker, const struct session *session,
		    const struct language *language, const json_t *packages, struct err *err)
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
	job->language = language;
	job->asked = json_deep_copy(packages);
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

void job_abandon(struct job *job)
{
	struct sandbox *sandbox;

	if (job->installer == NULL) {
		job_free(job);
		return;
	}
	sandbox = installer_abandon(job->installer);
	if (sandbox == NULL) {
		job->abandoned = true;
		list_append(&job->broker->abandoned, &job->node);
		return;
	}
	job->installer = NULL;
	retire_work(job, sandbox);
	job_free(job);
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
	json_decref(job->wanted);
	json_decref(job->record);
	free(job->problem);
	free(job->unreached);
	free(job->key);
	free(job->files_key);
	free(job->folder);
	free(job);
}
