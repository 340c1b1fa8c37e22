/* SPDX-License-Identifier: MIT */
/*
 * uploads_renewal.c - one helper that signs new links for stored files. A request holds a limited
 * number of files; the rest follow when it ends.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "helper/helper.h"
#include "json/make.h"
#include "transfer/uploads_internal.h"

struct upload_renewal {
	struct uploads *uploads;
	struct helper *helper;
	struct upload_item *items[UPLOADS_BATCH_FILES_MAX];
	size_t count;
	size_t renewed;
};

void uploads_renewal_free(struct upload_renewal *renewal)
{
	if (renewal == NULL)
		return;
	helper_free(renewal->helper);
	free(renewal);
}

/*
 * Returns true if the item's link must be renewed. A file that is uploaded again gets a new link
 * anyway.
 */
static bool is_due(const struct upload_item *item)
{
	return item->url != NULL && !item->wanted && !item->running &&
	       item->expires - time(NULL) < UPLOADS_RENEW_S;
}

static void take_items(struct upload_renewal *renewal)
{
	const struct list *items = &renewal->uploads->items;

	list_for_each (struct upload_item, item, items, node)
		if (is_due(item) && renewal->count < UPLOADS_BATCH_FILES_MAX)
			renewal->items[renewal->count++] = item;
}

static void on_progress(struct helper *helper, const json_t *progress)
{
	struct upload_renewal *renewal = helper_data(helper);
	const json_t *file = json_object_get(progress, "file");
	json_int_t index = json_integer_value(file);
	struct upload_item *item;

	if (!json_is_integer(file) || index < 0 || (size_t)index >= renewal->count)
		return;
	item = renewal->items[index];
	if (!is_due(item)) /* also a file whose new upload failed meanwhile */
		return;
	uploads_take_link(renewal->uploads, item, progress);
	renewal->renewed += !is_due(item);
}

/* Ends a request. Starts another one for the files that this one had no room for. */
static void on_renewal_done(struct helper *helper, const json_t *result, const struct err *err)
{
	struct upload_renewal *renewal = helper_data(helper);
	struct uploads *uploads = renewal->uploads;
	bool continues = err == NULL && renewal->renewed > 0;

	(void)result;
	uploads_renewal_free(renewal);
	uploads->renewal = NULL;
	if (!continues || !uploads_renew(uploads))
		uploads_report_change(uploads);
}

static json_t *make_request(const struct upload_renewal *renewal)
{
	json_t *request = uploads_request(renewal->uploads, "link");
	json_t *files = json_array();

	for (size_t i = 0; i < renewal->count; i++) {
		json_t *file = json_object();

		json_put_str(file, "name", renewal->items[i]->name);
		json_append(files, file);
	}
	json_put(request, "files", files);
	return request;
}

static void start_renewal(struct upload_renewal *renewal)
{
	static const struct helper_handlers handlers = { .progress = on_progress,
							 .done = on_renewal_done };
	struct uploads *uploads = renewal->uploads;
	cleanup_json json_t *request = make_request(renewal);
	const struct helper_spec spec = { .path = uploads->helper, .request = request };
	struct err err;

	renewal->helper = helper_start(uploads->spec.loop, &spec, &handlers, renewal, &err);
}

bool uploads_renew(struct uploads *uploads)
{
	struct upload_renewal *renewal;

	if (uploads->renewal != NULL)
		return true;
	renewal = xcalloc(1, sizeof(*renewal));
	renewal->uploads = uploads;
	take_items(renewal);
	if (renewal->count > 0)
		start_renewal(renewal);
	if (renewal->helper == NULL) {
		free(renewal);
		return false;
	}
	uploads->renewal = renewal;
	return true;
}

bool uploads_renewing(const struct uploads *uploads)
{
	return uploads->renewal != NULL;
}
