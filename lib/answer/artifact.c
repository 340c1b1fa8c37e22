/* SPDX-License-Identifier: MIT */
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
	ARTIFACT_COST = 300, /* bytes of an artifact in an answer, its path aside */
	/* And of each byte of the path: it is there twice and in the uri, escaped, as an object and
	 * as text. */
	ARTIFACT_PATH_COST = 18,
};

char *artifact_shown_path(const char *path, const struct redact *redact)
{
	char *told = xstrdup(path);

	redact_string(redact, &told);
	return told;
}

size_t artifact_find(const struct file_info *files, size_t count, const char *path,
		     const struct redact *redact)
{
	size_t i = redact == NULL || strstr(path, "[secret ") == NULL ? count : 0;

	for (; i < count; i++) {
		cleanup_free char *told = artifact_shown_path(files[i].path, redact);

		if (str_eq(told, path))
			break;
	}
	return i;
}

size_t artifact_after(const struct file_info *files, size_t count, const char *path,
		      const struct redact *redact)
{
	size_t told = artifact_find(files, count, path, redact);
	size_t i = 0;

	if (told < count)
		return told + 1;
	/* Nobody knows where it was: better twice than never. */
	if (redact != NULL && strstr(path, "[secret ") != NULL)
		return 0;
	while (i < count && strcmp(files[i].path, path) <= 0)
		i++;
	return i;
}

char *artifact_uri(const char *session_id, const char *path, const struct redact *redact)
{
	cleanup_free char *told = artifact_shown_path(path, redact);
	cleanup_free char *encoded = percent_encode(told);

	return xasprintf("session://%s/files/%s", session_id, encoded);
}

/* In lower case, as those who compare it expect. "" when it is none that can be shown. */
static json_t *extension(const char *name)
{
	cleanup_free char *lower = sanitize_path_string(mime_extension(name));

	if (lower[0] == '"')
		lower[0] = '\0';

	for (char *c = lower; *c != '\0'; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c | 0x20 : *c);
	return json_make_str(lower);
}

static bool fits(size_t *left, const struct session *session, const struct file_info *file)
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
	const char *slash = strrchr(file->path, '/');
	const char *base = slash != NULL ? slash + 1 : file->path;
	cleanup_free char *path = sanitize_path_string(file->path);
	cleanup_free char *name = sanitize_path_string(base);

	json_put_str(artifact, "path", path);
	json_put_str(artifact, "filename", name);
	json_put(artifact, "extension", extension(base));
	json_put_int(artifact, "size_bytes", (json_int_t)file->size);
	json_put_str(artifact, "mime_type", mime_of_name(file->path));
	json_put_str(artifact, "uri", uri);
	storage_links_put(artifact, session, file->path);
	return artifact;
}

json_t *artifact_describe(const struct session *session, const struct file_info *file, size_t *left)
{
	return fits(left, session, file) ? describe(session, file) : NULL;
}
