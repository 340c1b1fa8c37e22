/* SPDX-License-Identifier: MIT */
/*
 * missing_file.c - finds the path of a missing file in the error texts of interpreters.
 *
 * Python and Node have it in the error itself, R in the warning that it prints below. A program
 * prints a line of its own, which counts only if the cell of bash failed.
 */
#include "answer/missing_file.h"

#include <string.h>

#include "answer/error_text.h"
#include "base/util.h"
#include "runner/cell.h"

enum { LINES_SEARCHED = 6 };

/* Where users have files. */
static const char *const folders[] = { "/home/", "/root/", "/Users/", "/mnt/" };

/* Returns whether a path that begins behind `before` is in one of these folders. */
static bool names_one(const char *text, size_t len, const char *before)
{
	size_t before_len = strlen(before);
	const char *end = text + len;

	for (const char *at = text;
	     (at = memmem(at, (size_t)(end - at), before, before_len)) != NULL;) {
		at += before_len;
		for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
			size_t folder_len = strlen(folders[i]);

			if ((size_t)(end - at) >= folder_len &&
			    memcmp(at, folders[i], folder_len) == 0)
				return true;
		}
	}
	return false;
}

/* Returns whether the error of Python or Node is that such a file is not there. */
static bool misses_one(const char *text, size_t len)
{
	static const char words[] = "o such file or directory";

	return memmem(text, len, words, sizeof(words) - 1) != NULL && names_one(text, len, "'");
}

/* Returns the last lines of what was printed. */
static const char *last_lines(const struct buf *text)
{
	const char *start = buf_str(text);
	const char *at = start + text->len;

	for (size_t lines = 0; at > start && lines < LINES_SEARCHED; lines++) {
		const char *end = memrchr(start, '\n', (size_t)(at - start));

		at = end != NULL ? end : start;
	}
	return at;
}

/* Returns whether one of the last lines is a program's error about such a file. */
static bool has_printed(const struct buf *text)
{
	static const char words[] = "No such file or directory";
	const char *line = last_lines(text);

	while (line[0] != '\0') {
		size_t len = strcspn(line, "\n");

		if (len >= sizeof(words) - 1 &&
		    strncmp(line + len - (sizeof(words) - 1), words, sizeof(words) - 1) == 0 &&
		    (names_one(line, len, " ") || names_one(line, len, "'") ||
		     names_one(line, len, "`")))
			return true;
		line += len + (line[len] == '\n' ? 1 : 0);
	}
	return false;
}

/* Returns whether an exception that led to the cell's error was about such a file. */
static bool has_one_before(const char *traceback)
{
	const char *at = error_text_end(traceback);
	struct error_text_line line;

	while (error_text_next_before(&at, &line))
		if (misses_one(line.text, line.len))
			return true;
	return false;
}

/* Returns whether R's warning says so. Its error only says that something was not opened. */
static bool has_warned(const struct buf *text)
{
	const char *lines = last_lines(text);

	return names_one(lines, strlen(lines), "cannot open file '") ||
	       names_one(lines, strlen(lines), "cannot open compressed file '");
}

static bool is_missing(const struct cell *cell)
{
	const char *text = error_text_end(cell->error_text);

	if (str_eq(cell->language, "bash"))
		return cell->state == CELL_DONE && cell->has_exit_code && cell->exit_code != 0 &&
		       has_printed(&cell->text);
	if (cell->state != CELL_RAISED)
		return false;
	if (str_eq(cell->language, "r"))
		return has_warned(&cell->text);
	return (!cell->raised_by_code && text != NULL && misses_one(text, strlen(text))) ||
	       has_one_before(cell->traceback);
}

bool missing_file_explain(struct buf *out, const struct cell *cell)
{
	if (!is_missing(cell))
		return false;
	buf_puts(
		out,
		"Uploads are in input/, shared folders at their whole paths, not below ~. For another "
		"file use upload_file, or ask the user to start ptycell with --share FOLDER.\n");
	return true;
}
