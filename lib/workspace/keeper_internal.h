/* SPDX-License-Identifier: MIT */
/* keeper_internal.h - a keeper's state, and what it and its helper say to each other. */
#ifndef WORKSPACE_KEEPER_INTERNAL_H
#define WORKSPACE_KEEPER_INTERNAL_H

#include "helper/helper.h"
#include "workspace/home.h"
#include "workspace/keeper.h"
#include "workspace/kept.h"

/* A helper that copies; results and the notebook are copied beside each other. */
struct copy {
	struct keeper *keeper;
	int from_fd; /* the notebook's folder; results come from `lock` */
	struct helper *helper;
	struct loop_defer defer;
	struct kept **files;
	size_t file_count;
	size_t asked;  /* of them; the others are tried once more, and no trouble is told again */
	uint64_t size; /* copied of the only file, with `suffix` behind it; 0: all */
	char *suffix;
	uint64_t next_size; /* of the copy that follows at once, when next_suffix is not NULL */
	char *next_suffix;
	bool waiting; /* for the other one to make the folder */
	int lock;     /* shared, on the data folder, from the first copy to the last */
	int tries;
	unsigned int named; /* keeper->names when its helper began */
	size_t copied;
	char *problem;
	char *renamed; /* the sentence about the first altered name */
	void (*done)(struct keeper *keeper, const struct keep_result *result);
};

struct keeper {
	struct home_job job; /* in the home's list once freed with a copy running */
	bool freed;
	struct loop *loop;
	const struct home *home;
	int data_fd; /* borrowed, as the next: not after keeper_free */
	int journal_fd;
	bool keeps_notebook;
	char *helper_path;
	char *root;
	char *seen; /* the data folder as the session sees it */
	char *id;
	uint64_t quota;
	void *data;
	char *folder;   /* below root, made by the first copy */
	char *shown;    /* the folder as people name it */
	char *recorded; /* what the notebook is called in the record of rescue.h; or NULL */
	bool made;
	unsigned int names; /* that `folder` has had */
	bool hung;          /* the last copy did */
	bool last;          /* freed, and what was owed then is on its way */
	bool renamed_told;
	bool folds; /* a helper said that the folder does (keeptree_fold) */
	uint64_t used;
	struct kept_table kept;
	struct copy results;
	struct copy notebook;
};

/* For ptycell-files. The caller frees it. */
json_t *keeper_make_order(struct copy *copy);
/* Notes where results go for the next server, should this one be killed. */
void keeper_record(struct keeper *keeper);
void keeper_take_progress(struct helper *helper, const json_t *progress);
void keeper_note_problem(struct copy *copy, const char *from, const char *reason);

#endif
