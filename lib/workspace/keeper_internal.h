/* SPDX-License-Identifier: MIT */
/* keeper_internal.h - the state of an exporter, and the messages between it and its helper. */
#ifndef WORKSPACE_KEEPER_INTERNAL_H
#define WORKSPACE_KEEPER_INTERNAL_H

#include "base/buf.h"
#include "helper/helper.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/kept.h"

/* One export and its helper. Results and the notebook are exported at the same time. */
struct copy {
	struct keeper *keeper;
	int from_fd; /* the notebook's folder; results are read from `lock` */
	struct helper *helper;
	struct loop_defer defer;
	struct kept **files;
	size_t file_count;
	size_t asked;  /* of `files`; the others are retried, and their problems are not reported
			  again */
	uint64_t size; /* bytes to copy of the only file, followed by `suffix`; 0: all of it */
	char *suffix;
	json_t *report;      /* of the notebook's export; or NULL */
	json_t *next_report; /* of the queued export */
	bool redraw;         /* as in struct keep_result */
	uint64_t next_size;  /* of that export */
	char *next_suffix;
	bool waiting; /* until the other export has made the folder */
	int lock;     /* a shared lock on the data folder, from the first export to the last */
	int tries;
	unsigned int named; /* keeper->names when its helper started */
	size_t copied;
	size_t same;   /* files whose copy was there already */
	char *problem; /* keeper_take_problem ends its last sentence */
	bool mixed;    /* `problem` is about a file that was copied and may not be whole */
	size_t more;   /* files that were not copied either, beyond that of `problem` */
	char *renamed; /* sentences about the first altered name of each reason */
	void (*done)(struct keeper *keeper, const struct keep_result *result);
};

struct keeper {
	struct home_job job; /* in the home's list after keeper_free(), while an export runs */
	struct loop *loop;
	const struct home *home;
	int data_fd; /* both borrowed until keeper_free() */
	int journal_fd;
	char *helper_path;
	char *root;
	char *seen; /* the data folder's path as the session sees it */
	char *id;
	char *title; /* or NULL */
	uint64_t quota;
	struct keeproom *room;
	void *data;
	char *folder;          /* below root, made by the first export */
	char *shown;           /* the folder's path as users write it */
	char *path;            /* of the folder, for keeper_path; or NULL */
	char *recorded;        /* the notebook's name in the record of rescue.h; or NULL */
	char *recorded_report; /* the report's */
	struct buf log;        /* lines for keeplog.h */
	struct keeper_notebook *notebooks; /* copies of the notebook that may be there */
	size_t notebook_count;
	uint64_t used;
	struct kept_table kept;
	struct copy results;
	struct copy notebook;
	unsigned int names; /* how many names `folder` has had */
	unsigned int there; /* the value of `names` whose folder is made; 0: none */
	bool keeps_notebook;
	bool made;
	bool resumed;  /* an earlier life of the session may have made the folder */
	bool gone;     /* it had made the folder, which was not there any more at the start */
	bool compares; /* copies that the record lacks are found by their content */
	bool log_renewed;
	bool hung; /* the last export hung */
	bool freed;
	bool last;  /* freed, and the last export of due files is running */
	bool folds; /* the helper reported that the folder's file system does (keeptree_fold) */
	bool reported[KEEPNAME_REASONS]; /* that names are altered for this reason */
};

/* Returns true if the notebook or the report has another name than the record says. */
bool keeper_names_changed(const struct keeper *keeper);
/* Exports no report this time: it may name the folder that was planned. */
void keeper_drop_report(struct copy *copy);
/* Returns true if a helper has made the folder, in this life or an earlier one. */
bool keeper_has_folder(const struct keeper *keeper);
/* Notes the size and time of files that a helper which failed may have copied without a report. */
void keeper_note_seen(struct copy *copy);
/* Returns a request for ptycell-files. The caller frees it. */
json_t *keeper_make_request(struct copy *copy);
/* Records where results go, so that the next server can export them if this one is killed. */
void keeper_record(struct keeper *keeper);
void keeper_take_progress(struct helper *helper, const json_t *progress);
/*
 * Notes a problem of an export. `from` names the file and may be NULL. Of problems after the first
 * only the files are noted.
 */
void keeper_note_problem(struct copy *copy, const char *from, const char *reason);
/* Returns what was noted, or NULL. The caller frees it. */
char *keeper_take_problem(struct copy *copy);

#endif
