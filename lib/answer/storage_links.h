/* SPDX-License-Identifier: MIT */
/* storage_links.h - results in the storage, as answers show them. */
#ifndef ANSWER_STORAGE_LINKS_H
#define ANSWER_STORAGE_LINKS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

struct exec_result;
struct session;

/* Appends new links as lines for the user, and the results that were not uploaded, if any. */
void storage_links_explain(struct buf *text, const struct exec_result *result);
/* Puts the same into an object: "links", "upload_problem" and "uploading". */
void storage_links_put_news(json_t *object, const struct exec_result *result);
/* Puts "sas_url" and "sas_expires" of a file (relative to data), if it has a link. */
void storage_links_put(json_t *artifact, const struct session *session, const char *path);
/* Subtracts the bytes of these two from `left`. Returns false when that is too little. */
bool storage_links_fit(size_t *left, const struct session *session, const char *path);
/* Returns the storage for session_info, null when none is set. New reference. */
json_t *storage_links_describe(const struct session *session);
/* Appends, after a comma, where the results stay stored; nothing when they are not stored. */
void storage_links_put_rest(struct buf *text, const struct session *session);

#endif
