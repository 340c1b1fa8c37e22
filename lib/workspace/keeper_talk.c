/* SPDX-License-Identifier: MIT */
/*
 * keeper_talk.c - requests to ptycell-files, and its replies. Results are not synced to the disk
 * while an answer waits for them: a later export, for which no answer waits, syncs them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/fd.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/util.h"
#include "json/get.h"
#include "json/make.h"
#include "text/quotation.h"
#include "workspace/beneath.h"
#include "workspace/keeper_internal.h"
#include "workspace/keeplog.h"
#include "workspace/keepname.h"
#include "workspace/keeproom.h"
#include "workspace/keeptext.h"
#include "workspace/original.h"
#include "workspace/rescue_record.h"

enum { MORE_NAMED_MAX = 3 };

/* ---- the folder ---- */

const char *keeper_folder(const struct keeper *keeper)
{
	return keeper->made ? keeper->shown : NULL;
}

const char *keeper_path(struct keeper *keeper)
{
	free(keeper->path);
	keeper->path =
		keeper->root == NULL ? NULL : xasprintf("%s/%s", keeper->root, keeper->folder);
	return keeper->path;
}

bool keeper_has_folder(const struct keeper *keeper)
{
	return keeper->made || keeper->resumed || keeper->there == keeper->names;
}

const char *keeper_planned(const struct keeper *keeper)
{
	return keeper->shown;
}

/* ---- requests ---- */

static void put_known(json_t *file, const struct kept *kept)
{
	json_put_bool(file, "known", kept->known);
	json_put_int(file, "ino", kept->ino);
	json_put_int(file, "mtime", kept->mtime_ns);
	json_put_int(file, "size", kept->size);
}

/* Lists the copies of an earlier life; one of them may be at "to". */
static void put_notebooks(json_t *file, const struct keeper *keeper)
{
	json_t *copies = json_array();

	for (size_t i = 0; i < keeper->notebook_count; i++) {
		json_t *copy = json_object();

		json_put_int(copy, "size", (json_int_t)keeper->notebooks[i].size);
		json_put_int(copy, "crc", (json_int_t)keeper->notebooks[i].crc);
		json_append(copies, copy);
	}
	json_put(file, "copies", copies);
}

static json_t *order_file(const struct copy *copy, const struct kept *kept)
{
	cleanup_free char *to = keeptree_path(kept->place);
	json_t *file = json_object();

	json_put_path(file, "from", kept->from);
	json_put_path(file, "to", to);
	put_known(file, kept);
	json_put_bool(file, "spare", kept->spare);
	json_put_bool(file, "whole", kept->whole);
	json_put_bool(file, "along", kept->along);
	if (kept->seen_size >= 0) {
		json_put_int(file, "seen_size", kept->seen_size);
		json_put_int(file, "seen_mtime", kept->seen_mtime_ns);
	}
	if (kept->is_notebook)
		put_notebooks(file, copy->keeper);
	json_put_bool(file, "report", kept->is_report);
	if (kept->is_notebook && copy->suffix != NULL) {
		json_put_int(file, "take", (json_int_t)(copy->size & INT64_MAX));
		json_put_int(file, "stays", (json_int_t)(kept->stays & INT64_MAX));
		json_put_str(file, "suffix", copy->suffix);
	}
	return file;
}

static json_t *order_moves(struct keeper *keeper)
{
	json_t *moves = json_array();

	list_for_each (const struct keepmove, move, keeptree_moves(keeper->kept.tree), node) {
		json_t *value = json_object();

		json_put_int(value, "move", move->id);
		json_put_path(value, "at", move->at);
		json_put_path(value, "to", move->to);
		if (move->place->data != NULL)
			put_known(value, move->place->data);
		json_append(moves, value);
	}
	return moves;
}

void keeper_record(struct keeper *keeper)
{
	struct keeptree *tree = keeper->kept.tree;

	mem_cleanup(&keeper->recorded);
	mem_cleanup(&keeper->recorded_report);
	if (keeper->keeps_notebook) {
		keeper->recorded = keeptree_path(keeptree_notebook(tree));
		keeper->recorded_report = keeptree_path(keeptree_report(tree));
	}
	rescue_record_write(keeper->journal_fd, keeper->root, keeper->folder, keeper->recorded,
			    keeper->recorded_report);
}

bool keeper_names_changed(const struct keeper *keeper)
{
	cleanup_free char *notebook = NULL;
	cleanup_free char *report = NULL;

	if (!keeper->keeps_notebook)
		return false;
	notebook = keeptree_path(keeptree_notebook(keeper->kept.tree));
	report = keeptree_path(keeptree_report(keeper->kept.tree));
	return !str_eq(notebook, keeper->recorded) || !str_eq(report, keeper->recorded_report);
}

/* Returns true if no answer waits for this export: it syncs files to the disk. */
static bool is_durable(const struct copy *copy)
{
	return copy->keeper->freed || copy == &copy->keeper->notebook;
}

/*
 * Lists exported results that are not synced yet. The notebook's helper, which no answer waits for,
 * syncs them.
 */
static json_t *order_syncs(const struct copy *copy)
{
	json_t *paths = json_array();

	list_for_each (struct kept, kept, &copy->keeper->kept.all, node) {
		cleanup_free char *path = NULL;

		if (!is_durable(copy) || kept->synced || !kept->known)
			continue;
		path = keeptree_path(kept->place);
		json_append(paths, json_make_path(path));
		kept->synced = true;
	}
	return paths;
}

void keeper_drop_report(struct copy *copy)
{
	if (copy->report == NULL)
		return;
	json_decref(copy->report);
	copy->report = NULL;
	copy->redraw = true;
	copy->file_count = copy->asked;
}

json_t *keeper_make_request(struct copy *copy)
{
	struct keeper *keeper = copy->keeper;
	json_t *request = json_object();
	json_t *files = json_array();
	uint64_t room = keeper->quota > keeper->used ? keeper->quota - keeper->used : 0;

	if (!keeper->freed && keeper_names_changed(keeper))
		keeper_record(keeper); /* one of them gave its name up to a file */
	json_put_str(request, "op", copy->report != NULL ? "keep-report" : "keep");
	if (copy->report != NULL)
		json_put(request, "report", json_incref(copy->report));
	json_put_path(request, "root", keeper->root);
	json_put_str(request, "folder", keeper->folder);
	json_put_path(request, "seen", keeper->seen);
	json_put_bool(request, "fresh", !keeper_has_folder(keeper));
	json_put_bool(request, "compare", keeper->compares && copy == &keeper->results);
	json_put_bool(request, "folds", keeptree_folds(keeper->kept.tree));
	json_put(request, "moves", order_moves(keeper));
	json_put_bool(request, "durable", is_durable(copy));
	json_put(request, "sync", order_syncs(copy));
	json_put_int(request, "room", (json_int_t)(room & INT64_MAX));
	if (keeper->room != NULL && keeproom_left(keeper->room) != UINT64_MAX) {
		json_put_int(request, "total_room", (json_int_t)keeproom_left(keeper->room));
		json_put_int(request, "total_max", (json_int_t)keeproom_max(keeper->room));
	}
	for (size_t i = 0; i < copy->file_count; i++)
		json_append(files, order_file(copy, copy->files[i]));
	json_put(request, "files", files);
	return request;
}

void keeper_note_seen(struct copy *copy)
{
	for (size_t i = 0; i < copy->file_count; i++) {
		struct kept *kept = copy->files[i];
		bool is_file = !kept->spare && !kept->whole && !kept->is_notebook &&
			       !kept->is_report && !kept->settled;
		cleanup_fd int fd =
			is_file ? beneath_open(copy->lock, kept->from, O_PATH | O_NOFOLLOW, 0) : -1;
		struct stat st;

		if (fd < 0 || fstat(fd, &st) < 0)
			continue;
		kept->seen_size = st.st_size;
		kept->seen_mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
	}
}

/* ---- replies ---- */

static char *explain(const struct keeper *keeper, const char *from, const char *reason)
{
	const struct keeptext_limits limits = { .quota = keeper->quota,
						.total = keeper->room == NULL
								 ? 0
								 : keeproom_max(keeper->room),
						.root = keeper->root };

	return keeptext_problem(from, reason, &limits);
}

/* Names another file that was not copied. */
static void note_more(struct copy *copy, const char *from)
{
	cleanup_free char *name = NULL;
	cleanup_free char *before = NULL;

	if (from == NULL || copy->more++ >= MORE_NAMED_MAX)
		return;
	name = quotation_of_path(path_base(from));
	before = mem_steal(&copy->problem);
	copy->problem =
		xasprintf("%s%s %s", before, copy->more == 1 ? " Also not saved:" : ",", name);
}

void keeper_note_problem(struct copy *copy, const char *from, const char *reason)
{
	bool mixed = str_eq(reason, "mixed"); /* it changed meanwhile, and was copied */

	if (copy->problem != NULL && mixed)
		return;
	if (copy->problem != NULL && !copy->mixed) {
		note_more(copy, from);
		return;
	}
	free(copy->problem);
	copy->problem = explain(copy->keeper, from, reason);
	copy->mixed = mixed;
	copy->more = 0;
	if (copy->keeper->freed) /* no caller asks for it any more */
		log_warn("keeper", "'%s': %s", copy->keeper->id, copy->problem);
}

char *keeper_take_problem(struct copy *copy)
{
	cleanup_free char *problem = mem_steal(&copy->problem);

	if (problem == NULL || copy->more == 0)
		return mem_steal(&problem);
	if (copy->more <= MORE_NAMED_MAX)
		return xasprintf("%s.", problem);
	return xasprintf("%s and %zu more.", problem, copy->more - MORE_NAMED_MAX);
}

/* Returns the name by which the session knows the file. */
static const char *session_name(const struct kept *kept)
{
	return kept->spare ? original_import_name(kept->from) : keepname_result(kept->from);
}

static void note_renamed(struct copy *copy, const struct kept *kept)
{
	enum keepname_reason reason = keeptree_reason(kept->place);
	cleanup_free char *to = NULL;
	cleanup_free char *text = NULL;

	if (reason == KEEPNAME_SAME || copy->keeper->reported[reason])
		return;
	to = keeptree_path(kept->place);
	copy->keeper->reported[reason] = true;
	text = keeptext_renamed(session_name(kept), to, reason);
	if (copy->keeper->freed)
		log_info("keeper", "'%s': saved %s", copy->keeper->id, text);
	keeptext_add(&copy->renamed, text);
}

static void take_copy(struct copy *copy, struct kept *kept, const json_t *progress)
{
	struct keeper *keeper = copy->keeper;
	cleanup_free char *to = json_path_of(json_object_get(progress, "to"));
	json_int_t size = json_integer_value(json_object_get(progress, "size"));

	if (to == NULL || size < 0)
		return;
	if (keeper->room != NULL && !json_is_true(json_object_get(progress, "same")))
		keeproom_count(keeper->room, kept->known ? (uint64_t)kept->size : 0,
			       (uint64_t)size);
	if (kept->known)
		keeper->used -= (uint64_t)kept->size;
	keeper->used += (uint64_t)size;
	keeptree_put(keeper->kept.tree, kept->place, to);
	kept->ino = json_integer_value(json_object_get(progress, "ino"));
	kept->mtime_ns = json_integer_value(json_object_get(progress, "mtime"));
	kept->size = size;
	kept->known = true;
	kept->stays = copy->size;
	kept->seen_size = -1;
	kept->synced = is_durable(copy);
	kept->linked = json_is_true(json_object_get(progress, "linked"));
	keeplog_add(keeper, kept);
	keeper->made = true;
	if (kept->is_notebook)
		keeper->notebook_count = 0; /* it is known from now on */
	if (json_is_true(json_object_get(progress, "same"))) {
		copy->same++;
		return;
	}
	note_renamed(copy, kept);
	copy->copied++;
}

/*
 * Takes the result of a move: the copy has its new name, or could not be moved and is not ours any
 * more.
 */
static void take_move(struct keeper *keeper, int id, const json_t *progress)
{
	cleanup_free char *to = json_path_of(json_object_get(progress, "to"));

	list_for_each (struct keepmove, move, keeptree_moves(keeper->kept.tree), node) {
		struct kept *kept = move->place->data;

		if (move->id != id)
			continue;
		if (to == NULL && kept != NULL)
			kept->known = false;
		keeptree_moved(move, to);
		keeplog_renew(keeper);
	}
}

static void log_report(const struct keeper *keeper, const char *problem)
{
	cleanup_free char *text = explain(keeper, NULL, problem);

	log_warn("keeper", "'%s': the report is not saved: %s", keeper->id, text);
}

/* Reports problems of requested files. Of a whole output, which no caller requests, the first one.
 */
static void note_file(struct copy *copy, size_t index, const char *problem)
{
	struct kept *kept = copy->files[index];
	cleanup_free char *to = NULL;

	if (kept->is_report) {
		if (!kept->reported)
			log_report(copy->keeper, problem);
		kept->reported = true;
	} else if (kept->whole && !kept->reported) {
		kept->reported = true;
		to = keeptree_path(kept->place);
		keeper_note_problem(copy, to, problem);
	} else if (index < copy->asked) {
		keeper_note_problem(copy, session_name(kept), problem);
	}
}

static void take_file(struct copy *copy, size_t index, const json_t *progress)
{
	const char *problem = json_string_value(json_object_get(progress, "problem"));

	copy->files[index]->settled = !json_is_true(json_object_get(progress, "again"));
	if (copy->files[index]->settled)
		copy->files[index]->owed = false;
	if (problem == NULL && !json_is_true(json_object_get(progress, "unchanged")))
		take_copy(copy, copy->files[index], progress);
	if (json_is_true(json_object_get(progress, "mixed")))
		problem = "mixed";
	if (problem != NULL)
		note_file(copy, index, problem);
}

void keeper_take_progress(struct helper *helper, const json_t *progress)
{
	struct copy *copy = helper_data(helper);
	const json_t *file = json_object_get(progress, "file");
	const json_t *move = json_object_get(progress, "move");
	json_int_t index = json_integer_value(file);
	const json_t *total = json_object_get(progress, "total");

	if (json_is_integer(total) && copy->keeper->room != NULL)
		keeproom_set(copy->keeper->room, (uint64_t)json_integer_value(total));
	if (json_is_true(json_object_get(progress, "made")))
		copy->keeper->there = copy->named;
	if (json_is_true(json_object_get(progress, "folds")))
		copy->keeper->folds = true;
	if (json_is_integer(move))
		take_move(copy->keeper, (int)json_integer_value(move), progress);
	if (json_is_integer(file) && index >= 0 && (size_t)index < copy->file_count)
		take_file(copy, (size_t)index, progress);
}
