/* SPDX-License-Identifier: MIT */
/*
 * artifact.c - describes a file of a session. Secrets in the address are replaced here; those in
 * the path and the name are replaced in mcp/reply.c, with the rest of the result.
 *
 * A shown path is a lossy spelling: "[secret NAME]" stands for the value. A path that comes back
 * from a model is therefore compared with the shown path of every file, and only where it has such
 * a name. Costs are upper bounds, because an answer must fit one line of the transport.
 */
#include "answer/artifact.h"

#include <stdlib.h>
#include <string.h>

#include "answer/storage_links.h"
#include "base/mem.h"
#include "base/util.h"
#include "json/make.h"
#include "redact/redact.h"
#include "session/session.h"
#include "text/mime.h"
#include "text/percent.h"
#include "text/sanitize.h"
#include "workspace/scan.h"

enum {
	ARTIFACT_COST = 300, /* bytes of an artifact in an answer, without its path */
	/* For each byte of the path: twice itself and once in the uri, escaped, all of it as an
	 * object and as text. */
	ARTIFACT_PATH_COST = 18,
};

char *artifact_shown_path(const char *path, const struct redact *redact)
{
	char *shown = xstrdup(path);

	redact_string(redact, &shown);
	return shown;
}

size_t artifact_find(const struct file_info *files, size_t count, const char *path,
		     const struct redact *redact)
{
	size_t i = redact == NULL || strstr(path, "[secret ") == NULL ? count : 0;

	for (; i < count; i++) {
		cleanup_free char *shown = artifact_shown_path(files[i].path, redact);

		if (str_eq(shown, path))
			break;
	}
	return i;
}

size_t artifact_after(const struct file_info *files, size_t count, const char *path,
		      const struct redact *redact)
{
	size_t shown = artifact_find(files, count, path, redact);
	size_t i = 0;

	if (shown < count)
		return shown + 1;
	/* Its place is unknown: listing files twice is better than leaving some out. */
	if (redact != NULL && strstr(path, "[secret ") != NULL)
		return 0;
	while (i < count && strcmp(files[i].path, path) <= 0)
		i++;
	return i;
}

char *artifact_uri(const char *session_id, const char *path, const struct redact *redact)
{
	cleanup_free char *shown = artifact_shown_path(path, redact);
	cleanup_free char *encoded = percent_encode(shown);

	return xasprintf("session://%s/files/%s", session_id, encoded);
}

/* In lower case, because clients compare it. "" when the extension cannot be shown plainly. */
static json_t *make_extension(const char *name)
{
	cleanup_free char *lower = sanitize_path_string(mime_extension(name));

	if (lower[0] == '"')
		lower[0] = '\0';

	for (char *c = lower; *c != '\0'; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
	return json_make_str(lower);
}

static bool take_cost(size_t *left, const struct session *session, const struct file_info *file)
{
	size_t cost = ARTIFACT_COST + ARTIFACT_PATH_COST * strlen(file->path);

	if (cost > *left || !storage_links_fit(left, session, file->path) || cost > *left)
		return false;
	*left -= cost;
	return true;
}

static json_t *describe(const struct session *session, const struct file_info *file)
{
	json_t *artifact = json_object();
	cleanup_free char *uri =
		artifact_uri(session_id(session), file->path, session_settings(session)->redact);
	const char *base = path_base(file->path);
	cleanup_free char *path = sanitize_path_string(file->path);
	cleanup_free char *name = sanitize_path_string(base);

	json_put_str(artifact, "path", path);
	json_put_str(artifact, "filename", name);
	json_put(artifact, "extension", make_extension(base));
	json_put_int(artifact, "size_bytes", (json_int_t)file->size);
	json_put_str(artifact, "mime_type", mime_of_name(file->path));
	json_put_str(artifact, "uri", uri);
	storage_links_put(artifact, session, file->path);
	return artifact;
}

json_t *artifact_describe(const struct session *session, const struct file_info *file, size_t *left)
{
	return take_cost(left, session, file) ? describe(session, file) : NULL;
}

bool artifact_is_hidden(const char *path)
{
	return strncmp(path, "output/", strlen("output/")) != 0 &&
	       (path[0] == '.' || strstr(path, "/.") != NULL);
}
