/* SPDX-License-Identifier: MIT */
/*
 * databases.h - the databases that a session may query, by name.
 *
 * "default" and further names come from the settings. "files" stands for the session's own CSV
 * files, and a path is a SQLite file of the session. Only names of settings are shown to a model.
 */
#ifndef QUERY_DATABASES_H
#define QUERY_DATABASES_H

#include <jansson.h>

#include "base/buf.h"
#include "base/err.h"
#include "config/settings.h"

struct shares;

/* Returns the names as a new reference; the first is that of a query without a name. */
json_t *databases_list(const struct settings *settings);
/* Appends the names in quotes, with commas between. */
void databases_put_names(const struct settings *settings, struct buf *out);
/* Returns whether the settings name `name`: it is no file of the session. NULL is the default. */
bool databases_is_named(const struct settings *settings, const char *name);
/*
 * Returns the database for a request to ptycell-sql as a new reference, which has secrets in it.
 * Returns NULL and sets *err when there is none. `name` NULL is the default; `data_path` is the
 * session's folder as the session sees it. The user's own files of unixODBC are used unless session
 * code can change them through `shares`, which may be NULL.
 */
json_t *databases_find(const struct settings *settings, const struct shares *shares,
		       const char *name, const char *data_path, struct err *err) MUST_CHECK;

#endif
