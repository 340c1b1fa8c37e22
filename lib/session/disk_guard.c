/* SPDX-License-Identifier: MIT */
/*
 * disk_guard.c - measures the session's folder by walks, at intervals that depend on how long a
 * walk takes, and lowers RLIMIT_FSIZE of the session's processes to the room that is left. A walk
 * sees growth late. Two signs that cost little therefore start a walk early: the file system's free
 * space drops, or the session's processes have written much. Others free space meanwhile, and not
 * every file system counts what a process writes.
 */
#include "session/disk_guard.h"

#include <stdlib.h>

#include "base/mem.h"
#include "proc/sandbox.h"
#include "session/session_internal.h"
#include "session/watchdog.h"
#include "text/status_line.h"
#include "workspace/disk_usage.h"

enum {
	GROWTH_PART = 8, /* part of the limit that is much */
	UNSEEN_PART = 4, /* part of the room */
};

enum stage {
	STAGE_ROOM,        /* files may grow as far as they fit */
	STAGE_FULL,        /* no file may grow */
	STAGE_INTERRUPTED, /* the folder grew all the same */
};

/* Whether the next answer says that the folder is over its limit. */
enum excess_notice {
	NOTICE_NONE,  /* it is not */
	NOTICE_WAITS, /* the answer of a cell that runs is expected to */
	NOTICE_DUE,   /* that cell has ended, and perhaps wrote nothing */
	NOTICE_GIVEN,
};

struct disk_guard {
	struct session *session;
	struct disk *disk;
	struct loop_timer timer; /* runs while files cannot have their full size */
	enum stage stage;
	bool ended;    /* a cell has ended since the last tick */
	bool lives;    /* a cell or child process ran at the last tick */
	bool children; /* a child process did */
	bool held;     /* the last cell's end gave no room, because of programs behind it */
	bool grew;     /* at the last measure the folder was larger than before */
	bool stopped;  /* cells that run were interrupted for it */
	bool is_low;   /* the file system has little room, and that was reported */
	uint64_t due_ms;
	uint64_t bytes;     /* at the last measure */
	uint64_t free;      /* of the file system at the last measure */
	uint64_t base;      /* bytes at the first measure in this stage; UINT64_MAX: none yet */
	bool rebased;       /* a cell's end has reset the base, and no measure was compared since */
	uint64_t over_base; /* bytes when the limit was passed; UINT64_MAX: it is kept */
	uint64_t released;  /* bytes when files first got their full size back with programs behind
			       the cell; UINT64_MAX: not since the limit was passed */
	uint64_t unlinked;
	uint64_t written;        /* by the session's processes, in all */
	uint64_t written_before; /* as the last walk began */
	bool walks;              /* a walk is under way */
	uint64_t rested_ms;      /* the next walk, if there is reason for one, begins then */
	enum excess_notice notice;
	bool answer_due;   /* a cell has ended, and its answer is not made yet */
	uint64_t file_max; /* the current maximum; UINT64_MAX: the full size */
	bool stale;        /* the last measure may lack writes of the last cell */
};

static void on_timer(struct loop_timer *timer);

static void wait_for_room(struct disk_guard *g)
{
	struct loop *loop = g->session->host->loop;

	loop_timer_start(loop, &g->timer, loop_now(loop) + DISK_GUARD_FREED_MS, on_timer);
}

/* Sets the same size once more, because a process may have been forked before its parent got it. */
static void set_file_max(struct disk_guard *g, uint64_t bytes)
{
	uint64_t full = g->session->limits.file_max;

	if (bytes >= full)
		bytes = UINT64_MAX;
	if (bytes != UINT64_MAX)
		wait_for_room(g);
	else
		loop_timer_stop(&g->timer);
	if (bytes != UINT64_MAX || g->file_max != UINT64_MAX)
		sandbox_set_file_max(g->session->sandbox, bytes < full ? bytes : full);
	g->file_max = bytes;
}

static void explain(const struct disk_guard *g, struct buf *out)
{
	if (g->bytes == DISK_UNKNOWN) {
		buf_puts(out, "what the session's folder holds cannot be counted: it has too many "
			      "files, or folders without read permission; open or remove them");
		return;
	}
	buf_puts(out, "the session's folder holds ");
	status_excess(out, g->bytes, g->session->limits.disk_max);
	buf_puts(out, " (disk_max); delete files that are not needed");
}

static void report_pressure(struct disk_guard *g)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	if (g->notice == NOTICE_GIVEN)
		return;
	if (g->notice != NOTICE_DUE && (g->answer_due || session_runs_cell(g->session, NULL))) {
		g->notice = NOTICE_WAITS;
		return;
	}
	g->notice = NOTICE_GIVEN;
	buf_puts(&text, "Mind that ");
	explain(g, &text);
	buf_puts(&text, ".");
	session_add_notice(g->session, buf_str(&text));
}

/* Reports a nearly full disk, which is the user's own. The kernel fails writes when it is full. */
static void report_low_disk(struct disk_guard *g, uint64_t left)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	bool was_low = g->is_low;

	g->is_low = left < DISK_GUARD_FREE_MIN;
	if (was_low || !g->is_low)
		return;
	buf_puts(&text, "Mind that the disk on which the session's folder lies is nearly full: ");
	status_size(&text, left);
	buf_puts(&text, " are left.");
	session_add_notice(g->session, buf_str(&text));
}

static void begin_stage(struct disk_guard *g, enum stage stage)
{
	g->stage = stage;
	g->base = UINT64_MAX;
	if (stage == STAGE_ROOM)
		g->held = false;
}

/* Interrupts cells, then ends who writes: the folder grows although no file may. */
static void escalate(struct disk_guard *g)
{
	cleanup_buf struct buf why = BUF_INIT(BUF_UNBOUNDED);

	if (g->stage == STAGE_FULL && session_runs_cell(g->session, NULL)) {
		(void)session_interrupt_all(g->session);
		g->stopped = true;
		begin_stage(g, STAGE_INTERRUPTED);
		return;
	}
	explain(g, &why);
	watchdog_end_writers(g->session->watchdog, buf_str(&why));
	begin_stage(g, g->stage);
}

/* Writes from before the limit are seen at the first measure of the stage. */
static void check_growth(struct disk_guard *g)
{
	if (g->base == UINT64_MAX)
		g->base = g->bytes;
	else
		g->rebased = false;
	if (g->bytes == DISK_UNKNOWN || g->bytes > g->base + DISK_GUARD_STEP)
		escalate(g);
	set_file_max(g, 0);
}

static void begin_full(struct disk_guard *g)
{
	if (!g->lives)
		return;
	begin_stage(g, STAGE_FULL);
	set_file_max(g, 0);
}

/* Returns whether the folder has grown much since it had `base` bytes (UINT64_MAX: never). */
static bool grew_much(const struct disk_guard *g, uint64_t base)
{
	uint64_t much = g->session->limits.disk_max / GROWTH_PART + DISK_GUARD_STEP;

	return base != UINT64_MAX && g->bytes != DISK_UNKNOWN && g->bytes > base + much;
}

/* Returns whether the folder has grown much since the limit was passed, whichever cells ran. */
static bool grows_on(const struct disk_guard *g)
{
	return grew_much(g, g->over_base);
}

/* Writes of an earlier cell that the last measure missed are no growth. */
static bool has_grown(const struct disk_guard *g, uint64_t before)
{
	bool is_late = g->stale && before > g->session->limits.disk_max;

	return g->bytes == DISK_UNKNOWN || grows_on(g) || (g->bytes > before && !is_late);
}

static void check(struct disk_guard *g, uint64_t before)
{
	uint64_t max = g->session->limits.disk_max;

	if (g->bytes <= max) {
		g->over_base = UINT64_MAX;
		g->released = UINT64_MAX;
		g->notice = NOTICE_NONE;
		begin_stage(g, STAGE_ROOM);
		set_file_max(g, disk_largest(g->disk) + (max - g->bytes));
		return;
	}
	if (g->over_base == UINT64_MAX)
		g->over_base = g->bytes;
	report_pressure(g);
	if (g->stage != STAGE_ROOM)
		check_growth(g);
	else if (has_grown(g, before))
		begin_full(g);
	else /* a cell that deletes files may write some */
		set_file_max(g, UINT64_MAX);
}

static void on_measured(struct disk *disk, uint64_t named_bytes)
{
	struct disk_guard *g = disk_data(disk);
	uint64_t left = disk_free_bytes(g->session->workspace);
	uint64_t before = g->bytes;
	uint64_t now = loop_now(g->session->host->loop);
	uint64_t pause = DISK_GUARD_WALKS * disk_walk_ms(disk);

	g->walks = false;
	g->bytes = named_bytes == DISK_UNKNOWN ? DISK_UNKNOWN : named_bytes + g->unlinked;
	g->grew = g->bytes > before;
	report_low_disk(g, left);
	g->free = left;
	check(g, before);
	g->stale = false;
	if (g->file_max == UINT64_MAX)
		pause = DISK_GUARD_MS;
	g->due_ms = now + (pause > DISK_GUARD_NEAR_MS ? pause : DISK_GUARD_NEAR_MS);
	g->rested_ms = now + disk_walk_ms(disk);
}

static void walk(struct disk_guard *g)
{
	if (g->walks)
		return;
	g->walks = true;
	g->written_before = g->written;
	disk_start(g->disk, on_measured);
}

/* Returns how much may be written unseen. */
static uint64_t unseen_max(const struct disk_guard *g)
{
	uint64_t max = g->session->limits.disk_max;
	uint64_t left = g->bytes < max ? max - g->bytes : 0;

	return left / UNSEEN_PART + DISK_GUARD_STEP;
}

static bool is_due(const struct disk_guard *g)
{
	return loop_now(g->session->host->loop) >= g->due_ms;
}

/* Returns whether there is a sign that the folder has grown since the last measure. */
static bool may_have_grown(const struct disk_guard *g, uint64_t free_bytes)
{
	uint64_t unseen = unseen_max(g);

	return loop_now(g->session->host->loop) >= g->rested_ms &&
	       (free_bytes + unseen < g->free || g->written > g->written_before + unseen);
}

/* Polls for room, or measures when that is due. */
static void on_timer(struct loop_timer *timer)
{
	struct disk_guard *g = container_of(timer, struct disk_guard, timer);
	uint64_t free_bytes = disk_free_bytes(g->session->workspace);

	if (is_due(g) || free_bytes > g->free + DISK_GUARD_STEP || may_have_grown(g, free_bytes))
		walk(g);
	wait_for_room(g);
}

static void release(struct disk_guard *g)
{
	begin_stage(g, STAGE_ROOM);
	set_file_max(g, UINT64_MAX);
	g->stale = true;
}

void disk_guard_tick(struct disk_guard *g, bool running, bool children)
{
	bool ended = g->ended;

	g->ended = false;
	g->lives = running || children;
	g->children = children;
	if (!g->lives && g->stage != STAGE_ROOM) /* the programs that grew have ended */
		release(g);
	if (ended ||
	    (g->lives && (is_due(g) || may_have_grown(g, disk_free_bytes(g->session->workspace)))))
		walk(g);
}

void disk_guard_set_written(struct disk_guard *g, uint64_t bytes)
{
	if (bytes > g->written) /* less when a process was not waited for */
		g->written = bytes;
	if (g->lives && may_have_grown(g, g->free))
		walk(g);
}

void disk_guard_set_unlinked(struct disk_guard *g, uint64_t bytes)
{
	g->unlinked = bytes;
}

void disk_guard_set_children(struct disk_guard *g, bool children)
{
	g->children = children;
	if (g->held && !children) /* a cell that runs has not written what grew */
		release(g);
}

/*
 * Excludes what a cell wrote until its end from the growth. Cells that follow each other closely do
 * so once for each comparison: a program that writes in the background is found all the same.
 */
static void exclude_cell(struct disk_guard *g)
{
	if (!g->rebased)
		begin_stage(g, g->stage);
	g->rebased = true;
}

/*
 * Returns whether no file may grow in the next cell either, because programs behind the cells write
 * on. A program that goes on after errors looks as if it had stopped. It gets the full size back
 * until the folder has grown much again: from then on not before the folder fits, or it is gone.
 */
static bool stays_full(struct disk_guard *g)
{
	if (!g->children || !grows_on(g)) {
		g->released = UINT64_MAX;
		return false;
	}
	if (g->grew || grew_much(g, g->released))
		return true;
	if (g->released == UINT64_MAX)
		g->released = g->bytes;
	return false;
}

void disk_guard_explain_cell(struct disk_guard *g, const struct runner *runner, struct cell *cell)
{
	cell->file_max = g->file_max;
	cell->disk_bytes = g->bytes;
	cell->disk_stopped = g->stopped;
	if (cell_goes_on(cell))
		return;
	g->ended = true;
	g->answer_due = true;
	if (session_runs_cell(g->session, runner))
		return;
	g->stopped = false;
	if (stays_full(g)) {
		exclude_cell(g);
		g->held = true;
		walk(g); /* the cell may have deleted files, and the next one may write at once */
		return;
	}
	release(g);
}

void disk_guard_take_scan(struct disk_guard *g, uint64_t bytes)
{
	if (g->notice != NOTICE_NONE || bytes <= g->session->limits.disk_max)
		return;
	g->bytes = bytes;
	g->notice = NOTICE_DUE;
	report_pressure(g);
}

void disk_guard_note_answer(struct disk_guard *g, const struct cell *cell)
{
	bool explains = cell->file_max == 0 && (cell->change_count > 0 || cell->state != CELL_DONE);

	g->answer_due = false;
	if (g->notice == NOTICE_WAITS)
		g->notice = explains ? NOTICE_GIVEN : NOTICE_DUE;
}

struct disk_guard *disk_guard_new(struct session *s)
{
	struct disk_guard *g = xcalloc(1, sizeof(*g));

	g->session = s;
	g->disk = disk_new(s->host->loop, s->workspace, g);
	g->free = disk_free_bytes(s->workspace);
	g->file_max = UINT64_MAX;
	g->over_base = UINT64_MAX;
	g->released = UINT64_MAX;
	g->due_ms = loop_now(s->host->loop) + DISK_GUARD_MS / 5;
	return g;
}

void disk_guard_move(struct disk_guard *g)
{
	loop_timer_stop(&g->timer);
	g->file_max = UINT64_MAX;
	g->unlinked = 0;
	g->written = 0;
	g->written_before = 0;
	begin_stage(g, STAGE_ROOM);
}

void disk_guard_free(struct disk_guard *g)
{
	if (g == NULL)
		return;
	loop_timer_stop(&g->timer);
	disk_free(g->disk);
	free(g);
}
