/* SPDX-License-Identifier: MIT */
/*
 * uploads.c - the files of a session and the state of each: wanted, running, stored, with a link or
 * a problem. A file may be put again in any of these states. Freed uploads with running batches
 * live on as a job of the home.
 */
#include "transfer/uploads.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/random.h"
#include "storage/object_name.h"
#include "text/sanitize.h"
#include "transfer/uploads_internal.h"
#include "workspace/home.h"

#define OUTPUT_PREFIX "output/"

enum { REASON_MAX = 300, FOLDER_DIGITS = 8 };

/* ---- start and end ---- */

static void leave_uploads(struct home_job *job, int wait_ms)
{
	struct uploads *uploads = container_of(job, struct uploads, job);

	cleanup_free char *what = uploads_name_under_way(uploads);

	/* No process would report a link after the server's end, so the helper ends with it. */
	(void)wait_ms;
	if (what != NULL)
		log_warn("uploads",
			 "the server ends while %s on the way to the storage, below %s/: what was "
			 "not told as a link may not lie there",
			 what, uploads->folder);
	uploads_release(uploads);
}

/*
 * Returns a folder name with a random part: sessions with the same id, of any server, must never
 * write each other's files.
 */
static char *make_folder(const char *session_id)
{
	char digits[FOLDER_DIGITS + 1];

	random_hex(digits, FOLDER_DIGITS);
	return xasprintf("%s-%s", session_id, digits);
}

struct uploads *uploads_new(const struct uploads_spec *spec)
{
	struct uploads *uploads = xcalloc(1, sizeof(*uploads));

	uploads->job.leave = leave_uploads;
	list_init(&uploads->job.node);
	list_init(&uploads->node);
	list_append(spec->all, &uploads->node);
	uploads->spec = *spec;
	uploads->helper = xstrdup(spec->helper);
	uploads->session_id = xstrdup(spec->session_id);
	uploads->folder = make_folder(spec->session_id);
	uploads->home = workspace_home(spec->workspace);
	list_init(&uploads->items);
	list_init(&uploads->queue);
	list_init(&uploads->batches);
	uploads->by_path = map_new();
	return uploads;
}

static void item_free(struct upload_item *item)
{
	list_remove(&item->node);
	list_remove(&item->queued);
	free(item->path);
	free(item->name);
	free(item->url);
	free(item->problem);
	free(item);
}

void uploads_release(struct uploads *uploads)
{
	loop_defer_stop(&uploads->start);
	list_for_each (struct upload_batch, batch, &uploads->batches, node)
		uploads_batch_free(batch);
	list_for_each (struct upload_item, item, &uploads->items, node)
		item_free(item);
	map_free(uploads->by_path);
	free(uploads->no_link);
	free(uploads->refused_path);
	free(uploads->refused_why);
	free(uploads->helper);
	free(uploads->session_id);
	free(uploads->folder);
	free(uploads);
}

void uploads_free(struct uploads *uploads)
{
	if (uploads == NULL)
		return;
	uploads->freed = true;
	list_remove(&uploads->node);
	uploads_renewal_free(uploads->renewal);
	uploads->renewal = NULL;
	uploads_retry(uploads);
	if (!list_empty(&uploads->queue))
		uploads_start(uploads); /* while the folder still exists */
	loop_defer_stop(&uploads->start);
	if (list_empty(&uploads->batches))
		uploads_release(uploads);
	else
		home_add_job(uploads->home, &uploads->job);
}

void uploads_set_limits(struct uploads *uploads, const struct uploads_limits *limits)
{
	uploads->limits = *limits;
}

/* ---- files to upload ---- */

void uploads_set_problem(struct upload_item *item, const char *problem, bool again)
{
	/* A problem that the model knows is not reported again. */
	bool known = item->number == UPLOADS_NO_WAITER && item->problem != NULL &&
		     str_eq(item->problem, problem);

	free(item->problem);
	item->problem = xstrdup(problem);
	item->again = again;
	item->news = item->news || !known;
	mem_cleanup(&item->url); /* the link would give the old content */
}

void uploads_forget_stored(struct list *all, uint64_t before)
{
	list_for_each (struct uploads, uploads, all, node)
		list_for_each (struct upload_item, item, &uploads->items, node) {
			if (!item->stored || item->stored_at > before)
				continue;
			item->again = true;
			item->stored = false;
			mem_cleanup(&item->url);
		}
}

static struct upload_item *make_item(struct uploads *uploads, const char *path, char *name_own)
{
	struct upload_item *item = xcalloc(1, sizeof(*item));

	item->path = xstrdup(path);
	item->name = name_own;
	list_init(&item->queued);
	list_init(&item->node);
	list_append(&uploads->items, &item->node);
	(void)map_set(uploads->by_path, path, strlen(path), item);
	return item;
}

static bool counts(const struct upload_item *item)
{
	return item->stored || item->wanted || item->running;
}

struct upload_totals uploads_totals(const struct uploads *uploads)
{
	struct upload_totals totals = { .files = 0 };

	list_for_each (const struct upload_item, item, &uploads->items, node) {
		totals.files += counts(item);
		totals.bytes += counts(item) ? item->size : 0;
	}
	return totals;
}

/* `others` are the totals without the file itself. */
static int check_limits(const struct uploads *uploads, const struct upload_totals *others,
			uint64_t size, struct err *err)
{
	const struct uploads_limits *limits = &uploads->limits;

	if (others->files >= limits->files_max)
		return err_set(err, ERR_LIMIT,
			       "more than %" PRIu64 " files of this session would lie in the "
			       "storage: put many into one archive",
			       limits->files_max);
	if (size > limits->bytes_max || others->bytes > limits->bytes_max - size)
		return err_set(err, ERR_LIMIT,
			       "more than %" PRIu64 " MB of this session would lie in the storage "
			       "(PTYCELL_KEEP_MAX)",
			       limits->bytes_max >> 20);
	return 0;
}

/* Records a refused file. Only the first one is stored, the others are counted. */
static void refuse(struct uploads *uploads, const char *path, const struct err *err)
{
	if (uploads->refused_count++ > 0)
		return;
	free(uploads->refused_path);
	free(uploads->refused_why);
	uploads->refused_path = xstrdup(path);
	uploads->refused_why = xstrdup(err->msg);
}

static void put_file(struct uploads *uploads, struct upload_totals *totals,
		     const struct uploads_file *file)
{
	const char *below = file->path + strlen(OUTPUT_PREFIX);
	struct upload_item *item = map_get(uploads->by_path, file->path, strlen(file->path));
	struct upload_totals others = *totals;
	cleanup_free char *name = NULL;
	struct err err;

	if (item != NULL && counts(item)) {
		others.files--;
		others.bytes -= item->size;
	}
	if (check_limits(uploads, &others, file->size, &err) < 0 ||
	    (item == NULL && (name = storage_name(uploads->folder, below, &err)) == NULL)) {
		if (item != NULL)
			uploads_set_problem(item, err.msg, false);
		else
			refuse(uploads, file->path, &err);
		return;
	}
	if (item == NULL)
		item = make_item(uploads, file->path, mem_steal(&name));
	item->number = uploads->number;
	item->size = file->size;
	item->wanted = true;
	item->again = false;
	*totals = (struct upload_totals){ others.files + 1, others.bytes + file->size };
	if (!item->running && list_empty(&item->queued))
		list_append(&uploads->queue, &item->queued);
}

static void on_start(struct loop_defer *defer)
{
	uploads_start(container_of(defer, struct uploads, start));
}

uint64_t uploads_put(struct uploads *uploads, const struct uploads_file *files, size_t count)
{
	struct upload_totals totals = uploads_totals(uploads);

	uploads->number++;
	for (size_t i = 0; i < count; i++)
		if (strncmp(files[i].path, OUTPUT_PREFIX, strlen(OUTPUT_PREFIX)) == 0)
			put_file(uploads, &totals, &files[i]);
	if (!list_empty(&uploads->queue))
		loop_defer_start(uploads->spec.loop, &uploads->start, on_start);
	return uploads->number;
}

void uploads_retry(struct uploads *uploads)
{
	struct upload_totals totals = uploads_totals(uploads);

	list_for_each (struct upload_item, item, &uploads->items, node) {
		const struct uploads_file file = { .path = item->path, .size = item->size };

		if (!item->again || item->wanted || item->running)
			continue;
		put_file(uploads, &totals, &file);
		item->number = UPLOADS_NO_WAITER;
	}
	if (!list_empty(&uploads->queue))
		loop_defer_start(uploads->spec.loop, &uploads->start, on_start);
}

static bool is_under_way(const struct upload_item *item)
{
	return item->wanted || item->running;
}

size_t uploads_under_way(const struct uploads *uploads)
{
	size_t count = 0;

	list_for_each (struct upload_item, upload_item, &uploads->items, node)
		count += is_under_way(upload_item);
	return count;
}

char *uploads_name_under_way(const struct uploads *uploads)
{
	size_t count = uploads_under_way(uploads);
	struct list *node = uploads->items.next;
	cleanup_free char *name = NULL;

	if (count == 0)
		return NULL;
	while (!is_under_way(list_entry(node, struct upload_item, node)))
		node = node->next;
	name = sanitize_quote(list_entry(node, struct upload_item, node)->path);
	return count == 1 ? xasprintf("'%s' is", name)
			  : xasprintf("'%s' and %zu more are", name, count - 1);
}

bool uploads_pending(const struct uploads *uploads, uint64_t number)
{
	list_for_each (const struct upload_item, item, &uploads->items, node)
		if ((item->wanted || item->running) && item->number <= number)
			return true;
	return false;
}

/* ---- reports ---- */

/* While the file is uploaded again, a link of before would give the old content. */
static bool has_link(const struct upload_item *item)
{
	return item->url != NULL && item->expires > time(NULL) && !is_under_way(item);
}

static struct uploaded describe(const struct upload_item *item)
{
	return (struct uploaded){ .path = item->path, .url = item->url, .expires = item->expires };
}

bool uploads_find(const struct uploads *uploads, const char *path, struct uploaded *ret_uploaded)
{
	const struct upload_item *item = map_get(uploads->by_path, path, strlen(path));

	if (item == NULL || !has_link(item))
		return false;
	*ret_uploaded = describe(item);
	return true;
}

size_t uploads_news(const struct uploads *uploads, struct uploaded *out, size_t max)
{
	size_t count = 0;

	list_for_each (const struct upload_item, item, &uploads->items, node) {
		if (!item->news || !has_link(item))
			continue;
		if (count < max)
			out[count] = describe(item);
		count++;
	}
	return count;
}

static char *say_no_link(const char *why)
{
	cleanup_buf struct buf reason = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&reason, why, strlen(why), REASON_MAX);
	return xasprintf("Files were uploaded, but there are no links: %s.", buf_str(&reason));
}

static char *say_problem(const char *path, const char *why, size_t count)
{
	cleanup_free char *name = sanitize_quote(path);
	cleanup_buf struct buf reason = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&reason, why, strlen(why), REASON_MAX);
	if (count == 1)
		return xasprintf("'%s' was not uploaded: %s.", name, buf_str(&reason));
	return xasprintf("'%s' and %zu more were not uploaded: %s.", name, count - 1,
			 buf_str(&reason));
}

char *uploads_problem(const struct uploads *uploads)
{
	const struct upload_item *first = NULL;
	size_t count = uploads->refused_count;

	list_for_each (const struct upload_item, item, &uploads->items, node) {
		if (!item->news || item->problem == NULL)
			continue;
		first = first != NULL ? first : item;
		count++;
	}
	if (first != NULL)
		return say_problem(first->path, first->problem, count);
	if (count > 0)
		return say_problem(uploads->refused_path, uploads->refused_why, count);
	if (uploads->no_link == NULL || uploads->no_link_reported)
		return NULL;
	return say_no_link(uploads->no_link);
}

/*
 * Marks an item as reported. A link that expired before it was reported is reported once it is
 * valid again.
 */
static void mark_reported(struct upload_item *item)
{
	item->news = item->news && item->url != NULL && !has_link(item);
}

void uploads_mark_reported(struct uploads *uploads)
{
	list_for_each (struct upload_item, upload_item, &uploads->items, node)
		mark_reported(upload_item);
	uploads->no_link_reported = uploads->no_link != NULL;
	uploads->refused_count = 0;
}

size_t uploads_file_count(const struct uploads *uploads)
{
	size_t count = 0;

	list_for_each (struct upload_item, upload_item, &uploads->items, node)
		count += upload_item->stored;
	return count;
}

uint64_t uploads_byte_count(const struct uploads *uploads)
{
	uint64_t bytes = 0;

	list_for_each (const struct upload_item, item, &uploads->items, node)
		bytes += item->stored ? item->stored_size : 0;
	return bytes;
}

const struct storage_target *uploads_target(const struct uploads *uploads)
{
	return uploads->spec.target;
}

const char *uploads_folder(const struct uploads *uploads)
{
	return uploads->folder;
}
