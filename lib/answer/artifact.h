/* SPDX-License-Identifier: MIT */
/* artifact.h - a file of a session in answers and resources: its path, address and fields. */
#ifndef ANSWER_ARTIFACT_H
#define ANSWER_ARTIFACT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct file_info;
struct redact;
struct session;

/*
 * Returns path, filename, extension, size_bytes, mime_type and uri of a file, and its link where it
 * has one, as a new reference. Subtracts the bytes that these may take in a line from `left`.
 * Returns NULL when that is too little.
 */
json_t *artifact_describe(const struct session *session, const struct file_info *file,
			  size_t *left);
/* Returns the path with its secrets named. `redact` may be NULL. The caller frees the result. */
char *artifact_shown_path(const char *path, const struct redact *redact);
/* Returns the index of the file with this shown path, or `count`. `redact` may be NULL. */
size_t artifact_find(const struct file_info *files, size_t count, const char *path,
		     const struct redact *redact);
/*
 * Returns the index of the first of the sorted files behind the shown path `path`, whether or not
 * that file still exists. Returns 0 when it had a secret and is gone.
 */
size_t artifact_after(const struct file_info *files, size_t count, const char *path,
		      const struct redact *redact);
/*
 * Returns session://ID/files/PATH, with the shown path percent-encoded; resources/read finds the
 * file by it. `redact` may be NULL. The caller frees the result.
 */
char *artifact_uri(const char *session_id, const char *path, const struct redact *redact);
/*
 * Returns whether answers leave the file out: programs keep notes in hidden files (.viminfo,
 * .config/a), but what is in output/ is a result.
 */
bool artifact_is_hidden(const char *path);

#endif
