/* SPDX-License-Identifier: MIT */
/*
 * keepname.h - the names of exported files and of their folder, and which folders are not exported.
 */
#ifndef WORKSPACE_KEEPNAME_H
#define WORKSPACE_KEEPNAME_H

#include <stdbool.h>

/*
 * Returns DATE-ID-xxxx, or DATE-TITLE-ID-xxxx, with a new random part; the caller frees it.
 * Characters of the id other than letters, digits and "._-" become "-". So do those of the title,
 * which may be NULL, but letters of all languages stay. A long title is cut.
 */
char *keepname_new(const char *session_id, const char *title);
/* Returns true for a name that keepname_new may have made. */
bool keepname_is_folder(const char *name);
/*
 * Returns true for the names of folders that never hold results (".git", "node_modules", ".venv",
 * caches).
 */
bool keepname_is_skipped(const char *name);
/*
 * Returns the path as users write it: "~/ptycell/x" if it is in the user's home. The caller frees
 * it.
 */
char *keepname_show(const char *root, const char *folder);
/*
 * The file in the folder by which ptycell knows the folder again (cmd/files/kept_index.h). No copy
 * has its name, in upper or lower case.
 */
#define KEEPNAME_NOTE ".ptycell"
/* Why a copy does not have the name of its file. */
enum keepname_reason {
	KEEPNAME_SAME,
	KEEPNAME_UNSEEN, /* the name has characters that cannot be shown (text/sanitize.h) */
	KEEPNAME_RUNS,   /* it is a protected name (runnames.h) */
	KEEPNAME_NOTED,  /* it is KEEPNAME_NOTE */
	KEEPNAME_REASONS,
};

/*
 * Returns the name for a copy of `path`: `path` itself, or what was made of it for *ret_reason. The
 * caller frees it.
 */
char *keepname_tame(const char *path, enum keepname_reason *ret_reason);

/* Returns the part of `path` below output/, or `path` itself if it is not in output/. */
const char *keepname_result(const char *path);
/*
 * Returns a numbered name: "plot.png" and 2 give "plot-2.png", 1 gives the name itself. Shortens a
 * long stem. The caller frees it.
 */
char *keepname_numbered(const char *name, int number);

#endif
