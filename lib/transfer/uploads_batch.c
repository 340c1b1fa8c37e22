/* SPDX-License-Identifier: MIT */
/*
 * uploads_batch.c - one helper per batch, and the checks of its replies. The helper gets the data
 * folder with a shared flock, for which a removal waits, so that a batch survives its session. If
 * the storage was made anew, the files uploaded before are gone and are uploaded again.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>

#include "base/fd.h"
#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "transfer/network_options.h"
#include "transfer/uploads_internal.h"

enum { URL_MAX = 8192, REASON_MAX = 300, SECONDS_PER_HOUR = 3600 };

void uploads_batch_free(struct upload_batch *batch)
{
	helper_free(batch->helper);
	list_remove(&batch->node);
	fd_close(&batch->folder);
	free(batch->items);
	free(batch);
}

/* ---- the request ---- */

static json_t *describe_azure(const struct storage_target *target)
{
	json_t *azure = json_object();

	json_put_str(azure, "connection", target->azure_connection);
	json_put_str(azure, "container", target->azure_container);
	return azure;
}

static json_t *describe_s3(const struct storage_target *target)
{
	json_t *s3 = json_object();

	json_put_str(s3, "bucket", target->s3_bucket);
	json_put_str(s3, "endpoint", target->s3_endpoint);
	json_put_str(s3, "region", target->s3_region);
	json_put_str(s3, "key_id", target->s3_key_id);
	json_put_str(s3, "secret", target->s3_secret);
	json_put_str(s3, "token", target->s3_token);
	return s3;
}

/* Describes a file to the helper. Growth since the scan counts against the limit, too. */
static json_t *describe_file(const struct uploads *uploads, const struct upload_item *item,
			     uint64_t total)
{
	uint64_t others = total - item->size;
	uint64_t most = uploads->limits.bytes_max;
	uint64_t room = others < most ? most - others : 0;
	json_t *file = json_object();

	json_put_path(file, "path", item->path);
	json_put_str(file, "name", item->name);
	json_put_int(file, "size_max", (json_int_t)(room & INT64_MAX));
	return file;
}

json_t *uploads_request(const struct uploads *uploads, const char *operation)
{
	const struct storage_target *target = uploads->spec.target;
	json_t *request =
		network_options_put(operation, UPLOADS_BATCH_MS_MAX, uploads->spec.environment);
	uint64_t seconds =
		storage_target_hours(target, uploads->limits.link_hours) * SECONDS_PER_HOUR;

	if (target->kind == STORAGE_AZURE)
		json_put(request, "azure", describe_azure(target));
	else
		json_put(request, "s3", describe_s3(target));
	json_put_int(request, "link_seconds", (json_int_t)seconds);
	return request;
}

static json_t *make_request(const struct upload_batch *batch)
{
	const struct uploads *uploads = batch->uploads;
	json_t *request = uploads_request(uploads, "store");
	json_t *files = json_array();
	struct upload_totals totals = uploads_totals(uploads);

	for (size_t i = 0; i < batch->count; i++)
		json_append(files, describe_file(uploads, batch->items[i], totals.bytes));
	json_put(request, "files", files);
	return request;
}

/* ---- replies ---- */

static bool is_url(const char *text)
{
	size_t len = 0;

	while (text[len] > ' ' && text[len] <= '~' && len <= URL_MAX)
		len++;
	return text[len] == '\0' && (strncmp(text, "https://", strlen("https://")) == 0 ||
				     strncmp(text, "http://", strlen("http://")) == 0);
}

static void report_upload(const struct uploads *uploads, const struct upload_item *item,
			  time_t expires)
{
	if (uploads->spec.report != NULL)
		uploads->spec.report(uploads->spec.report_data,
				     &(struct uploads_event){ .session_id = uploads->session_id,
							      .path = item->path,
							      .name = item->name,
							      .size = item->stored_size,
							      .expires = expires });
}

void uploads_take_link(struct uploads *uploads, struct upload_item *item, const json_t *progress)
{
	const char *url = json_string_value(json_object_get(progress, "url"));
	const char *no_link = json_string_value(json_object_get(progress, "no_link"));

	if (url != NULL && is_url(url)) {
		free(item->url);
		item->url = xstrdup(url);
		item->expires = (time_t)json_integer_value(json_object_get(progress, "expires"));
		report_upload(uploads, item, item->expires);
	}
	if (no_link != NULL && uploads->no_link == NULL)
		uploads->no_link = xmemdup(no_link, strnlen(no_link, REASON_MAX));
}

static void take_stored(struct uploads *uploads, struct upload_item *item, const json_t *progress)
{
	json_int_t size = json_integer_value(json_object_get(progress, "size"));

	mem_cleanup(&item->url);
	mem_cleanup(&item->problem);
	item->again = false;
	item->stored = true;
	item->stored_at = loop_now(uploads->spec.loop);
	item->stored_size = size > 0 ? (uint64_t)size : 0;
	if (!item->wanted)
		item->size = item->stored_size;
	item->news = true;
	report_upload(uploads, item, 0);
	uploads_take_link(uploads, item, progress);
}

/* Ends an item's upload. If it was put again meanwhile, it is queued again. */
static void end_item(struct uploads *uploads, struct upload_item *item)
{
	item->running = false;
	if (item->wanted && list_empty(&item->queued))
		list_append(&uploads->queue, &item->queued);
}

void uploads_report_change(struct uploads *uploads)
{
	if (!uploads->freed)
		uploads->spec.changed(uploads, uploads->spec.data);
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct upload_batch *batch = helper_data(helper);
	const json_t *file = json_object_get(progress, "file");
	json_int_t index = json_integer_value(file);
	const char *problem = json_string_value(json_object_get(progress, "problem"));
	struct upload_item *item;

	if (json_is_true(json_object_get(progress, "made")))
		uploads_forget_stored(batch->uploads->spec.all, batch->started_at);
	if (!json_is_integer(file) || index < 0 || (size_t)index >= batch->count ||
	    batch->items[index] == NULL)
		return;
	item = batch->items[index];
	batch->items[index] = NULL;
	if (problem == NULL)
		take_stored(batch->uploads, item, progress);
	else if (str_eq(problem, "limit"))
		uploads_set_problem(item,
				    "more of this session would lie in the storage than "
				    "PTYCELL_KEEP_MAX allows",
				    false);
	else
		uploads_set_problem(item, problem,
				    json_is_true(json_object_get(progress, "again")));
	end_item(batch->uploads, item);
	uploads_report_change(batch->uploads);
}

static void on_batch_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct upload_batch *batch = helper_data(helper);
	struct uploads *uploads = batch->uploads;

	(void)result;
	for (size_t i = 0; i < batch->count; i++) {
		if (batch->items[i] == NULL)
			continue;
		uploads_set_problem(batch->items[i],
				    err != NULL ? err->msg : "the upload ended without an answer",
				    true);
		end_item(uploads, batch->items[i]);
	}
	uploads_batch_free(batch);
	if (uploads->freed && list_empty(&uploads->batches)) {
		list_remove(&uploads->job.node);
		uploads_release(uploads);
		return;
	}
	if (!uploads->freed)
		uploads_start(uploads);
	uploads_report_change(uploads);
}

/* ---- running batches ---- */

static void take_items(struct upload_batch *batch)
{
	struct uploads *uploads = batch->uploads;

	batch->items = xcalloc(UPLOADS_BATCH_FILES_MAX, sizeof(struct upload_item *));
	list_for_each (struct upload_item, item, &uploads->queue, queued) {
		if (batch->count == UPLOADS_BATCH_FILES_MAX)
			break;
		list_remove(&item->queued);
		item->wanted = false;
		item->running = true;
		batch->items[batch->count++] = item;
	}
}

/*
 * Starts the helper with the locked data folder. The lock lasts as long as the helper or the server
 * holds the descriptor: a removal waits for it.
 */
static int start_helper(struct upload_batch *batch, struct err *err)
{
	static const struct helper_handlers handlers = { .progress = on_progress,
							 .done = on_batch_done };
	struct uploads *uploads = batch->uploads;
	cleanup_json json_t *request = make_request(batch);
	struct helper_spec spec = { .path = uploads->helper, .request = request, .fd_count = 1 };

	batch->folder = openat(workspace_data_fd(uploads->spec.workspace), ".",
			       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (batch->folder < 0)
		return err_sys(err, "opening the session's folder");
	(void)flock(batch->folder, LOCK_SH | LOCK_NB);
	spec.fds = &batch->folder;
	batch->helper = helper_start(uploads->spec.loop, &spec, &handlers, batch, err);
	return batch->helper == NULL ? -1 : 0;
}

static void fail_all(struct upload_batch *batch, const struct err *err)
{
	for (size_t i = 0; i < batch->count; i++) {
		batch->items[i]->running = false;
		uploads_set_problem(batch->items[i], err->msg, true);
	}
	uploads_batch_free(batch);
}

void uploads_start(struct uploads *uploads)
{
	bool failed = false;

	while (!list_empty(&uploads->queue) && list_len(&uploads->batches) < UPLOADS_BATCHES_MAX) {
		struct upload_batch *batch = xcalloc(1, sizeof(*batch));
		struct err err;

		batch->uploads = uploads;
		batch->started_at = loop_now(uploads->spec.loop);
		batch->folder = -1;
		list_init(&batch->node);
		take_items(batch);
		list_append(&uploads->batches, &batch->node);
		if (start_helper(batch, &err) == 0)
			continue;
		fail_all(batch, &err);
		failed = true;
	}
	if (failed)
		uploads_report_change(uploads);
}
