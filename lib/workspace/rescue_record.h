/* SPDX-License-Identifier: MIT */
/*
 * rescue_record.h - where the results of a session go, for the server that finds its own server
 * killed (rescue.h).
 *
 * RESCUE_RECORD in the session's journal folder is {"root", "folder", "notebook", "report"}, the
 * root percent-encoded. Versions before this file wrote no record. Results of their sessions go
 * where the server that finds them exports its own.
 */
#ifndef WORKSPACE_RESCUE_RECORD_H
#define WORKSPACE_RESCUE_RECORD_H

struct json_t;

#define RESCUE_RECORD "kept"

/*
 * Writes the record. `notebook` and `report` are their names and may be NULL. A failure is only
 * logged.
 */
void rescue_record_write(int journal_fd, const char *root, const char *folder, const char *notebook,
			 const char *report);
/* Reads the record at `path`. Returns a new reference; NULL if there is none. */
struct json_t *rescue_record_read(int dir_fd, const char *path);
/*
 * Returns a record for a session of a version that wrote none, to `root`, as a new reference. Such
 * a version wrote events whether results were exported or not. Returns NULL if there are none.
 */
struct json_t *rescue_record_earlier(int session_fd, const char *root);
/*
 * Returns the root of a record, for the caller to free, and sets *ret_folder, which is borrowed
 * from it. Returns NULL if the record names no folder.
 */
char *rescue_record_target(const struct json_t *record, const char **ret_folder);

/*
 * Reads the record. Returns the folder's name if it is below `root`; the caller frees it. Returns
 * NULL otherwise.
 */
char *rescue_record_folder(int journal_fd, const char *root);
/* Returns the folder's path, or NULL if there is no record. The caller frees it. */
char *rescue_record_path(int journal_fd);
/* Does the same for a text: below the user's home it begins with "~". */
char *rescue_record_shown(int journal_fd);

#endif
