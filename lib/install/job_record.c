/* SPDX-License-Identifier: MIT */
/* job_record.c - finds and makes records of sets. */
#include "install/job_record.h"

#include "base/util.h"
#include "config/settings.h"
#include "install/job_key.h"
#include "install/program.h"
#include "install/response.h"
#include "json/make.h"
#include "session/session.h"

int job_set_files_key(struct job *job, const json_t *files, struct err *err)
{
	char *key = job_key_files(job, files, err);

	if (key == NULL)
		return -1;
	free(job->files_key);
	job->files_key = key;
	return 0;
}

static bool has_option(const struct job *job, const char *option)
{
	size_t n;
	json_t *text;

	json_array_foreach (job->asked, n, text)
		if (str_eq(json_string_value(text), option))
			return true;
	return false;
}

bool job_is_dry(const struct job *job)
{
	return job_resolves(job) && has_option(job, "--dry-run");
}

bool job_may_build(const struct job *job)
{
	return job->broker->host->settings->install_builds;
}

bool job_resolves(const struct job *job)
{
	const struct program *program = program_find(job->language->name);

	return program != NULL && program->resolves;
}

bool job_is_empty(const struct job *job)
{
	return job->removes && json_array_size(job->wanted) == 0;
}

bool job_is_shared(const struct job *job)
{
	return !job->emptied && (!job_may_build(job) || job->unbuilt);
}

/* Returns a record of the cache without malformed parts, or NULL. */
static json_t *find_record(const struct job *job, const char *key, uint64_t max_age_s)
{
	json_t *record = job->renewed ? NULL : cache_find(job->broker->cache, key, max_age_s);

	if (record == NULL)
		return NULL;
	json_put(record, "packages", response_rows(json_object_get(record, "packages")));
	json_put(record, "present", response_rows(json_object_get(record, "present")));
	json_put(record, "left_out", response_names(json_object_get(record, "left_out")));
	json_put(record, "notes", response_names(json_object_get(record, "notes")));
	return record;
}

/* Whether code of packages may have chosen the files: their key alone finds the set again. */
static bool is_chosen_by_code(const struct job *job)
{
	return job_may_build(job) && job_resolves(job);
}

json_t *job_find_requested(const struct job *job, uint64_t max_age_s)
{
	return is_chosen_by_code(job) || has_option(job, "--upgrade")
		       ? NULL
		       : find_record(job, job->key, max_age_s);
}

json_t *job_find_resolved(const struct job *job)
{
	return find_record(job, job->files_key, 0);
}

json_t *job_seen(const struct job *job)
{
	cleanup_json json_t *record = job_find_requested(job, 0);

	return json_incref(json_object_get(record, "seen"));
}

bool job_renew_record(struct job *job, const json_t *answer)
{
	json_t *record = job_find_requested(job, 0);

	if (record == NULL)
		return false;
	json_decref(job->record);
	job->record = record;
	json_put(record, "fresh", json_incref(json_object_get(answer, "fresh")));
	cache_put(job->broker->cache, job->key, record);
	return true;
}

void job_store_record(const struct job *job)
{
	if (!is_chosen_by_code(job))
		cache_put(job->broker->cache, job->key, job->record);
	cache_put(job->broker->cache, job->files_key, job->record);
}

/* Completes the record with a known one of the same files. */
void job_put_known(struct job *job, const json_t *known)
{
	static const char *const keys[] = { "entry", "packages", "left_out", "bytes" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		json_put(job->record, keys[i], json_deep_copy(json_object_get(known, keys[i])));
}

void job_begin_record(struct job *job, const json_t *answer)
{
	json_decref(job->record);
	job->record = json_object();
	json_put(job->record, "present", response_rows(json_object_get(answer, "present")));
	json_put(job->record, "packages", json_array());
	json_put(job->record, "notes", response_names(json_object_get(answer, "notes")));
	json_put(job->record, "files", json_deep_copy(json_object_get(answer, "files")));
	json_put(job->record, "seen", json_incref(json_object_get(answer, "seen")));
	if (json_is_integer(json_object_get(answer, "fresh")))
		json_put(job->record, "fresh", json_incref(json_object_get(answer, "fresh")));
}

static bool has_file(const json_t *files, const json_t *wanted)
{
	size_t n;
	json_t *file;

	json_array_foreach (files, n, file)
		if (json_equal(file, wanted))
			return true;
	return false;
}

void job_note_wheels(struct job *job, const json_t *files)
{
	size_t n;
	json_t *file;

	if (json_array_size(job->indexes.urls) == 0)
		return; /* they lie in the user's folders */
	json_decref(job->wheels);
	job->wheels = json_array();
	json_array_foreach (files, n, file)
		if (has_file(json_object_get(job->record, "files"), file))
			json_append(job->wheels, json_incref(file));
}
