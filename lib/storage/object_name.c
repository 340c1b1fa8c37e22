/* SPDX-License-Identifier: MIT */
/*
 * object_name.c - names objects so that links stay readable, and decides which types a browser may
 * show. Files come from session code: an HTML page or SVG shown inline would run its scripts under
 * the storage's own origin.
 */
#include "storage/object_name.h"

#include <inttypes.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/util.h"
#include "text/mime.h"
#include "text/percent.h"
#include "text/sanitize.h"

/* Pages and drawings could carry scripts that would run under the storage's own name. */
static const char *const shown_types[] = { "image/png",  "image/jpeg", "image/gif",
					   "image/webp", "text/plain", "application/pdf" };

/* Hashes a path: FNV-1a. Session code that makes two paths collide loses only a file of its own. */
static uint32_t hash_of(const char *path)
{
	uint32_t hash = 0x811c9dc5U;

	for (; *path != '\0'; path++)
		hash = (hash ^ (unsigned char)*path) * 0x01000193U;
	return hash;
}

/* Marks the name before its extension, which gives the type. */
static char *mark_name(const char *name, const char *path)
{
	const char *base = path_base(name);
	const char *dot = strrchr(base, '.');
	size_t stem = dot != NULL && dot > base ? (size_t)(dot - name) : strlen(name);

	return xasprintf("%.*s-%08" PRIx32 "%s", (int)stem, name, hash_of(path), name + stem);
}

static char *below_folder(const char *path)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_name(&clean, path, strlen(path));
	/* Azure treats it as a slash. */
	for (char *c = clean.data; c != NULL && (c = strchr(c, '\\')) != NULL;)
		*c = '_';
	return str_eq(buf_str(&clean), path) ? xstrdup(path) : mark_name(buf_str(&clean), path);
}

char *storage_name(const char *folder, const char *path, struct err *err)
{
	cleanup_free char *below = below_folder(path);
	cleanup_free char *name = xasprintf("%s/%s", folder, below);

	if (strlen(name) > STORAGE_NAME_MAX) {
		(void)err_set(err, ERR_LIMIT, "its path is longer than the storage allows");
		return NULL;
	}
	return mem_steal(&name);
}

char *storage_content_type(const char *name)
{
	const char *type = mime_of_name(name);

	return xasprintf("%s%s", type, strncmp(type, "text/", 5) == 0 ? "; charset=utf-8" : "");
}

static bool is_shown(const char *type)
{
	for (size_t i = 0; i < ARRAY_SIZE(shown_types); i++)
		if (str_eq(type, shown_types[i]))
			return true;
	return false;
}

char *storage_disposition(const char *name)
{
	const char *base = path_base(name);
	cleanup_free char *ascii = xstrdup(base);
	cleanup_free char *encoded = percent_encode(base);

	for (char *c = ascii; *c != '\0'; c++)
		if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\' || *c == '%')
			*c = '_';
	return xasprintf("%s; filename=\"%s\"; filename*=UTF-8''%s",
			 is_shown(mime_of_name(name)) ? "inline" : "attachment", ascii, encoded);
}

void storage_time(time_t time, char text[STORAGE_TIME_LEN + 1])
{
	struct tm utc;

	text[0] = '\0';
	if (gmtime_r(&time, &utc) != NULL)
		(void)strftime(text, STORAGE_TIME_LEN + 1, "%Y-%m-%dT%H:%M:%SZ", &utc);
}
