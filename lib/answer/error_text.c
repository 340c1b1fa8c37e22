/* SPDX-License-Identifier: MIT */
/*
 * error_text.c - takes a traceback apart by its lines, without a parser of any language.
 *
 * Python prints a chain of exceptions with a sentence between them, and a group of exceptions with
 * a bar before each line. Both are recognised by these marks alone: code can forge them, so callers
 * only choose a hint by the result.
 */
#include "answer/error_text.h"

#include <string.h>

#include "base/util.h"

const char *error_text_end(const char *text)
{
	size_t len = text != NULL ? strlen(text) : 0;

	return len > ERROR_TEXT_MAX ? text + len - ERROR_TEXT_MAX : text;
}

const char *error_text_find(const char *text, const char *const *needles)
{
	text = error_text_end(text);
	for (size_t i = 0; text != NULL && i < ERROR_TEXT_NEEDLES_MAX && needles[i] != NULL; i++)
		if (strstr(text, needles[i]) != NULL)
			return needles[i];
	return NULL;
}

bool error_text_any(const char *text, const char *const *needles)
{
	return error_text_find(text, needles) != NULL;
}

const char *error_text_last_line(const char *text)
{
	const char *start = error_text_end(text);
	size_t len = start != NULL ? strlen(start) : 0;

	while (len > 0 && start[len - 1] == '\n')
		len--;
	while (len > 0 && start[len - 1] != '\n')
		len--;
	return start != NULL ? start + len : NULL;
}

bool error_text_last_call_has(const char *traceback, const char *words)
{
	const char *last = NULL;

	for (const char *at = error_text_end(traceback); (at = strstr(at, "\n  File ")) != NULL;
	     at++)
		last = at;
	return last != NULL && strstr(last, words) != NULL;
}

/* Returns the length of the line without a file that Python names behind an error: ": '/dev/null'".
 */
static size_t without_file(const char *line, size_t len)
{
	const char *file = len > 0 && line[len - 1] == '\'' ? memmem(line, len, ": '", 3) : NULL;

	return file != NULL ? (size_t)(file - line) : len;
}

const char *error_text_line_end(const struct buf *text, const char *const *needles,
				size_t lines_max)
{
	const char *start = buf_str(text);
	const char *end = start + text->len;

	for (size_t lines = 0; end > start && lines < lines_max; lines++) {
		const char *line = memrchr(start, '\n', (size_t)(end - start));
		const char *from = line != NULL ? line + 1 : start;
		const char *until = from + without_file(from, (size_t)(end - from));

		for (size_t i = 0; i < ERROR_TEXT_NEEDLES_MAX && needles[i] != NULL; i++) {
			size_t len = strlen(needles[i]);

			if ((size_t)(until - from) >= len &&
			    memcmp(until - len, needles[i], len) == 0)
				return needles[i];
		}
		end = line != NULL ? line : start;
	}
	return NULL;
}

/* Returns whether the line is Python's between an exception and the one that it led to. */
static bool is_chain_sentence(const char *line)
{
	return str_begins(line, "The above exception was the direct cause of") ||
	       str_begins(line, "During handling of the above exception, another");
}

/* Returns whether the line names an exception of a group, which stands behind a bar. */
static bool is_of_group(const char *line)
{
	const char *bar = line + strspn(line, " ");

	return bar[0] == '|' && bar[1] == ' ' && bar[2] != ' ';
}

bool error_text_next_before(const char **at, struct error_text_line *ret_line)
{
	struct error_text_line last = { 0 };

	while (*at != NULL) {
		const char *line = *at;
		size_t len = strcspn(line, "\n");

		*at = line[len] != '\0' ? line + len + 1 : NULL;
		if (last.len > 0 && is_chain_sentence(line)) {
			*ret_line = last;
			return true;
		}
		if (is_of_group(line)) {
			*ret_line = (struct error_text_line){ line, len };
			return true;
		}
		/* Python quotes the text of an exception that a worker process raised. */
		while (len > 0 && line[len - 1] == '"')
			len--;
		if (len > 0)
			last = (struct error_text_line){ line, len };
	}
	return false;
}

static bool line_has_any(const struct error_text_line *line, const char *const *needles)
{
	for (size_t i = 0; i < ERROR_TEXT_NEEDLES_MAX && needles[i] != NULL; i++)
		if (memmem(line->text, line->len, needles[i], strlen(needles[i])) != NULL)
			return true;
	return false;
}

bool error_text_before(const char *traceback, const char *const *needles)
{
	const char *at = error_text_end(traceback);
	struct error_text_line line;

	while (error_text_next_before(&at, &line))
		if (line_has_any(&line, needles))
			return true;
	return false;
}
