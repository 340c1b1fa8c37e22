/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - exports a session's results to the user's folder.
 *
 * It runs in ptycell-files, because exports can be large. Only regular files are exported. A link
 * in output/ to a file of the session's folder is exported as that file; no other link is followed
 * (cmd/files/source.c). A copy gets a temporary name, mode 0600 and then its final name. It
 * overwrites only files that this session exported, within a quota. No copy has a protected name of
 * runnames.h.
 */
#ifndef WORKSPACE_KEEPER_H
#define WORKSPACE_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/loop.h"
#include "json/make.h"
#include "workspace/workspace.h"

struct keeper;
struct keeproom;

struct keep_result {
	size_t copied;
	size_t failed;
	bool redraw; /* the report was not exported: it names a folder that is another's now */
	const char *error;   /* the first problem of this call as a sentence, or NULL */
	const char *renamed; /* a sentence for each reason (keepname.h) for which a file's name was
				altered, about the first such file; or NULL. An exporter gives each
				sentence once */
};

/* The facts by which a later server recognises an exported copy of the notebook. */
struct keeper_notebook {
	uint64_t size;
	uint32_t crc;
};

/* An export of the notebook. Borrowed for the call. */
struct keeper_notebook_copy {
	const char *file; /* in the journal's folder */
	uint64_t size;
	const char *suffix;
	/* The report as {"head", "size", "tail", "facts"} (journal/journal_report.h), or NULL. Its
	 * head may name keeper_planned(). */
	json_t *report;
};

/* Everything but `loop` and `workspace` is borrowed for the call of keeper_new only. */
struct keeper_spec {
	struct loop *loop;
	const struct workspace *workspace;
	const char *helper; /* path of ptycell-files */
	const char *root; /* PTYCELL_KEEP as an absolute path, or NULL if off. The session's folder
			     DATE-ID-xxxx below it is made when the first file is exported. */
	struct keeproom *room; /* of all sessions, borrowed; NULL: without a limit */
	bool notebook; /* if this server is killed, the next one exports notebook and report */
	const char *session_id;
	/*
	 * The session is resumed: exports go on in the folder of its earlier life, where they
	 * update the copies that it made.
	 */
	bool resumed;
	/* Copies of the notebook that the earlier life made, the last one last. */
	const struct keeper_notebook *notebooks;
	size_t notebook_count;
	void *data;
};

/* Makes an exporter, which makes no folder before its first file. */
struct keeper *keeper_new(const struct keeper_spec *spec);
void *keeper_data(const struct keeper *keeper);
/*
 * Sets the title that the name of the folder has. The first one counts, and only before the folder
 * is made.
 */
void keeper_set_title(struct keeper *keeper, const char *title);
/* Sets the quota for later exports. It is 0 at the start. */
void keeper_set_quota(struct keeper *keeper, uint64_t quota_bytes);
/*
 * Frees `keeper`, which may be NULL, without calling `done`. A running export continues to its end;
 * then the files that are still due are tried a last time.
 */
void keeper_free(struct keeper *keeper);
/*
 * Exports the files `paths` (relative to data), and the files that are still due because an earlier
 * export failed for a reason that may pass. Results keep their path below output/; others go into a
 * folder "files". Only problems of `paths` are reported, and the first one of each whole output.
 * `done` is called from the loop. Must not be called while an export runs.
 */
void keeper_copy(struct keeper *keeper, const char *const *paths, size_t count,
		 void (*done)(struct keeper *keeper, const struct keep_result *result));
/* Marks a result as due without trying to export it. `path` is relative to data. */
void keeper_mark_due(struct keeper *keeper, const char *path);
/*
 * Marks an input as due, unless its copy exists: the original of an import, by its name in the
 * folder of originals (original.h). It is exported to a folder "input", only if it leaves half of
 * the quota's rest for results. Returns whether it is due.
 */
bool keeper_mark_input(struct keeper *keeper, const char *name);
/*
 * Marks a cell's whole output as due: the spool file `file` of `size` bytes. It is exported to a
 * folder "outputs" as `name`. Returns the path below the folder of the exports, which the caller
 * frees. Returns NULL and marks nothing without a root, or if it leaves less than half of the
 * quota's rest to results.
 */
char *keeper_mark_output(struct keeper *keeper, const char *file, const char *name, uint64_t size);
/*
 * Marks a result as due if its copy is not one of this size and time. Used if the server of the
 * session's earlier life was killed: a copy with the same content is then found, and not made
 * again.
 */
void keeper_mark_missing(struct keeper *keeper, const char *path, uint64_t size, uint64_t mtime_ns);
/*
 * Forgets which files of the data folder are due, because the folder has other files now. Inputs
 * and whole outputs stay due. No export may run.
 */
void keeper_forget_due(struct keeper *keeper);
/* Returns true if no export of results runs or is due. An export of the notebook does not count. */
bool keeper_is_settled(const struct keeper *keeper);
/* Returns true if the file was exported or is due. */
bool keeper_knows(const struct keeper *keeper, const char *path);
int keeper_data_fd(const struct keeper *keeper);
/* Returns how many files are due. Sets *ret_path to the first of them if there is one. */
size_t keeper_count_due(const struct keeper *keeper, const char **ret_path);
/*
 * Exports the notebook: the first `size` bytes of the journal's file `file`, which never change,
 * followed by `suffix`, and the report if there is one. It
 * may run at the same time as keeper_copy(). While an export of the notebook runs, only the newest
 * call is queued, and its `done` is called once for all. keeper_free() lets both continue to their
 * end.
 */
void keeper_copy_notebook(struct keeper *keeper, const struct keeper_notebook_copy *wanted,
			  void (*done)(struct keeper *keeper, const struct keep_result *result));
/* Returns the path of the folder, or NULL without a root. Borrowed for one turn of the loop. */
const char *keeper_path(struct keeper *keeper);
/* Returns the folder as the user would write it, or NULL before the first file was exported. */
const char *keeper_folder(const struct keeper *keeper);
/*
 * Returns true if the session's earlier life exported to a folder that was not there any more when
 * this one began.
 */
bool keeper_folder_is_gone(const struct keeper *keeper);
/* Returns the folder in which the next file is stored, as keeper_folder does; NULL without a root.
 */
const char *keeper_planned(const struct keeper *keeper);

#endif
