/* SPDX-License-Identifier: MIT */
/*
 * keeproom.c - the size of the root is the last measured one and the exports of this server since
 * then. A file that is exported while the helper measures may count twice: the next measurement
 * corrects that.
 */
#include "workspace/keeproom.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "event/loop.h"
#include "helper/helper.h"
#include "json/make.h"
#include "workspace/home.h"
#include "workspace/keepname.h"

enum { WARN_PERCENT = 90 };

struct keeproom {
	struct loop *loop;
	const struct home *home;
	char *helper_path;
	char *root;
	struct loop_timer first;
	struct helper *helper; /* it measures; or NULL */
	uint64_t max;
	uint64_t bytes;
	uint64_t added; /* since the helper was started */
	uint64_t measured_ms;
	bool known;
	bool warned;
};

static void on_measured(struct helper *helper, const json_t *result, const struct err *err)
{
	struct keeproom *room = helper_data(helper);
	json_int_t bytes = json_integer_value(json_object_get(result, "bytes"));

	if (err != NULL)
		log_warn("keeper", "'%s': %s", room->root, err->msg);
	else if (bytes >= 0)
		keeproom_set(room, (uint64_t)bytes + room->added);
	room->measured_ms = loop_now(room->loop);
	helper_free(helper);
	room->helper = NULL;
}

static void measure(struct keeproom *room)
{
	static const struct helper_handlers handlers = { .done = on_measured };
	cleanup_json json_t *request = json_object();
	const struct helper_spec spec = { .path = room->helper_path,
					  .request = request,
					  .fds = (int[]){ home_fd(room->home) },
					  .fd_count = 1 };
	struct err err;

	json_put_str(request, "op", "measure");
	json_put_path(request, "root", room->root);
	room->added = 0;
	room->measured_ms = loop_now(room->loop);
	room->helper = helper_start(room->loop, &spec, &handlers, room, &err);
	if (room->helper == NULL)
		log_warn("keeper", "measuring '%s': %s", room->root, err.msg);
}

static void on_first(struct loop_timer *timer)
{
	measure(container_of(timer, struct keeproom, first));
}

struct keeproom *keeproom_new(struct loop *loop, const struct home *home, const char *helper,
			      const char *root, uint64_t max_bytes)
{
	struct keeproom *room = xcalloc(1, sizeof(*room));

	room->loop = loop;
	room->home = home;
	room->helper_path = xstrdup(helper);
	room->root = xstrdup(root);
	room->max = max_bytes;
	room->measured_ms = loop_now(loop);
	loop_timer_start(loop, &room->first, room->measured_ms + KEEPROOM_AFTER_MS, on_first);
	return room;
}

void keeproom_free(struct keeproom *room)
{
	if (room == NULL)
		return;
	loop_timer_stop(&room->first);
	if (room->helper != NULL)
		(void)helper_leave(room->helper, 0);
	free(room->helper_path);
	free(room->root);
	free(room);
}

uint64_t keeproom_max(const struct keeproom *room)
{
	return room->max;
}

uint64_t keeproom_left(const struct keeproom *room)
{
	if (!room->known)
		return UINT64_MAX;
	return room->max > room->bytes ? room->max - room->bytes : 0;
}

void keeproom_count(struct keeproom *room, uint64_t before, uint64_t bytes)
{
	room->bytes -= room->bytes < before ? room->bytes : before;
	room->bytes += bytes;
	room->added += bytes > before ? bytes - before : 0;
	if (room->helper == NULL && loop_now(room->loop) - room->measured_ms >= KEEPROOM_OLD_MS)
		measure(room);
}

void keeproom_set(struct keeproom *room, uint64_t bytes)
{
	room->bytes = bytes;
	room->known = true;
}

bool keeproom_is_nearly_full(uint64_t bytes, uint64_t max)
{
	return bytes >= max / 100 * WARN_PERCENT;
}

char *keeproom_take_warning(struct keeproom *room)
{
	cleanup_free char *shown = NULL;
	bool was_warned = room->warned;

	room->warned = room->known && keeproom_is_nearly_full(room->bytes, room->max);
	if (was_warned || !room->warned)
		return NULL;
	shown = keepname_show(room->root, "");
	return xasprintf(
		"Saved results of all sessions in '%s' take %" PRIu64 " %% of %" PRIu64
		" MB (PTYCELL_KEEP_TOTAL). When all of it is used, new results are not "
		"saved, and nothing there is deleted. Tell the user to delete folders there "
		"that are no longer needed, or to raise the limit.",
		shown, room->bytes / (room->max / 100), room->max >> 20);
}
