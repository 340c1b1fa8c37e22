/* SPDX-License-Identifier: MIT */
/*
 * kept_index.h - the page that lists the sessions whose results are below PTYCELL_KEEP.
 *
 * A folder is a session's if it has the file KEEPNAME_NOTE (keepname.h), which says what the page
 * has of it. No result gets that name: session code cannot make a note. The page is index.html, or
 * a numbered name where that is another's.
 */
#ifndef FILES_KEPT_INDEX_H
#define FILES_KEPT_INDEX_H

#include <jansson.h>

#include "base/err.h"

/*
 * Writes the note of a folder. `facts` are those of journal_report_facts(), and `report` is the
 * report's name. Returns -1 and sets *err.
 */
int kept_index_note(int folder_fd, const json_t *facts, const char *report,
		    struct err *err) MUST_CHECK;
/*
 * Draws the page from the notes of all folders of the root. Returns -1 and sets *err: ERR_BUSY if
 * another program keeps the root locked.
 */
int kept_index_draw(int root_fd, struct err *err) MUST_CHECK;

#endif
