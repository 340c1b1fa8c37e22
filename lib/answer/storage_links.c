/* SPDX-License-Identifier: MIT */
/*
 * storage_links.c - shows the links to results in the storage.
 *
 * A link is a secret with an expiry: it is given to the user unchanged, and an answer names the
 * time at which the first of its links expires. UNDER_WAY follows a subject with its verb ("2 files
 * are").
 */
#include "answer/storage_links.h"

#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "json/make.h"
#include "session/session.h"
#include "storage/object_name.h"
#include "text/sanitize.h"
#include "transfer/uploads.h"

#define UNDER_WAY "%s still on the way to the storage: a later answer has the links."

enum {
	LINK_COST = 200, /* bytes of a link in an answer, without its URL */
	URL_COST = 2,    /* for each byte of the URL: as an object and as text */
};

static time_t first_to_expire(const struct exec_result *result)
{
	time_t first = result->links[0].expires;

	for (size_t i = 1; i < result->links_shown; i++)
		if (result->links[i].expires < first)
			first = result->links[i].expires;
	return first;
}

static void explain_links(struct buf *text, const struct exec_result *result)
{
	char expires[STORAGE_TIME_LEN + 1];

	storage_time(first_to_expire(result), expires);
	buf_putf(text, "Links for the user, to be given unchanged; good until %.10s %.5s UTC:\n",
		 expires, expires + strlen("2030-01-02T"));
	for (size_t i = 0; i < result->links_shown; i++) {
		cleanup_free char *path = sanitize_path_string(result->links[i].path);

		buf_putf(text, "%s: %s\n", path, result->links[i].url);
	}
	if (result->link_count > result->links_shown)
		buf_putf(text, "%zu more: list_artifacts has them.\n",
			 result->link_count - result->links_shown);
}

void storage_links_explain(struct buf *text, const struct exec_result *result)
{
	if (result->links_shown > 0)
		explain_links(text, result);
	if (result->upload_problem != NULL)
		buf_putf(text, "%s\n", result->upload_problem);
	if (result->uploading != NULL)
		buf_putf(text, UNDER_WAY "\n", result->uploading);
}

static void put_link(json_t *object, const struct uploaded *uploaded)
{
	char expires[STORAGE_TIME_LEN + 1];

	storage_time(uploaded->expires, expires);
	json_put_str(object, "sas_url", uploaded->url);
	json_put_str(object, "sas_expires", expires);
}

void storage_links_put_news(json_t *object, const struct exec_result *result)
{
	json_t *links;

	json_put_str(object, "upload_problem", result->upload_problem);
	if (result->uploading != NULL)
		json_put(object, "uploading", json_make_fmt(UNDER_WAY, result->uploading));
	if (result->links_shown == 0)
		return;
	links = json_array();
	for (size_t i = 0; i < result->links_shown; i++) {
		cleanup_free char *path = sanitize_path_string(result->links[i].path);
		json_t *link = json_object();

		json_put_str(link, "path", path);
		put_link(link, &result->links[i]);
		json_append(links, link);
	}
	json_put(object, "links", links);
}

static bool find_uploaded(const struct session *session, const char *path, struct uploaded *ret)
{
	return session_uploads(session) != NULL &&
	       uploads_find(session_uploads(session), path, ret);
}

void storage_links_put(json_t *artifact, const struct session *session, const char *path)
{
	struct uploaded uploaded;

	if (find_uploaded(session, path, &uploaded))
		put_link(artifact, &uploaded);
}

bool storage_links_fit(size_t *left, const struct session *session, const char *path)
{
	struct uploaded uploaded;
	size_t cost;

	if (!find_uploaded(session, path, &uploaded))
		return true;
	cost = LINK_COST + URL_COST * strlen(uploaded.url);
	if (cost > *left)
		return false;
	*left -= cost;
	return true;
}

json_t *storage_links_describe(const struct session *session)
{
	const struct uploads *uploads = session_uploads(session);
	const struct storage_target *target;
	cleanup_buf struct buf endpoint = BUF_INIT(BUF_UNBOUNDED);
	json_t *storage;

	if (uploads == NULL)
		return json_null();
	target = uploads_target(uploads);
	storage = json_object();
	storage_target_endpoint(target, &endpoint);
	json_put_str(storage, "kind", target->kind == STORAGE_AZURE ? "azure" : "s3");
	json_put_str(storage, target->kind == STORAGE_AZURE ? "container" : "bucket",
		     storage_target_container(target));
	json_put_str(storage, "endpoint", buf_str(&endpoint));
	json_put(storage, "prefix", json_make_fmt("%s/", uploads_folder(uploads)));
	json_put_int(storage, "link_hours",
		     (json_int_t)storage_target_hours(target, session_limits(session)->link_hours));
	json_put_int(storage, "files", (json_int_t)uploads_file_count(uploads));
	json_put_int(storage, "bytes", (json_int_t)uploads_byte_count(uploads));
	json_put_int(storage, "under_way", (json_int_t)uploads_under_way(uploads));
	return storage;
}

void storage_links_put_rest(struct buf *text, const struct session *session)
{
	const struct uploads *uploads = session_uploads(session);
	size_t count = uploads != NULL ? uploads_file_count(uploads) : 0;
	cleanup_free char *under_way = NULL;
	const struct storage_target *target;

	if (uploads == NULL)
		return;
	target = uploads_target(uploads);
	under_way = uploads_name_under_way(uploads);
	if (under_way != NULL)
		buf_putf(text,
			 "; %s still on the way to the storage, below %s/, as long as this server "
			 "runs",
			 under_way, uploads_folder(uploads));
	if (count == 0)
		return;
	buf_putf(text,
		 "; %zu file%s %s in the storage's %s '%s', below %s/, until the user "
		 "removes %s",
		 count, count == 1 ? "" : "s", count == 1 ? "stays" : "stay",
		 target->kind == STORAGE_AZURE ? "container" : "bucket",
		 storage_target_container(target), uploads_folder(uploads),
		 count == 1 ? "it" : "them");
}
