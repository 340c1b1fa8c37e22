/* SPDX-License-Identifier: MIT */
/*
 * databases.h - which databases a session may query, by name.
 *
 * "default" and other names come from the settings; "files" are the session's own CSV files; a
 * path is a SQLite file of the session. Of what the settings say only names are ever shown.
 */
#ifndef QUERY_DATABASES_H
#define QUERY_DATABASES_H

#include <jansson.h>

#include "base/err.h"
#include "config/settings.h"

struct shares;

/* The names, that first which a query without one means. A new reference. */
json_t *databases_list(const struct settings *settings);
/* Whether `name`, NULL for the default, is one that the settings name: no file of the session. */
bool databases_is_named(const struct settings *settings, const char *name);
/*
 * What ptycell-sql is told of it, a new reference, with secrets in it. `name` NULL is the default;
 * `data_path` is the session's folder as the session sees it. The person's own files of unixODBC
 * count unless sessions can change them by `shares`, which may be NULL.
 */
json_t *databases_find(const struct settings *settings, const struct shares *shares,
		       const char *name, const char *data_path, struct err *err) MUST_CHECK;

#endif
