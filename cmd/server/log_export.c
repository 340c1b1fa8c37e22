/* SPDX-License-Identifier: MIT */
/*
 * log_export.c - reads a session's journal from its file, also while its server writes it: an event
 * that is not whole ends the file. Exports are written in parts, as they may be large.
 */
#include "log_export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/mem.h"
#include "invocation.h"
#include "journal/journal.h"
#include "journal/journal_report.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"
#include "remote.h"
#include "terminal.h"
#include "text/sanitize.h"

enum { PART = 1 << 20, TITLE_MAX = 200 };

/* A session's journal, opened for a command. */
struct record {
	struct remote remote;
	struct invocation inv;
	struct remote_session session;
	int dir_fd;
	struct journal *journal;
};

static int load(struct record *record, struct err *err)
{
	if (remote_find(&record->remote, record->inv.session, record->inv.server, &record->session,
			err) < 0)
		return -1;
	record->dir_fd = remote_open_journal(&record->remote, &record->session, err);
	if (record->dir_fd < 0)
		return -1;
	record->journal = journal_load(record->dir_fd, err);
	if (record->journal == NULL && err->code == ERR_INVALID)
		return -1;
	if (record->journal != NULL && journal_count(record->journal) > 0)
		return 0;
	return err_set(err, ERR_NOT_FOUND,
		       "session '%s' has no record: no cell ran yet, or PTYCELL_RECORD is off",
		       record->inv.session);
}

/* Returns 0, or the exit code with which the command ends. */
static int begin(int argc, char **argv, unsigned takes, struct record *record)
{
	struct err err;
	int code = invocation_begin(argc, argv, takes | INVOCATION_SESSION | INVOCATION_SERVER,
				    &record->inv, &record->remote);

	record->dir_fd = -1;
	if (code != 0)
		return code;
	if (record->inv.session == NULL) {
		(void)fprintf(stderr,
			      "Name a session: ptycell %s SESSION; ptycell ps lists them.\n",
			      argv[0]);
		return 2;
	}
	return load(record, &err) < 0 ? remote_complain(&err) : 0;
}

static void end(struct record *record)
{
	journal_free(record->journal);
	fd_close(&record->dir_fd);
	remote_close(&record->remote);
}

/* ---- log ---- */

/* Returns the first cell of the server that has the session, or 0 if none has it. */
static uint64_t live_from(const struct record *record)
{
	json_int_t first = json_integer_value(json_object_get(record->session.row, "first_cell"));

	if (record->session.server == NULL)
		return 0;
	return first > 0 ? (uint64_t)first : 1;
}

/*
 * Corrects the state of a cell that a live server has not ended: to journal_load() it is killed, as
 * cells of an earlier server are that was killed.
 */
static void mend_state(const struct record *record, const struct journal_line *line, json_t *cell)
{
	if (live_from(record) > 0 && line->number >= live_from(record) &&
	    str_eq(line->state, JOURNAL_KILLED))
		json_put_str(cell, "state", line->ran ? JOURNAL_RUNNING : JOURNAL_QUEUED);
}

static enum terminal_colour colour_of(const char *state)
{
	if (str_eq(state, "done"))
		return TERMINAL_GREEN;
	return str_eq(state, JOURNAL_RUNNING) ? TERMINAL_YELLOW : TERMINAL_RED;
}

static void print_title(const json_t *cell)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);
	const char *state = json_text_at(cell, "state");
	const char *called = json_text_at(cell, "title");
	const json_int_t code = json_integer_value(json_object_get(cell, "exit_code"));
	cleanup_free char *how = xasprintf("[%" JSON_INTEGER_FORMAT "] %s %s",
					   json_integer_value(json_object_get(cell, "cell")),
					   json_text_at(cell, "language"), state);

	sanitize_line(&line, how, strlen(how), TITLE_MAX);
	if (json_object_get(cell, "seconds") != NULL)
		buf_putf(&line, " %.2f s", json_number_value(json_object_get(cell, "seconds")));
	if (code != 0)
		buf_putf(&line, ", exit %" JSON_INTEGER_FORMAT, code);
	if (called[0] != '\0') {
		buf_puts(&line, ": ");
		sanitize_line(&line, called, strlen(called), TITLE_MAX);
	}
	terminal_print(colour_of(state), buf_str(&line));
	(void)putchar('\n');
}

/* Prints clean lines, each behind `lead`. */
static void print_lines(enum terminal_colour colour, const char *lead, const char *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	const char *at;

	sanitize_block(&clean, text, strlen(text));
	for (at = buf_str(&clean); *at != '\0';) {
		size_t len = strcspn(at, "\n");
		cleanup_free char *line = xasprintf("%s%.*s", lead, (int)len, at);

		terminal_print(colour, line);
		(void)putchar('\n');
		at += len + (at[len] == '\n');
	}
}

static void print_cell(const json_t *cell)
{
	size_t figures = json_array_size(json_object_get(cell, "figures"));

	print_title(cell);
	print_lines(TERMINAL_DIM, "  | ", json_text_at(cell, "code"));
	if (json_is_true(json_object_get(cell, "outputs_left_out")))
		print_lines(TERMINAL_DIM, "",
			    "[the outputs were left out: the journal is nearly full "
			    "(PTYCELL_JOURNAL_MAX), or the disk is]");
	print_lines(TERMINAL_PLAIN, "", json_text_at(cell, "text"));
	print_lines(TERMINAL_PLAIN, "", json_text_at(cell, "value"));
	print_lines(TERMINAL_RED, "", json_text_at(cell, "traceback"));
	if (figures > 0)
		printf("(%zu %s; ptycell export --html shows %s)\n", figures,
		       figures == 1 ? "figure" : "figures", figures == 1 ? "it" : "them");
	(void)putchar('\n');
}

static int print_log(const struct record *record, struct err *err)
{
	struct journal_line line;

	for (size_t i = 0; journal_at(record->journal, i, &line); i++) {
		cleanup_json json_t *cell = journal_read_cell(record->journal, i, err);
		cleanup_free char *text = NULL;

		if (cell == NULL)
			return -1;
		mend_state(record, &line, cell);
		if (record->inv.json) {
			text = json_write_text(cell);
			puts(text);
		} else {
			print_cell(cell);
		}
	}
	if (journal_left_out(record->journal) > 0)
		(void)fprintf(stderr, "%ju cells found no room in the record.\n",
			      (uintmax_t)journal_left_out(record->journal));
	return 0;
}

int log_main(int argc, char **argv)
{
	struct record record = { .dir_fd = -1, .remote = { .home_fd = -1, .folder_fd = -1 } };
	struct err err;
	int code = begin(argc, argv, INVOCATION_JSON, &record);

	if (code == 0 && print_log(&record, &err) < 0)
		code = remote_complain(&err);
	end(&record);
	return code;
}

/* ---- export ---- */

/* Where an export is. */
struct position {
	uint64_t offset;
	size_t part; /* of a report */
};

/* Appends the next part, nothing at the end. */
static int read_part(const struct record *record, struct position *at, struct buf *out,
		     struct err *err)
{
	const struct journal_report about = {
		.kept = json_string_value(json_object_get(record->session.row, "kept")),
		.live_from = live_from(record),
	};
	const char *language = journal_language(record->journal);
	int result;

	if (str_eq(record->inv.format, "html"))
		return journal_read_report(record->journal, &about, &at->part, out, err);
	if (str_eq(record->inv.format, "ipynb"))
		result = journal_read_notebook(record->journal, at->offset, PART, out, err);
	else
		result = journal_read_script(record->journal, language, at->offset, PART, out, err);
	at->offset += out->len;
	return result;
}

/* Writes the parts; a terminal gets no control character that is in the code. */
static int write_parts(const struct record *record, struct sanitize_stream *stream, struct err *err)
{
	cleanup_buf struct buf part = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	const struct buf *out = stream != NULL ? &clean : &part;
	struct position at = { .offset = 0 };

	do {
		buf_clear(&part);
		buf_clear(&clean);
		if (read_part(record, &at, &part, err) < 0)
			return -1;
		if (stream != NULL)
			sanitize_feed(stream, buf_str(&part), part.len, &clean);
		if (fwrite(buf_str(out), 1, out->len, stdout) != out->len)
			return err_sys(err, "writing the export");
	} while (part.len > 0);
	return fflush(stdout) == 0 ? 0 : err_sys(err, "writing the export");
}

static int write_export(const struct record *record, struct err *err)
{
	struct sanitize_stream *stream = isatty(STDOUT_FILENO) ? sanitize_stream_new() : NULL;
	int result;

	if (!journal_has_run(record->journal))
		result = err_set(err, ERR_NOT_FOUND, "no cell ran in session '%s' yet",
				 record->inv.session);
	else
		result = write_parts(record, stream, err);
	sanitize_stream_free(stream);
	return result;
}

int export_main(int argc, char **argv)
{
	struct record record = { .dir_fd = -1, .remote = { .home_fd = -1, .folder_fd = -1 } };
	struct err err;
	int code = begin(argc, argv, INVOCATION_FORMAT, &record);

	if (code == 0 && record.inv.format == NULL) {
		(void)fputs("Say in which form: ptycell export SESSION --html (a page to read), "
			    "--ipynb (a notebook), or --script.\n",
			    stderr);
		code = 2;
	} else if (code == 0 && write_export(&record, &err) < 0) {
		code = remote_complain(&err);
	}
	end(&record);
	return code;
}
