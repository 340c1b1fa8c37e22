/* SPDX-License-Identifier: MIT */
/* room.c - counts what may still be exported; the root is measured at the limit only. */
#include "room.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/fd.h"
#include "base/mem.h"
#include "helper/program.h"
#include "json/get.h"
#include "json/make.h"
#include "lockdown.h"
#include "workspace/kept_size.h"

void room_parse(struct room *ret, const json_t *request, const char *root)
{
	const json_t *total = json_object_get(request, "total_max");

	*ret = (struct room){ .session = json_integer_value(json_object_get(request, "room")),
			      .total = json_integer_value(json_object_get(request, "total_room")),
			      .total_max = json_integer_value(total),
			      .root = root };
}

/* Measures the root, unless that was done, and reports its size. */
static void measure_again(struct room *room)
{
	json_t *progress;
	uint64_t bytes;
	struct err ignored;

	if (room->measured)
		return;
	room->measured = true;
	if (kept_size_measure(room->root, program_alive, &bytes, &ignored) < 0)
		return;
	room->total = room->total_max - (json_int_t)(bytes & INT64_MAX);
	progress = json_object();
	json_put_int(progress, "total", (json_int_t)(bytes & INT64_MAX));
	program_progress(progress);
}

static bool has_room(json_int_t room, json_int_t size, json_int_t before, bool spare)
{
	return size <= (spare ? (room + before) / 2 : room + before);
}

int room_check(struct room *room, json_int_t size, json_int_t before, bool spare, struct err *err)
{
	if (!has_room(room->session, size, before, spare))
		return err_set(err, ERR_LIMIT, "limit");
	if (room->total_max == 0 || has_room(room->total, size, before, spare))
		return 0;
	measure_again(room);
	return has_room(room->total, size, before, spare) ? 0 : err_set(err, ERR_BUSY, "total");
}

void room_take(struct room *room, json_int_t bytes)
{
	room->session -= bytes;
	room->total -= bytes;
}

int room_run(const json_t *request, struct err *err)
{
	cleanup_free char *root = json_path_of(json_object_get(request, "root"));
	cleanup_fd int fd = root == NULL ? -1 : open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct lockdown_rule rule = { .fd = fd, .rights = lockdown_read };
	uint64_t bytes = 0;
	json_t *result;

	if (root == NULL)
		return err_set(err, ERR_INVALID, "the request lacks the root");
	/* A root that is not there has no results. */
	if (fd >= 0 && (lockdown_files(&rule, 1, 1, err) < 0 ||
			kept_size_measure(root, program_alive, &bytes, err) < 0))
		return -1;
	result = json_object();
	json_put_int(result, "bytes", (json_int_t)(bytes & INT64_MAX));
	program_result(result);
	return 0;
}
