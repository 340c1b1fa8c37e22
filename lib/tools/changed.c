/* SPDX-License-Identifier: MIT */
/*
 * changed.c - maps a changed file or cell to the URIs of the resources that show it.
 *
 * Only new and deleted files of output/ change the list of resources, since the list names no
 * others. Files are mapped only if a client watches one of the session, because a cell can change
 * thousands.
 */
#include "tools/changed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "answer/artifact.h"
#include "base/mem.h"
#include "session/session.h"
#include "tools/notifications.h"
#include "tools/tool.h"
#include "workspace/scan.h"

void changed_file(const struct changed *changed, const char *session_id, const char *path)
{
	cleanup_free char *uri = artifact_uri(session_id, path, changed->redact);

	notifications_changed(changed->notifications, uri);
}

static bool changes_list(const struct change *change)
{
	return change->kind != CHANGE_CHANGED &&
	       strncmp(change->file.path, "output/", strlen("output/")) == 0;
}

void changed_files(const struct changed *changed, const char *session_id,
		   const struct change *changes, size_t count)
{
	bool watched = notifications_any_watched(changed->notifications) &&
		       notifications_watched_below(changed->notifications, session_id, "/files/");

	for (size_t i = 0; i < count; i++) {
		if (changes_list(&changes[i]))
			notifications_list_changed(changed->notifications);
		if (watched)
			changed_file(changed, session_id, changes[i].file.path);
	}
}

static void change_resources(const struct changed *changed, const char *id, uint64_t number)
{
	cleanup_free char *own = xasprintf("/cells/%ju", (uintmax_t)number);
	const char *const below[] = { "", "/cells", own, "/notebook", "/script" };

	for (size_t i = 0; i < ARRAY_SIZE(below); i++)
		notifications_session_changed(changed->notifications, id, below[i]);
}

void changed_cell(const struct changed *changed, const struct exec_result *result)
{
	const struct cell *cell = result->cell;
	const char *id = session_id(result->session);

	if (notifications_any_watched(changed->notifications))
		change_resources(changed, id, cell->number);
	changed_files(changed, id, cell->changes, cell->change_count);
}
