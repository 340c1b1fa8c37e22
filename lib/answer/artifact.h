/* SPDX-License-Identifier: MIT */
/* artifact.h - a file of a session as answers and resources name it: path, address, fields. */
#ifndef ANSWER_ARTIFACT_H
#define ANSWER_ARTIFACT_H

#include <jansson.h>
#include <stddef.h>

struct file_info;
struct redact;
struct session;

/*
 * path, filename, extension, size_bytes, mime_type, uri of a file, and its link where it has one.
 * Takes what that may cost of a line from `left`; NULL when there is not so much.
 */
json_t *artifact_describe(const struct session *session, const struct file_info *file,
			  size_t *left);
/* The path with secrets (`redact`, or NULL) named. The caller frees it. */
char *artifact_shown_path(const char *path, const struct redact *redact);
/* Which of the files is told by this path, in which secrets are named; `count`: none. */
size_t artifact_find(const struct file_info *files, size_t count, const char *path,
		     const struct redact *redact);
/*
 * Where the files, which are sorted, go on behind `path`, whether or not that is there still; from
 * the start when that had a secret and is gone.
 */
size_t artifact_after(const struct file_info *files, size_t count, const char *path,
		      const struct redact *redact);
/*
 * session://ID/files/PATH with PATH percent-encoded, in which secrets (`redact`, or NULL) are
 * named: by that, too, it can be read. The caller frees it.
 */
char *artifact_uri(const char *session_id, const char *path, const struct redact *redact);

#endif
