/* SPDX-License-Identifier: MIT */
/*
 * view.c - the server has removed control sequences; they are removed once more, as what a terminal
 * gets must not depend on another process. A carriage return clears the line that it goes back to,
 * once something follows: so the last state of a progress bar stays.
 */
#include "view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "json/get.h"
#include "json/write.h"
#include "terminal.h"
#include "text/sanitize.h"

static void end_line(struct view *view)
{
	if (view->open)
		(void)putchar('\n');
	view->open = false;
	view->returned = false;
}

/* Prints lines, each behind `lead`. */
static void print_lines(struct view *view, enum terminal_colour colour, const char *lead,
			const char *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	const char *at;

	end_line(view);
	sanitize_block(&clean, text, strlen(text));
	for (at = buf_str(&clean); *at != '\0';) {
		size_t len = strcspn(at, "\n");
		cleanup_free char *line = xasprintf("%s%.*s", lead, (int)len, at);

		terminal_print(colour, line);
		view->open = true;
		end_line(view);
		at += len + (at[len] == '\n');
	}
}

void view_remark(struct view *view, const char *text)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);

	sanitize_block(&clean, text, strlen(text));
	end_line(view);
	(void)fflush(stdout);
	(void)fprintf(stderr, "%s\n", buf_str(&clean));
}

void view_typed(struct view *view)
{
	if (isatty(STDIN_FILENO))
		view->open = false;
}

/* ---- output ---- */

static void print_part(struct view *view, const char *text, size_t len)
{
	cleanup_buf struct buf clean = BUF_INIT(BUF_UNBOUNDED);
	const char *at;

	sanitize_block(&clean, text, len);
	for (at = buf_str(&clean); *at != '\0'; at++) {
		if (view->returned && *at != '\n')
			(void)fputs(isatty(STDOUT_FILENO) ? "\r\033[K" : "\n", stdout);
		view->returned = false;
		(void)putchar(*at);
		view->open = *at != '\n';
	}
}

static void print_text(struct view *view, const char *text)
{
	while (*text != '\0') {
		size_t len = strcspn(text, "\r");

		print_part(view, text, len);
		view->returned = view->returned || text[len] == '\r';
		text += len + (text[len] == '\r');
	}
}

static void print_output(struct view *view, const json_t *line)
{
	json_int_t left_out = json_integer_value(json_object_get(line, "left_out_bytes"));
	char source[sizeof(view->source)];

	(void)snprintf(source, sizeof(source), "-- %s, %s --", json_text_at(line, "session_id"),
		       json_text_at(line, "language"));
	if (view->all && !str_eq(source, view->source))
		print_lines(view, TERMINAL_CYAN, "", source);
	memcpy(view->source, source, sizeof(source));
	print_text(view, json_text_at(line, "text"));
	if (left_out > 0) {
		cleanup_free char *note = xasprintf(
			"[%" JSON_INTEGER_FORMAT " bytes of output are not shown]", left_out);

		print_lines(view, TERMINAL_DIM, "", note);
	}
}

/* ---- cells ---- */

static char *title_of(const struct view *view, const json_t *line)
{
	return xasprintf("%s%s[%" JSON_INTEGER_FORMAT "] %s",
			 view->all ? json_text_at(line, "session_id") : "", view->all ? " " : "",
			 json_integer_value(json_object_get(line, "cell")),
			 json_text_at(line, "language"));
}

static void print_begin(struct view *view, const json_t *line)
{
	cleanup_free char *title = title_of(view, line);

	print_lines(view, TERMINAL_CYAN, "", title);
	print_lines(view, TERMINAL_DIM, "  | ", json_text_at(line, "code"));
	view->source[0] = '\0';
}

static void print_end(struct view *view, const json_t *line)
{
	bool done = str_eq(json_text_at(line, "state"), "done");
	cleanup_free char *title = title_of(view, line);
	cleanup_free char *state = xasprintf("%s %s %.2f s", title, json_text_at(line, "state"),
					     json_number_value(json_object_get(line, "seconds")));

	print_lines(view, done ? TERMINAL_PLAIN : TERMINAL_RED, "", json_text_at(line, "result"));
	print_lines(view, done ? TERMINAL_GREEN : TERMINAL_RED, "", state);
}

static void print_event(struct view *view, const json_t *line)
{
	const char *event = json_text_at(line, "event");

	if (str_eq(event, "output"))
		print_output(view, line);
	else if (str_eq(event, "began"))
		print_begin(view, line);
	else if (str_eq(event, "ended"))
		print_end(view, line);
	else if (str_eq(event, "state") && !view->all &&
		 str_eq(json_text_at(line, "state"), "idle") && !view->begun)
		view_remark(view, "No cell runs: output appears here.");
	else if (str_eq(event, "gap"))
		print_lines(view, TERMINAL_DIM, "", "[some output is not shown]");
}

bool view_print(struct view *view, const json_t *line)
{
	bool ended = str_eq(json_text_at(line, "event"), "session_ended");

	if (view->json) {
		cleanup_free char *text = json_write_text(line);

		puts(text);
	} else if (ended) {
		cleanup_free char *quoted = sanitize_quote(json_text_at(line, "session_id"));
		cleanup_free char *note = xasprintf("Session '%s' has ended.", quoted);

		view_remark(view, note);
	} else {
		print_event(view, line);
		view->begun = true;
	}
	(void)fflush(stdout);
	return !ended || view->all;
}
