/* SPDX-License-Identifier: MIT */
/*
 * resource_journal.c - the record of a session: cells, figures, notebook and script.
 *
 * Notebook and script are drawn from the journal when they are read, and only for the range that is
 * asked for. The size comes first: it decides whether the range fits one answer.
 */
#include "resources/resource_journal.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "journal/journal.h"
#include "json/make.h"
#include "json/write.h"
#include "mcp/server.h"
#include "resources/content.h"
#include "resources/resources.h"
#include "runtime/language.h"
#include "session/session.h"

enum { READ_MAX = RESOURCES_INLINE_MAX + 2 * CONTENT_AROUND };

static const char notebook_mime[] = "application/x-ipynb+json";
static const char cells_part[] = "cells/";

static const char *script_mime(const char *language)
{
	static const struct {
		const char *language;
		const char *mime;
	} mimes[] = { { "python", "text/x-python" },
		      { "javascript", "text/javascript" },
		      { "bash", "text/x-shellscript" },
		      { "r", "text/x-r" } };

	for (size_t i = 0; i < ARRAY_SIZE(mimes); i++)
		if (str_eq(mimes[i].language, language))
			return mimes[i].mime;
	return "text/plain";
}

static int load_notebook(struct journal *journal, const char *query, struct buf *out,
			 struct err *err)
{
	cleanup_buf struct buf data = BUF_INIT(READ_MAX);
	struct content_range range;
	uint64_t size;

	if (journal_notebook_size(journal, &size, err) < 0)
		return -1;
	if (size == 0)
		return err_set(err, ERR_NOT_FOUND, "no cell ran yet");
	if (content_range(&range, query, "notebook", size, err) < 0 ||
	    journal_read_notebook(journal, range.offset, range.len, &data, err) < 0)
		return -1;
	content_take(out, &range, &data, true);
	return 0;
}

static void read_notebook(struct mcp_call *call, struct journal *journal, const char *uri,
			  const char *query)
{
	cleanup_buf struct buf data = BUF_INIT(READ_MAX);
	struct err err;

	if (load_notebook(journal, query, &data, &err) < 0)
		content_refuse(call, uri, &err);
	else
		content_finish(call, uri, notebook_mime, &data, true);
}

/* Sets *ret to the language that the query names, or to that of most cells. */
static int choose_language(const struct journal *journal, const char *query, const char **ret,
			   struct err *err)
{
	struct content_range range;
	const struct language *language;

	if (content_language(&range, query, err) < 0)
		return -1;
	*ret = journal_language(journal);
	if (*ret == NULL)
		return err_set(err, ERR_NOT_FOUND, "no cell ran yet");
	if (range.language[0] == '\0')
		return 0;
	language = language_find(range.language);
	if (language == NULL)
		return err_set(err, ERR_INVALID, "language=%s is not known here", range.language);
	*ret = language->name;
	return 0;
}

static int load_script(const struct journal *journal, const char *query, const char **ret_language,
		       struct buf *out, struct err *err)
{
	cleanup_buf struct buf data = BUF_INIT(READ_MAX);
	struct content_range range;
	uint64_t size;

	if (choose_language(journal, query, ret_language, err) < 0)
		return -1;
	size = journal_script_size(journal, *ret_language);
	if (content_range(&range, query, "script", size, err) < 0 ||
	    journal_read_script(journal, *ret_language, range.offset, range.len, &data, err) < 0)
		return -1;
	content_take(out, &range, &data, true);
	return 0;
}

static void read_script(struct mcp_call *call, const struct journal *journal, const char *uri,
			const char *query)
{
	cleanup_buf struct buf data = BUF_INIT(READ_MAX);
	const char *language = NULL;
	struct err err;

	if (load_script(journal, query, &language, &data, &err) < 0)
		content_refuse(call, uri, &err);
	else
		content_finish(call, uri, script_mime(language), &data, true);
}

/* ---- cells ---- */

static json_t *list_cells(const struct journal *journal)
{
	json_t *cells = json_array();
	struct journal_line line;

	for (size_t i = 0; journal_at(journal, i, &line); i++) {
		json_t *cell = json_object();

		json_put_int(cell, "cell", (json_int_t)line.number);
		json_put_str(cell, "language", line.language);
		json_put_str(cell, "state", line.state);
		if (line.image_count > 0)
			json_put_int(cell, "figures", (json_int_t)line.image_count);
		json_append(cells, cell);
	}
	return cells;
}

/* Adds the URI of each figure. */
static void put_figure_uris(json_t *cell, const char *uri)
{
	json_t *figures = json_object_get(cell, "figures");
	int len = (int)strcspn(uri, "?");
	size_t index;
	json_t *figure;

	json_array_foreach (figures, index, figure) {
		json_put(figure, "uri", json_make_fmt("%.*s/%zu", len, uri, index + 1));
	}
}

/* Ends the call with the part of a JSON text that the query names, by default all of it. */
static void finish_part(struct mcp_call *call, const char *uri, const char *query,
			json_t *value_own)
{
	cleanup_free char *text = json_write_text(value_own);
	cleanup_buf struct buf data = BUF_INIT(READ_MAX);
	cleanup_buf struct buf part = BUF_INIT(READ_MAX);
	struct content_range range;
	struct err err;

	json_decref(value_own);
	if (content_range(&range, query, "text", strlen(text), &err) < 0) {
		content_refuse(call, uri, &err);
		return;
	}
	buf_put(&data, text + range.offset, range.len);
	content_take(&part, &range, &data, true);
	content_finish(call, uri, "application/json", &part, true);
}

static void read_cell(struct mcp_call *call, const struct journal *journal, size_t index,
		      const char *uri, const char *query)
{
	struct err err;
	json_t *cell = journal_read_cell(journal, index, &err);

	if (cell == NULL) {
		content_refuse(call, uri, &err);
		return;
	}
	put_figure_uris(cell, uri);
	finish_part(call, uri, query, cell);
}

/* A figure that is too large for a line is stored in output/. */
static void read_figure(struct mcp_call *call, const struct journal *journal, size_t index,
			size_t figure, const char *uri)
{
	cleanup_buf struct buf data = BUF_INIT((size_t)RESOURCES_INLINE_MAX / 3 * 4 + 4);
	const char *mime = NULL;
	struct err err;

	if (journal_read_image(journal, index, figure, &data, &mime, &err) == 0)
		content_finish_base64(call, uri, mime, &data);
	else if (err.code == ERR_LIMIT)
		mcp_call_refuse(call, -32602,
				"the figure is too large for one answer: it lies in output/, and "
				"the cell names the file",
				NULL);
	else
		content_refuse(call, uri, &err);
}

/* Reads a decimal number without leading zeros, up to 15 digits, and moves *p past it. */
static bool take_number(const char **p, uint64_t *ret)
{
	size_t digits = strspn(*p, "0123456789");

	if (digits == 0 || digits > 15 || **p == '0')
		return false;
	*ret = strtoull(*p, NULL, 10);
	*p += digits;
	return true;
}

static void read_cells(struct mcp_call *call, const struct journal *journal, const char *uri,
		       const char *rest)
{
	uint64_t number;
	uint64_t figure = 0;
	size_t index = 0;
	struct err err;

	if (!take_number(&rest, &number) || journal_find(journal, number, &index, &err) < 0)
		mcp_call_refuse_unknown_resource(call, uri);
	else if (*rest == '\0' || *rest == '?')
		read_cell(call, journal, index, uri, rest);
	else if (*rest++ == '/' && take_number(&rest, &figure) && *rest == '\0')
		read_figure(call, journal, index, (size_t)figure - 1, uri);
	else
		mcp_call_refuse_unknown_resource(call, uri);
}

void resource_journal(struct mcp_call *call, const struct session *session, const char *uri,
		      const char *rest)
{
	struct journal *journal = session_journal(session);
	size_t len = strcspn(rest, "?");

	if (len == 8 && strncmp(rest, "notebook", len) == 0)
		read_notebook(call, journal, uri, rest + len);
	else if (len == 6 && strncmp(rest, "script", len) == 0)
		read_script(call, journal, uri, rest + len);
	else if (len == 5 && strncmp(rest, "cells", len) == 0)
		finish_part(call, uri, rest + len, list_cells(journal));
	else if (strncmp(rest, cells_part, strlen(cells_part)) == 0)
		read_cells(call, journal, uri, rest + strlen(cells_part));
	else
		mcp_call_refuse_unknown_resource(call, uri);
}
