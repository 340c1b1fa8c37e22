/* SPDX-License-Identifier: MIT */
/*
 * session_values.c - decides when variables are saved, and takes the file that the driver sends.
 *
 * A cell only sets a mark and, if it does not run, starts the timer: it costs nothing more.
 */
#include "session/session_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "session/restore_internal.h"
#include "text/sanitize.h"
#include "workspace/values.h"

/* Of what session code may have reported. */
enum { NAMES_MAX = 1000000, FORECAST_MS_MAX = 3600000 };

#define LOAD_LATER                                                                                  \
	". They stay saved until ten more cells have run, and no variable of those cells is saved " \
	"before that. Remove the reason, such as a missing package, and call restore_values again."

struct session_values {
	struct session *session;
	struct loop_timer timer;
	struct runner *runner;       /* whose variables are saved; NULL before its first cell */
	struct values_record record; /* what is saved */
	struct values_file *file;    /* of the save under way, or NULL */
	uint64_t cell;               /* that ran last */
	uint64_t first_cell;         /* of this interpreter, or of those whose variables are back */
	struct values_gap
		gap;        /* cells between, whose variables were not saved when they were lost */
	uint64_t lost_cell; /* that ran last when the variables were lost */
	uint64_t ended_ms;  /* when the last cell ended */
	uint64_t began_ms;  /* when the save under way began */
	uint64_t rested_ms; /* when the next one may begin */
	uint64_t saving_cell;
	unsigned held_cells; /* of this interpreter, as long as `held` */
	unsigned tries;      /* since the last cell */
	bool due;            /* what is saved may be older than the variables */
	bool held;           /* the interpreter has not the saved variables */
	void (*last)(void *data);
	void *last_data;
};

/* ---- a save ---- */

static bool is_enabled(const struct session_values *v)
{
	const struct session *s = v->session;

	return s->host->settings->resume_variables > 0 && session_lasts(s) && s->restore == NULL &&
	       (!v->held || v->held_cells >= SESSION_VALUES_HELD_CELLS);
}

static bool take_piece(void *data, const char *bytes, size_t len)
{
	struct session_values *v = data;

	return values_write(v->file, bytes, len);
}

static void on_timer(struct loop_timer *timer);

static void begin_timer(struct session_values *v)
{
	uint64_t quiet = v->ended_ms + SESSION_VALUES_QUIET_MS;

	if (!loop_timer_active(&v->timer))
		loop_timer_start(v->session->host->loop, &v->timer,
				 quiet > v->rested_ms ? quiet : v->rested_ms, on_timer);
}

static uint64_t limit(uint64_t number, uint64_t max)
{
	return number < max ? number : max;
}

static void commit(struct session_values *v, const struct runner_saved *saved)
{
	struct values_record record = { .cell = v->saving_cell,
					.first_cell = v->first_cell,
					.gap = v->gap,
					.names = limit(saved->names, NAMES_MAX),
					.ms = limit(saved->ms, FORECAST_MS_MAX) };
	struct err err;

	if (values_commit(mem_steal(&v->file), &record, &err) < 0) {
		log_warn("session", "'%s': saving variables: %s", v->session->id, err.msg);
		return;
	}
	v->record = record;
	v->held = false;
	v->due = v->due || saved->changing;
}

static void retry(struct session_values *v, const char *problem)
{
	cleanup_free char *quoted = sanitize_quote(problem);

	log_debug("session", "'%s': its variables are not saved: %s", v->session->id, quoted);
	values_drop(mem_steal(&v->file));
	v->due = true;
	if (++v->tries < SESSION_VALUES_TRIES)
		begin_timer(v);
}

static void report_last(struct session_values *v)
{
	void (*last)(void *data) = v->last;

	v->last = NULL;
	if (last != NULL)
		last(v->last_data);
}

static void on_saved(void *data, const struct runner_saved *saved)
{
	struct session_values *v = data;
	uint64_t now = loop_now(v->session->host->loop);

	v->rested_ms = now + SESSION_VALUES_PARTS * (now - v->began_ms);
	if (saved->problem != NULL)
		retry(v, saved->problem);
	else
		commit(v, saved);
	report_last(v);
}

static int begin_save(struct session_values *v, uint64_t here_ms)
{
	const struct session *s = v->session;
	const uint64_t bytes_max = s->host->settings->resume_variables;
	const struct runner_saving saving = { .cell = v->cell,
					      .bytes_max = bytes_max,
					      .here_ms = here_ms,
					      .piece = take_piece,
					      .done = on_saved,
					      .data = v };
	struct err err;

	v->file = values_begin(s->workspace, bytes_max, &err);
	if (v->file == NULL || runner_save(v->runner, &saving, &err) < 0) {
		log_debug("session", "'%s': saving variables: %s", s->id, err.msg);
		values_drop(mem_steal(&v->file));
		return -1;
	}
	v->saving_cell = v->cell;
	v->began_ms = loop_now(s->host->loop);
	v->due = false;
	return 0;
}

static void on_timer(struct loop_timer *timer)
{
	struct session_values *v = container_of(timer, struct session_values, timer);
	struct loop *loop = v->session->host->loop;
	uint64_t now = loop_now(loop);

	if (!v->due || v->runner == NULL || !is_enabled(v))
		return;
	if (runner_busy(v->runner) || runner_saves(v->runner))
		loop_timer_start(loop, timer, now + SESSION_VALUES_QUIET_MS, on_timer);
	else if (now < v->ended_ms + SESSION_VALUES_QUIET_MS || now < v->rested_ms)
		begin_timer(v);
	else if (begin_save(v, 0) < 0 && ++v->tries < SESSION_VALUES_TRIES) {
		v->rested_ms = now + SESSION_VALUES_QUIET_MS; /* what was busy has ended then */
		begin_timer(v);
	}
}

bool session_values_save_last(struct session *s, uint64_t within_ms, void (*done)(void *data),
			      void *data)
{
	struct session_values *v = s->values;

	if (v->runner == NULL || !is_enabled(v))
		return false;
	if (!runner_saves(v->runner) && (!v->due || begin_save(v, within_ms) < 0))
		return false;
	v->last = done;
	v->last_data = data;
	return true;
}

void session_values_forget_last(struct session *s)
{
	s->values->last = NULL;
}

void session_values_stop_last(struct session *s)
{
	session_values_forget_last(s);
	if (s->values->runner != NULL)
		runner_save_interrupt(s->values->runner);
}

/* ---- what the variables are ---- */

void session_values_ran(struct session_values *v, struct runner *runner, uint64_t cell)
{
	if (!runner_language(runner)->saves_variables)
		return;
	v->runner = runner;
	v->cell = cell;
	v->due = true;
	v->held_cells += v->held ? 1 : 0;
	v->tries = 0;
	v->ended_ms = loop_now(v->session->host->loop);
	if (is_enabled(v))
		begin_timer(v);
}

void session_values_lost(struct session_values *v, const struct runner *runner)
{
	if (!runner_language(runner)->saves_variables)
		return;
	if (v->cell > 0)
		v->lost_cell = v->cell;
	session_values_begin_anew(v);
}

void session_values_begin_anew(struct session_values *v)
{
	v->runner = NULL;
	v->due = false;
	v->held = v->record.names > 0;
	v->held_cells = 0;
	v->first_cell = v->session->next_cell;
	v->gap = (struct values_gap){ .first = 0 };
}

void session_values_rerun(struct session_values *v)
{
	v->held = false;
	v->first_cell = 1;
	v->gap = (struct values_gap){ .first = 0 };
	v->lost_cell = v->record.cell;
}

struct session_saved session_values_saved(const struct session *s)
{
	const struct values_record *record = &s->values->record;

	if (record->names == 0)
		return (struct session_saved){ .cell = 0 };
	return (struct session_saved){ .cell = record->cell,
				       .first_cell = record->first_cell,
				       .names = record->names,
				       .ms = record->ms };
}

/* Returns how many cells after the save ran before the variables were lost. */
static size_t count_later(const struct session_values *v, uint64_t *ret_first, uint64_t *ret_last)
{
	const struct journal *journal = v->session->journal;
	struct journal_line line;
	size_t count = 0;

	for (size_t i = 0; journal_at(journal, i, &line); i++) {
		const struct language *language = language_find(line.language);

		if (!line.ran || language == NULL || !language->saves_variables ||
		    line.number <= v->record.cell || line.number > v->lost_cell)
			continue;
		if (count++ == 0)
			*ret_first = line.number;
		*ret_last = line.number;
	}
	return count;
}

/* Returns whether a cell of an earlier life ran in a language. */
static bool ran_before(const struct session *s, const struct language *language)
{
	struct journal_line line;

	for (size_t i = 0; journal_at(s->journal, i, &line); i++)
		if (line.ran && line.number < s->first_cell &&
		    language_find(line.language) == language)
			return true;
	return false;
}

/* Appends of which languages no variable is saved, though an earlier life had some. */
static void put_other_languages(const struct session *s, struct buf *out)
{
	const struct language *language;
	const char *before = " Variables of ";

	for (size_t i = 0; (language = language_at(i)) != NULL; i++) {
		if (language->saves_variables || !ran_before(s, language))
			continue;
		buf_putf(out, "%s%s", before, language->name);
		before = ", ";
	}
	if (before[0] == ',')
		buf_puts(out, " are not among them: only restore_run makes those again.");
}

/* Notes that the interpreter has the saved variables, and not those of later cells. */
static void note_back(struct session_values *v)
{
	uint64_t first = 0;
	uint64_t last = 0;

	v->first_cell = v->record.first_cell;
	v->gap = v->record.gap;
	if (count_later(v, &first, &last) == 0)
		return;
	v->gap.last = last;
	if (v->gap.first == 0)
		v->gap.first = first;
}

/* Other cells between may have run in a later interpreter, which had their variables. */
static void put_gap(const struct values_gap *gap, struct buf *out)
{
	if (gap->first == 0)
		return;
	if (gap->first == gap->last)
		buf_putf(out, " Cell %" PRIu64, gap->first);
	else
		buf_putf(out, " Some of cells %" PRIu64 " to %" PRIu64, gap->first, gap->last);
	buf_puts(
		out,
		" ran after variables were saved and before they were lost: what changed there may be missing.");
}

void session_values_put_later(const struct session *s, struct buf *out)
{
	uint64_t first = 0;
	uint64_t last = 0;
	size_t count = count_later(s->values, &first, &last);

	put_gap(&s->values->record.gap, out);
	if (count == 1)
		buf_putf(out,
			 " Cell %" PRIu64 " ran after they were saved: what it made or changed is "
			 "not among them.",
			 first);
	else if (count > 1)
		buf_putf(out,
			 " %zu cells of Python, %" PRIu64 " to %" PRIu64
			 ", ran after they were saved: what these made or changed is not among "
			 "them.",
			 count, first, last);
	put_other_languages(s, out);
}

/* ---- life ---- */

struct session_values *session_values_new(struct session *s)
{
	struct session_values *v = xcalloc(1, sizeof(*v));

	v->session = s;
	v->first_cell = s->first_cell;
	v->lost_cell = s->first_cell - 1;
	if (!s->resumed)
		return v;
	values_tidy(s->workspace);
	values_read(workspace_journal_fd(s->workspace), &v->record);
	v->held = v->record.names > 0;
	return v;
}

void session_values_free(struct session_values *v)
{
	if (v == NULL)
		return;
	loop_timer_stop(&v->timer);
	values_drop(v->file);
	report_last(v);
	free(v);
}

/* ---- bringing them back ---- */

/* Appends one of the driver's five lists, untrusted, between two texts. Returns the next list. */
static const char *put_list(struct buf *out, const char *before, const char *list,
			    const char *after)
{
	size_t len = strcspn(list, "\n");

	if (len > 0) {
		buf_puts(out, before);
		sanitize_line(out, list, len, CELL_WORDS_BYTES_MAX);
		buf_puts(out, after);
	}
	return list[len] == '\n' ? list + len + 1 : list + len;
}

/* Appends before which cell nothing is saved, if there is one. */
static void put_first(const struct values_record *record, struct buf *out)
{
	if (record->first_cell > 1)
		buf_putf(out, "; those from before cell %" PRIu64 " are not among them",
			 record->first_cell);
}

/* Appends what is back, and when it was saved. */
static void put_head(const struct restore *r, const struct values_record *record, struct buf *out)
{
	const struct session *s = r->session;

	buf_putf(out, "The variables of session '%s' are back as they were after cell %" PRIu64,
		 s->id, record->cell);
	put_first(record, out);
	buf_putf(out, " (%.1f s).", (double)(loop_now(s->host->loop) - r->since_ms) / 1000);
	session_values_put_later(s, out);
	buf_puts(
		out,
		" The files are unchanged. Not back, as they are no variables: environment variables, the current folder, options of modules, the state of random generators and what decorators keep in closures. Views of arrays are now arrays of their own.");
}

/* Returns whether the recorded cells can run again, as far as is known. */
static bool may_rerun(const struct session *s)
{
	return s->record_problem == NULL && !journal_is_off(s->journal);
}

/* Appends that nothing is back: what is saved is nothing, was there, or did not load. */
static void put_none(const struct session *s, const struct values_record *record, struct buf *out)
{
	if (record->names > 0) {
		buf_putf(
			out,
			"No variable of session '%s' was loaded. The saved ones are as they were after cell %" PRIu64,
			s->id, record->cell);
		put_first(record, out);
		buf_puts(out, ".");
		return;
	}
	buf_putf(out,
		 "No variable of session '%s' is saved: after cell %" PRIu64
		 " there was none that could be.",
		 s->id, record->cell);
	if (may_rerun(s))
		buf_puts(out,
			 " interact with action \"restore_run\" runs the recorded cells again.");
}

/* Returns whether some of what is saved could not be loaded. */
static bool describe_back(struct restore *r, const struct cell *cell, struct buf *out)
{
	const struct session *s = r->session;
	const struct values_record *record = &s->values->record;
	const char *lists = cell->restored != NULL ? cell->restored : "";
	bool held;

	if (lists[0] == '\0' || lists[0] == '\n') {
		put_none(s, record, out);
	} else {
		put_head(r, record, out);
		session_forget_ways_back(r->session);
	}
	lists = put_list(out, "\nBack: ", lists, ".");
	held = lists[0] != '\0' && lists[0] != '\n';
	lists = put_list(out, "\nCould not be loaded: ", lists, LOAD_LATER);
	lists = put_list(out, "\nNot back: ", lists, ".");
	lists = put_list(out, "\nNot replaced, because they were there: ", lists, ".");
	(void)put_list(
		out, "\nDefined again, which may have changed other variables twice: ", lists, ".");
	return held;
}

static void on_ended(struct runner *runner, struct cell *cell_own, void *data)
{
	struct restore *r = data;
	struct session *s = r->session;
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);

	session_rerun_note_end(s, runner, cell_own);
	if (r->state == RESTORE_ABANDONED) {
		cell_free(cell_own);
		return;
	}
	values_take_back(s->workspace, &s->values->record);
	if (cell_own->state == CELL_DONE) {
		s->values->runner = runner;
		s->values->held = describe_back(r, cell_own, &text);
		s->values->held_cells = 0;
		note_back(s->values);
	} else {
		cleanup_free char *how = session_rerun_describe_failure(cell_own);

		r->failed = true;
		buf_putf(&text,
			 "The saved variables of session '%s' are not all back: loading them %s. "
			 "interact with action \"restore_run\" runs the recorded cells again.",
			 s->id, how);
	}
	r->text = buf_steal(&text);
	cell_free(cell_own);
	runner_next(runner);
	session_restore_finish(r);
}

static void on_withdrawn(struct loop_defer *defer)
{
	struct restore *r = container_of(defer, struct restore, step);

	values_take_back(r->session->workspace, &r->session->values->record);
	r->failed = true;
	r->text = xasprintf("The saved variables of session '%s' are not back: that was stopped "
			    "before it began.",
			    r->session->id);
	session_restore_finish(r);
}

void session_values_withdrawn(struct restore *r)
{
	r->state = RESTORE_STEPPING;
	r->runner = NULL;
	loop_defer_start(r->session->host->loop, &r->step, on_withdrawn);
}

static const struct language *find_language(const struct session *s)
{
	const struct language *language = NULL;

	for (size_t i = 0; i < s->language_count; i++)
		if (runner_language(s->languages[i].runner)->saves_variables)
			return runner_language(s->languages[i].runner);
	for (size_t i = 0; (language = language_at(i)) != NULL; i++)
		if (language->saves_variables)
			return language;
	return NULL;
}

static int submit(struct restore *r, const char *path, struct err *err)
{
	struct session *s = r->session;
	const struct language *language = find_language(s);

	r->runner = session_language_for(s, language)->runner;
	r->line.number = s->values->record.cell;
	r->state = RESTORE_RUNNING;
	r->queued = runner_submit_values(r->runner, path, s->limits.exec_timeout * 1000, r, err);
	return r->queued != NULL ? 0 : -1;
}

int session_values_restore(struct session *s, struct err *err)
{
	struct session_values *v = s->values;
	struct restore *r;
	cleanup_free char *path = NULL;

	if (s->restore != NULL)
		return 0;
	if (v->record.file[0] == '\0')
		return err_set(
			err, ERR_NOT_FOUND, "no variables of session '%s' are saved%s", s->id,
			may_rerun(s) ? ": action restore_run runs its recorded cells again" : "");
	if (session_restore_check_idle(s, err) < 0)
		return -1;
	path = values_lend(s->workspace, &v->record, err);
	if (path == NULL)
		return -1;
	r = session_restore_new(s);
	r->values = true;
	r->total = 1;
	r->handlers.ended = on_ended;
	session_restore_enter(r);
	if (submit(r, path, err) == 0)
		return 0;
	session_restore_leave(r);
	values_take_back(s->workspace, &v->record);
	return -1;
}
