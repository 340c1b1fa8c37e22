/* SPDX-License-Identifier: MIT */
/*
 * earlier.c - whether a cell ran is read from the journals, only where several sessions compete:
 * the first cell is among the first events.
 */
#include "session/earlier.h"

#include "base/fd.h"
#include "base/util.h"
#include "config/settings.h"
#include "journal/events.h"
#include "session/session.h"

static bool is_beginning(const json_t *fields)
{
	const char *event = json_string_value(json_object_get(fields, "event"));

	return event != NULL && str_eq(event, "began");
}

static bool has_begun(const struct events *events)
{
	struct event_place place = { .len = 0 };
	bool begun = false;
	bool more = true;

	while (!begun && more) {
		cleanup_event struct event event = EVENT_INIT;

		more = events_next(events, &place, &event);
		begun = more && is_beginning(event.fields);
	}
	return begun;
}

/* Without a journal, cells have numbers only if the session ended in order. */
static bool is_empty(const struct home *home, const struct lasting *row)
{
	cleanup_fd int journal = -1;
	cleanup_fd int fd = lasting_open(home, row->name, &journal);
	struct events *events;
	struct err err;
	bool empty;

	events = fd >= 0 ? events_open(journal, &err) : NULL;
	if (events == NULL)
		return row->record.next_cell == 1;
	empty = !has_begun(events);
	events_free(events);
	return empty;
}

void earlier_find(const struct session_host *host, const char *id, struct lasting_found *ret)
{
	*ret = (struct lasting_found){ .count = 0 };
	if (host->settings->resume == 0)
		return;
	if (host->adopt != NULL)
		host->adopt(host->owner);
	lasting_find(host->home, id, ret);
	if (ret->count < 2)
		return;
	for (size_t i = 0; i < ret->count; i++)
		ret->rows[i].empty = is_empty(host->home, &ret->rows[i]);
	lasting_sort(ret);
}
