/* SPDX-License-Identifier: MIT */
/* links.h - what answers say about results in the storage. */
#ifndef ANSWER_STORAGE_LINKS_H
#define ANSWER_STORAGE_LINKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct exec_result;
struct session;

/* New links as lines for the user, and what was not uploaded; nothing where there is none. */
void storage_links_explain(struct buf *text, const struct exec_result *result);
/* The same in an object: "links", "upload_problem" and "uploading". */
void storage_links_put_news(json_t *object, const struct exec_result *result);
/* "sas_url" and "sas_expires" of a file (relative to data) that has a link. */
void storage_links_put(json_t *artifact, const struct session *session, const char *path);
/* Takes what they cost of a line from `left`; false when there is not so much. */
bool storage_links_fit(size_t *left, const struct session *session, const char *path);
/* The storage that is on, for session_info; null when none is. New reference. */
json_t *storage_links_describe(const struct session *session);
/* Where its results lie on, after a comma; nothing when they do nowhere. */
void storage_links_put_rest(struct buf *text, const struct session *session);

#endif
