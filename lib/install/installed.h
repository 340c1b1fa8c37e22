/* SPDX-License-Identifier: MIT */
/*
 * installed.h - the packages that sessions have, and their record for a session's later life.
 *
 * The file INSTALLED_RECORD in the session's journal folder has a row for each language:
 * {"language", "from", "wanted", "result"}. The packages themselves are in the session's folder.
 */
#ifndef INSTALL_INSTALLED_H
#define INSTALL_INSTALLED_H

#include <jansson.h>

#include "base/list.h"

struct language;

#define INSTALLED_RECORD "packages"

/* The packages that a session has in one language. */
struct installed {
	struct list node;
	char *folder;
	const struct language *language;
	char *from;     /* indexes_describe */
	json_t *wanted; /* everything that was requested, as it was written */
	json_t *result; /* in the form of install_done_fn */
};

/* Returns the row of a session's folder; adds it if `add`, else may return NULL. */
struct installed *installed_find(struct list *all, const char *folder,
				 const struct language *language, bool add);
void installed_free(struct installed *one);
/* Writes the rows of a folder. A failure is only logged. */
void installed_write(struct list *all, const char *folder, int journal_fd);
/* Adds the rows that an earlier life wrote, unless the folder has rows. */
void installed_read(struct list *all, const char *folder, int journal_fd);

#endif
