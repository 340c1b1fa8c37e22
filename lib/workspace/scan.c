/* SPDX-License-Identifier: MIT */
/*
 * scan.c - walks a workspace and compares two snapshots, a step at a time. Each folder is opened by
 * its whole path, so depth costs no descriptors. FIFOs and other kinds count as entries, too:
 * otherwise session code could keep a scan busy. If files were left out, a missing file is not
 * reported as deleted.
 */
#include "workspace/scan.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"
#include "workspace/beneath.h"
#include "workspace/content_hash.h"
#include "workspace/file_stat.h"
#include "workspace/keepname.h"
#include "workspace/scan_fast.h"
#include "workspace/snapshot.h"

enum {
	FOLDERS_MAX = 20000,
	ENTRIES_MAX = 4 * SCAN_FILES_MAX, /* FIFOs and other kinds count, too: otherwise they could
					     keep a scan busy */
	NAMES_SIZE = 16 << 10,            /* size of one getdents64 buffer */
	BLOCK_BYTES = 512,                /* unit of stx_blocks */
	CLOCK_EVERY = 32,                 /* entries between two reads of the clock */
};

enum phase { PHASE_WALK, PHASE_SORT, PHASE_COMPARE, PHASE_IDLE };

struct folder {
	struct folder *next;
	const char *path; /* in the snapshot; "" for the top */
};

struct scan {
	struct loop *loop;
	const struct workspace *workspace;
	void *data;
	void (*done)(struct scan *scan);
	struct loop_defer defer;
	enum phase phase;
	bool first;
	uint64_t disk_bytes; /* of the last finished scan */
	bool counts;         /* the next scan is compared with `now`, otherwise with `before` */
	struct snapshot before;
	struct snapshot now;
	char *closed_told; /* by scan_tell_closed(); may be NULL */
	struct change *changes;
	size_t change_count;
	size_t change_cap;
	/* While walking. */
	struct folder *folders; /* still to be read */
	size_t folder_count;
	size_t entry_count;
	const char *folder; /* being read */
	int folder_fd;
	char *names;
	size_t names_len;
	size_t names_at;
	struct snapshot_sort sort;
	/* While comparing. */
	size_t before_at;
	size_t now_at;
};

struct scan *scan_new(struct loop *loop, const struct workspace *workspace, void *data)
{
	struct scan *scan = xcalloc(1, sizeof(*scan));

	scan->loop = loop;
	scan->workspace = workspace;
	scan->data = data;
	scan->phase = PHASE_IDLE;
	scan->first = true;
	scan->counts = true;
	scan->folder_fd = -1;
	return scan;
}

void *scan_data(const struct scan *scan)
{
	return scan->data;
}

static void end_walk(struct scan *scan)
{
	while (scan->folders != NULL) {
		struct folder *next = scan->folders->next;

		free(scan->folders);
		scan->folders = next;
	}
	fd_close(&scan->folder_fd);
	free(scan->names);
	scan->names = NULL;
}

void scan_free(struct scan *scan)
{
	if (scan == NULL)
		return;
	loop_defer_stop(&scan->defer);
	end_walk(scan);
	snapshot_sort_release(&scan->sort);
	snapshot_release(&scan->before);
	snapshot_release(&scan->now);
	free(scan->closed_told);
	free(scan->changes);
	free(scan);
}

static uint64_t real_time_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static uint64_t to_ns(const struct statx_timestamp *t)
{
	return (uint64_t)t->tv_sec * 1000000000U + t->tv_nsec;
}

/* ---- walking ---- */

/* Copies an entry of the last scan. Returns false if there is no room. */
static bool take_over(struct scan *scan, size_t index)
{
	struct file_info file = scan->before.files[index];

	if (scan->now.count == SCAN_FILES_MAX)
		scan->now.capped = true;
	else
		file.path = snapshot_path(&scan->now, "", file.path);
	if (scan->now.count == SCAN_FILES_MAX || file.path == NULL)
		return false;
	snapshot_add(&scan->now, &file, &scan->before.stamps[index]);
	return true;
}

/*
 * Keeps the entries at and below `path`, in a folder that may not be read: it has lost no files.
 * The top has all of them.
 */
static void carry_over(struct scan *scan, const char *path)
{
	const struct snapshot *before = &scan->before;
	size_t itself = snapshot_find(before, path);
	size_t first = 0;
	size_t count = path[0] == '\0' ? before->count : snapshot_below(before, path, &first);

	scan->now.unsure = true;
	if (scan->now.closed == NULL)
		scan->now.closed = scan->folder;
	if (itself < before->count && str_eq(before->files[itself].path, path))
		(void)take_over(scan, itself);
	for (size_t i = first; i < first + count; i++)
		if (!take_over(scan, i))
			return;
}

/* Notes an error. Deleted and forbidden files are no errors; other errors hide existing files. */
static void note_error(struct scan *scan, int error)
{
	if (error == 0 || error == ENOENT || error == ENOTDIR || error == ELOOP ||
	    error == EACCES || error == EXDEV)
		return;
	scan->now.error = error;
	scan->now.unsure = true;
}

static void push_folder(struct scan *scan, const char *parent, const char *name)
{
	struct folder *folder;
	const char *path;

	if (scan->folder_count == FOLDERS_MAX ||
	    strlen(parent) + 1 + strlen(name) > BENEATH_PATH_MAX) {
		scan->now.capped = true;
		return;
	}
	path = snapshot_path(&scan->now, parent, name);
	if (path == NULL)
		return;
	folder = xcalloc(1, sizeof(*folder));
	folder->path = path;
	folder->next = scan->folders;
	scan->folders = folder;
	scan->folder_count++;
}

static void start_walk(struct scan *scan)
{
	if (scan->counts) {
		snapshot_release(&scan->before);
		scan->before = scan->now;
		memset(&scan->now, 0, sizeof(scan->now));
	}
	snapshot_release(&scan->now);
	scan->counts = true;
	scan->now.started_ns = real_time_ns();
	scan->change_count = 0;
	scan->folder_count = 0;
	scan->entry_count = 0;
	scan->names = xrealloc(NULL, NAMES_SIZE); /* the kernel fills it: no zeroing */
	scan->names_len = 0;
	scan->names_at = 0;
	push_folder(scan, "", "");
}

/* Opens the next folder by its whole path, so depth costs no descriptors. */
static void open_next(struct scan *scan)
{
	int data_fd = workspace_data_fd(scan->workspace);
	struct folder *folder = scan->folders;

	scan->folders = folder->next;
	scan->folder = folder->path;
	free(folder);
	if (scan->folder[0] == '\0')
		scan->folder_fd = openat(data_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else
		scan->folder_fd =
			beneath_open_same_mount(data_fd, scan->folder, O_RDONLY | O_DIRECTORY);
	if (scan->folder_fd >= 0) {
		scan_fast_note_folder(&scan->now, scan->folder, scan->folder_fd);
		return;
	}
	note_error(scan, errno);
	if (errno == EACCES)
		carry_over(scan, scan->folder);
}

static void add_file(struct scan *scan, const char *name, const struct statx *st)
{
	struct file_info file = { .size = st->stx_size,
				  .mtime_ns = to_ns(&st->stx_mtime),
				  .is_link = S_ISLNK(st->stx_mode) };
	struct stamp stamp = { .ino = st->stx_ino,
			       .ctime_ns = to_ns(&st->stx_ctime),
			       .folder = (uint8_t)(scan->now.folder_count - 1) };

	scan->now.disk_bytes += st->stx_blocks * BLOCK_BYTES;
	if (scan->now.count == SCAN_FILES_MAX) {
		scan->now.capped = true;
		return;
	}
	file.path = snapshot_path(&scan->now, scan->folder, name);
	if (file.path == NULL)
		return;
	if (!file.is_link && stamp.ctime_ns + YOUNG_NS >= scan->now.started_ns &&
	    file.size <= CONTENT_HASH_MAX) {
		int error =
			content_hash(workspace_data_fd(scan->workspace), file.path, &stamp.hash);

		stamp.young = error == 0;
		note_error(scan, error);
	}
	snapshot_add(&scan->now, &file, &stamp);
}

static void carry_over_name(struct scan *scan, const char *name)
{
	cleanup_free char *path =
		xasprintf("%s%s%s", scan->folder, scan->folder[0] != '\0' ? "/" : "", name);

	carry_over(scan, path);
}

static void visit(struct scan *scan, const char *name, unsigned char type)
{
	struct statx st;

	if (fd_is_dot(name))
		return;
	if (scan->entry_count++ >= ENTRIES_MAX) {
		scan->now.capped = true;
		return;
	}
	if (type == DT_DIR && !keepname_is_skipped(name))
		push_folder(scan, scan->folder, name);
	if (type != DT_REG && type != DT_LNK && type != DT_UNKNOWN)
		return;
	if (file_stat_at(scan->folder_fd, name, &st) < 0) {
		note_error(scan, errno);
		if (errno == EACCES)
			carry_over_name(scan, name);
		return;
	}
	if (S_ISREG(st.stx_mode) || S_ISLNK(st.stx_mode))
		add_file(scan, name, &st);
	else if (S_ISDIR(st.stx_mode) && !keepname_is_skipped(name))
		push_folder(scan, scan->folder, name);
}

/* Reads more names. Returns false at the folder's end. */
static bool read_names(struct scan *scan)
{
	ssize_t n = getdents64(scan->folder_fd, scan->names, NAMES_SIZE);

	if (n < 0)
		note_error(scan, errno);
	scan->names_at = 0;
	scan->names_len = n > 0 ? (size_t)n : 0;
	if (n > 0 && scan->entry_count < ENTRIES_MAX)
		return true;
	scan->names_len = 0;
	fd_close(&scan->folder_fd);
	return false;
}

/* Handles up to CLOCK_EVERY entries and folders. Returns true when the walk is over. */
static bool walk_step(struct scan *scan)
{
	for (int i = 0; i < CLOCK_EVERY; i++) {
		const struct dirent64 *entry;

		if (scan->folder_fd < 0) {
			if (scan->folders == NULL)
				return true;
			open_next(scan);
			continue;
		}
		if (scan->names_at == scan->names_len && !read_names(scan))
			continue;
		entry = (const void *)(scan->names + scan->names_at);
		scan->names_at += entry->d_reclen;
		visit(scan, entry->d_name, entry->d_type);
	}
	return false;
}

/* ---- comparing ---- */

static void add_change(struct scan *scan, enum change_kind kind, const struct file_info *file)
{
	if (scan->change_count == scan->change_cap) {
		scan->change_cap = scan->change_cap > 0 ? scan->change_cap * 2 : 16;
		scan->changes = xrealloc(scan->changes, scan->change_cap * sizeof(*scan->changes));
	}
	scan->changes[scan->change_count++] = (struct change){ .kind = kind, .file = *file };
}

static bool differs(struct scan *scan, size_t before, size_t now)
{
	const struct file_info *a = &scan->before.files[before];
	const struct file_info *b = &scan->now.files[now];
	const struct stamp *x = &scan->before.stamps[before];
	struct stamp *y = &scan->now.stamps[now];
	int error;

	if (x->ino != y->ino || x->ctime_ns != y->ctime_ns || a->mtime_ns != b->mtime_ns ||
	    a->size != b->size || a->is_link != b->is_link)
		return true;
	if (!x->young)
		return false;
	error = y->young ? 0 : content_hash(workspace_data_fd(scan->workspace), b->path, &y->hash);
	note_error(scan, error);
	return error == 0 && x->hash != y->hash;
}

/*
 * Returns true if a file without an earlier entry is new. If files were left out, absence proves
 * nothing: a file is then new if its ctime, which session code cannot set back, is later than the
 * last scan.
 */
static bool counts_as_new(const struct scan *scan, size_t now)
{
	return !scan->before.capped ||
	       scan->now.stamps[now].ctime_ns + YOUNG_NS >= scan->before.started_ns;
}

/* Compares one path. Returns true when both lists are finished. */
static bool compare_one(struct scan *scan)
{
	bool more_before = scan->before_at < scan->before.count;
	bool more_now = scan->now_at < scan->now.count;
	int order;

	if (!more_before && !more_now)
		return true;
	if (more_before && more_now)
		order = strcmp(scan->before.files[scan->before_at].path,
			       scan->now.files[scan->now_at].path);
	else
		order = more_before ? -1 : 1;
	if (order < 0) {
		if (!scan->before.capped && !scan->now.capped && scan->now.error == 0)
			add_change(scan, CHANGE_DELETED, &scan->before.files[scan->before_at]);
		scan->before_at++;
	} else if (order > 0) {
		if (counts_as_new(scan, scan->now_at))
			add_change(scan, CHANGE_NEW, &scan->now.files[scan->now_at]);
		scan->now_at++;
	} else {
		if (differs(scan, scan->before_at, scan->now_at))
			add_change(scan, CHANGE_CHANGED, &scan->now.files[scan->now_at]);
		scan->before_at++;
		scan->now_at++;
	}
	return false;
}

static bool compare_step(struct scan *scan)
{
	if (scan->first)
		return true;
	for (int i = 0; i < CLOCK_EVERY; i++)
		if (compare_one(scan))
			return true;
	return false;
}

/* ---- running ---- */

static void step(struct scan *scan)
{
	switch (scan->phase) {
	case PHASE_WALK:
		if (!walk_step(scan))
			return;
		end_walk(scan);
		scan->phase = PHASE_SORT;
		return;
	case PHASE_SORT:
		if (!snapshot_sort_step(&scan->now, &scan->sort))
			return;
		scan->before_at = 0;
		scan->now_at = 0;
		scan->phase = PHASE_COMPARE;
		return;
	case PHASE_COMPARE:
		if (compare_step(scan))
			scan->phase = PHASE_IDLE;
		return;
	case PHASE_IDLE:
		return;
	}
}

static void on_turn(struct loop_defer *defer);

static void report_scan_done(struct scan *scan)
{
	scan->first = false;
	if (scan->now.error == 0)
		scan->disk_bytes = scan->now.disk_bytes;
	else
		scan_disown(scan);
	if (scan->done != NULL)
		scan->done(scan);
}

static void run_slice(struct scan *scan)
{
	uint64_t until_us = clock_us() + (uint64_t)SCAN_SLICE_MS * 1000;

	while (scan->phase != PHASE_IDLE) {
		step(scan);
		if (scan->phase != PHASE_IDLE && clock_us() >= until_us) {
			loop_defer_start(scan->loop, &scan->defer, on_turn);
			return;
		}
	}
	report_scan_done(scan);
}

static void on_turn(struct loop_defer *defer)
{
	run_slice(container_of(defer, struct scan, defer));
}

/* Returns whether nothing differs from the last scan, which must count. */
static bool finds_nothing(const struct scan *scan)
{
	return !scan->first && scan->counts &&
	       scan_fast_holds(&scan->now, workspace_data_fd(scan->workspace));
}

void scan_start(struct scan *scan, void (*done)(struct scan *scan))
{
	assert(scan->phase == PHASE_IDLE);
	scan->done = done;
	if (finds_nothing(scan)) {
		scan->change_count = 0;
		if (done != NULL)
			done(scan);
		return;
	}
	scan->phase = PHASE_WALK;
	start_walk(scan);
	run_slice(scan);
}

void scan_finish(struct scan *scan)
{
	if (scan->phase == PHASE_IDLE)
		return;
	loop_defer_stop(&scan->defer);
	while (scan->phase != PHASE_IDLE)
		step(scan);
	report_scan_done(scan);
}

void scan_disown(struct scan *scan)
{
	assert(scan->phase == PHASE_IDLE && !scan->first);
	scan->counts = scan->before.started_ns == 0;
}

const char *scan_tell_closed(struct scan *scan)
{
	const char *closed = scan->now.closed;

	if (closed != NULL && scan->closed_told != NULL && str_eq(closed, scan->closed_told))
		return NULL;
	free(scan->closed_told);
	scan->closed_told = closed == NULL ? NULL : xstrdup(closed);
	return closed;
}

bool scan_running(const struct scan *scan)
{
	return scan->phase != PHASE_IDLE;
}

const struct change *scan_changes(const struct scan *scan, size_t *ret_count)
{
	*ret_count = scan->change_count;
	return scan->changes;
}

const struct file_info *scan_files(const struct scan *scan, size_t *ret_count)
{
	*ret_count = scan->now.count;
	return scan->now.files;
}

uint64_t scan_disk_bytes(const struct scan *scan)
{
	return scan->disk_bytes;
}

int scan_error(const struct scan *scan)
{
	return scan->now.error;
}

bool scan_capped(const struct scan *scan)
{
	return scan->now.capped;
}
