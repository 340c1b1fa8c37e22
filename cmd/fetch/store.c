/* SPDX-License-Identifier: MIT */
/*
 * store.c - connects the request, the batch and the backend. Reads the request into a batch and
 * reports each upload when it ends. Links are made here by the backend's function, so "link" needs
 * no network: it signs names that earlier uploads stored.
 */
#include "store.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"
#include "base/util.h"
#include "batch.h"
#include "helper/program.h"
#include "job.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown.h"
#include "storage/target.h"
#include "text/percent.h"

enum { FOLDER_FD = 3 };

struct store {
	struct batch batch;
	struct job job;
	struct storage_target target;
	struct backend *backend;
	uint64_t link_seconds;
	bool links_only;
	size_t stored;
};

/* ---- the request ---- */

static int take_copy(const json_t *object, const char *key, char **ret, struct err *err)
{
	const char *text = NULL;

	if (job_take_text(object, key, &text, err) < 0)
		return -1;
	*ret = text != NULL ? xstrdup(text) : NULL;
	return 0;
}

static int take_target(const json_t *json, struct storage_target *target, struct err *err)
{
	json_t *azure = NULL;
	json_t *s3 = NULL;

	if (json_get_object(json, "request", "azure", &azure, err) < 0 ||
	    json_get_object(json, "request", "s3", &s3, err) < 0)
		return -1;
	if (azure != NULL && (take_copy(azure, "connection", &target->azure_connection, err) < 0 ||
			      take_copy(azure, "container", &target->azure_container, err) < 0))
		return -1;
	if (s3 != NULL && (take_copy(s3, "bucket", &target->s3_bucket, err) < 0 ||
			   take_copy(s3, "endpoint", &target->s3_endpoint, err) < 0 ||
			   take_copy(s3, "region", &target->s3_region, err) < 0 ||
			   take_copy(s3, "key_id", &target->s3_key_id, err) < 0 ||
			   take_copy(s3, "secret", &target->s3_secret, err) < 0 ||
			   take_copy(s3, "token", &target->s3_token, err) < 0))
		return -1;
	if (storage_target_settle(target, err) < 0)
		return -1;
	return target->kind != STORAGE_NONE
		       ? 0
		       : err_set(err, ERR_INVALID, "the request has no storage");
}

/* Reads what is uploaded; the name in the storage is read already. */
static int take_source(const json_t *value, struct upload *upload, struct err *err)
{
	const char *path = NULL;

	if (job_take_text(value, "path", &path, err) < 0 ||
	    job_take_size(value, "size_max", &upload->size_max, err) < 0)
		return -1;
	upload->path = path != NULL ? percent_decode(path, strlen(path)) : NULL;
	return upload->path != NULL
		       ? 0
		       : err_set(err, ERR_INVALID, "a file of the request has no path");
}

static int take_file(const struct store *store, const json_t *value, struct upload *upload,
		     struct err *err)
{
	upload->fd = -1;
	if (take_copy(value, "name", &upload->name, err) < 0)
		return -1;
	if (upload->name == NULL)
		return err_set(err, ERR_INVALID, "a file of the request has no name");
	return store->links_only ? 0 : take_source(value, upload, err);
}

static int take_files(struct store *store, const json_t *json, struct err *err)
{
	json_t *files = NULL;
	size_t index;
	json_t *value;

	if (json_get_array(json, "request", "files", &files, err) < 0)
		return -1;
	store->batch.uploads = xcalloc(json_array_size(files) + 1, sizeof(struct upload));
	json_array_foreach (files, index, value) {
		store->batch.count++;
		if (take_file(store, value, &store->batch.uploads[index], err) < 0)
			return -1;
	}
	return 0;
}

/* ---- progress ---- */

static void put_link(const struct store *store, const struct upload *upload, json_t *progress)
{
	struct err err;
	cleanup_free char *url =
		store->backend->link(store->backend, upload->name, store->link_seconds, &err);

	if (url == NULL) {
		json_put_str(progress, "no_link", err.msg);
		return;
	}
	json_put_str(progress, "url", url);
	json_put_int(progress, "expires", (json_int_t)time(NULL) + (json_int_t)store->link_seconds);
}

static void on_upload_done(struct batch *batch, size_t index)
{
	struct store *store = container_of(batch, struct store, batch);
	const struct upload *upload = &batch->uploads[index];
	json_t *progress = json_object();

	json_put_int(progress, "file", (json_int_t)index);
	if (upload->state == UPLOAD_DONE) {
		store->stored++;
		json_put_int(progress, "size", (json_int_t)upload->size);
		put_link(store, upload, progress);
	} else {
		json_put_str(progress, "problem", upload->err.msg);
		json_put_bool(progress, "again", !upload->unfit);
	}
	program_progress(progress);
}

static void on_container_made(struct batch *batch)
{
	json_t *progress = json_object();

	(void)batch;
	json_put_bool(progress, "made", true);
	program_progress(progress);
}

/* ---- the run ---- */

/* Reads the whole request, locks down this process and creates the backend. */
static int prepare_store(struct store *store, const json_t *json, int folder_fd, struct err *err)
{
	if (job_take(json, &store->job, err) < 0 ||
	    job_take_size(json, "link_seconds", &store->link_seconds, err) < 0 ||
	    take_target(json, &store->target, err) < 0 || take_files(store, json, err) < 0 ||
	    lockdown_transfers(store->job.ca_file, folder_fd, err) < 0)
		return -1;
	store->backend = store->target.kind == STORAGE_AZURE
				 ? azure_backend_new(&store->target, err)
				 : s3_backend_new(&store->target, err);
	return store->backend != NULL ? 0 : -1;
}

static int run_store(struct store *store, const json_t *json, struct err *err)
{
	struct stat st;

	if (fstat(FOLDER_FD, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, "descriptor 3 is not a folder");
	if (prepare_store(store, json, FOLDER_FD, err) < 0)
		return -1;
	store->batch.job = &store->job;
	store->batch.backend = store->backend;
	store->batch.folder_fd = FOLDER_FD;
	store->batch.on_upload_done = on_upload_done;
	store->batch.on_container_made = on_container_made;
	return batch_run(&store->batch, err);
}

static int link_all(struct store *store, const json_t *json, struct err *err)
{
	if (prepare_store(store, json, -1, err) < 0)
		return -1;
	for (size_t i = 0; i < store->batch.count; i++) {
		json_t *progress = json_object();

		json_put_int(progress, "file", (json_int_t)i);
		put_link(store, &store->batch.uploads[i], progress);
		program_progress(progress);
	}
	return 0;
}

static void release_store(struct store *store)
{
	for (size_t i = 0; i < store->batch.count; i++)
		upload_release(&store->batch.uploads[i]);
	free(store->batch.uploads);
	if (store->backend != NULL)
		store->backend->free(store->backend);
	storage_target_release(&store->target);
}

int store_run(const json_t *request, struct err *err)
{
	struct store store = { .stored = 0 };
	int result = run_store(&store, request, err);
	json_t *progress;

	if (result == 0) {
		progress = json_object();
		json_put_int(progress, "stored", (json_int_t)store.stored);
		program_result(progress);
	}
	release_store(&store);
	return result;
}

int store_link(const json_t *request, struct err *err)
{
	struct store store = { .links_only = true };
	int result = link_all(&store, request, err);

	if (result == 0)
		program_result(json_object());
	release_store(&store);
	return result;
}
