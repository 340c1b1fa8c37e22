/* SPDX-License-Identifier: MIT */
/*
 * rescue_record.c - session code cannot reach the record. A folder in it is one name all the same:
 * the record lies on a disk that others may have written.
 */
#include "workspace/rescue_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/util.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "json/write.h"
#include "workspace/beneath.h"
#include "workspace/keepname.h"

/* Versions without a record wrote events, of which some name the folder of the results. */
#define EARLIER_EVENTS "journal/records"
#define EARLIER_SAVED "\"saved\":\""

enum { EARLIER_MAX = 64 << 20, RECORD_MAX = 16 << 10 };

void rescue_record_write(int journal_fd, const char *root, const char *folder, const char *notebook,
			 const char *report)
{
	cleanup_json json_t *record = json_object();
	struct err err;

	json_put_path(record, "root", root);
	json_put_str(record, "folder", folder);
	json_put_str(record, "notebook", notebook);
	json_put_str(record, "report", report);
	if (json_write_file(journal_fd, RESCUE_RECORD, record, &err) < 0)
		log_warn("rescue",
			 "should this server be killed, results of '%s' would be lost: %s", folder,
			 err.msg);
}

json_t *rescue_record_read(int dir_fd, const char *path)
{
	struct err ignored;

	return json_parse_file(dir_fd, path, RECORD_MAX, &ignored);
}

/*
 * Returns the name after the last "saved" among a session's events, or a new name. No code can
 * write such a member: its quotes are escaped in strings.
 */
static char *last_folder(const char *events)
{
	const char *saved = NULL;
	cleanup_free char *path = NULL;

	for (const char *at = events; (at = strstr(at, EARLIER_SAVED)) != NULL;)
		saved = at += strlen(EARLIER_SAVED);
	if (saved == NULL)
		return keepname_new("rescued", NULL);
	path = xmemdup(saved, strcspn(saved, "\""));
	return xstrdup(path_base(path));
}

json_t *rescue_record_earlier(int session_fd, const char *root)
{
	struct err err;
	size_t len = 0;
	cleanup_free char *events =
		fd_read_file(session_fd, EARLIER_EVENTS, EARLIER_MAX, &len, &err);
	cleanup_free char *folder = NULL;
	json_t *record;

	if (events == NULL || root == NULL)
		return NULL;
	folder = last_folder(events);
	record = json_object();
	json_put_path(record, "root", root);
	json_put_str(record, "folder", folder);
	return record;
}

char *rescue_record_target(const json_t *record, const char **ret_folder)
{
	const char *folder = json_string_value(json_object_get(record, "folder"));

	if (folder == NULL || strchr(folder, '/') != NULL || !beneath_path_valid(folder))
		return NULL;
	*ret_folder = folder;
	return json_path_of(json_object_get(record, "root"));
}

char *rescue_record_folder(int journal_fd, const char *root)
{
	cleanup_json json_t *record = rescue_record_read(journal_fd, RESCUE_RECORD);
	const char *folder = NULL;
	cleanup_free char *decoded = rescue_record_target(record, &folder);

	return decoded != NULL && str_eq(decoded, root) ? xstrdup(folder) : NULL;
}

char *rescue_record_path(int journal_fd)
{
	cleanup_json json_t *record = rescue_record_read(journal_fd, RESCUE_RECORD);
	const char *folder = NULL;
	cleanup_free char *root = rescue_record_target(record, &folder);

	return root != NULL ? xasprintf("%s/%s", root, folder) : NULL;
}

char *rescue_record_shown(int journal_fd)
{
	cleanup_json json_t *record = rescue_record_read(journal_fd, RESCUE_RECORD);
	const char *folder = NULL;
	cleanup_free char *root = rescue_record_target(record, &folder);

	return root != NULL ? keepname_show(root, folder) : NULL;
}
