/* SPDX-License-Identifier: MIT */
/*
 * notebook_setup.c - writes calls of the helper. Their arguments are JSON texts, which Python reads
 * as its own literals: they are strings, numbers, and lists of these.
 */
#include "journal/notebook_setup.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/get.h"
#include "json/make.h"
#include "json/write.h"

extern const unsigned char journal_notebook_setup_source[];
extern const size_t journal_notebook_setup_source_len;

static const struct {
	const char *language;
	const char *magic;
	const char *name;
} languages[] = {
	{ "python", "", "Python" },
	{ "bash", "%%ptycell bash", "bash" },
	{ "javascript", "%%ptycell javascript", "JavaScript (`node`)" },
	{ "r", "%%ptycell r", "R" },
};

const char *notebook_setup_magic(const char *language)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (str_eq(languages[i].language, language))
			return languages[i].magic;
	return NULL;
}

/* The event of a cell's sum has `removed`, but no `packages`. */
bool notebook_setup_changes_packages(const json_t *fields)
{
	const json_t *packages = json_object_get(fields, "packages");

	return json_array_size(packages) > 0 ||
	       (packages != NULL && json_array_size(json_object_get(fields, "removed")) > 0);
}

bool notebook_setup_restored_nothing(const json_t *fields)
{
	return json_is_true(json_object_get(fields, "failed")) &&
	       !json_is_true(json_object_get(fields, "partly"));
}

static const char *name_of(const char *language)
{
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++)
		if (str_eq(languages[i].language, language))
			return languages[i].name;
	return language;
}

static bool is_note(const json_t *note, const char *event)
{
	return str_eq(json_text_at(note, "event"), event);
}

/* Appends a member as a Python literal: its JSON text, or None. */
static void put_literal(struct buf *out, const json_t *value)
{
	cleanup_free char *text = value != NULL ? json_write_text(value) : xstrdup("None");

	buf_puts(out, text);
}

/* ---- cells ---- */

/*
 * Appends a text that others chose as code of Markdown: nothing in it ends the code, so that it
 * stays text.
 */
static void put_quoted(struct buf *out, const char *text)
{
	buf_put_char(out, '`');
	for (; *text != '\0'; text++)
		buf_put_char(out, *text == '`' ? '\'' : (unsigned char)*text < ' ' ? ' ' : *text);
	buf_put_char(out, '`');
}

static void put_cell(struct buf *out, json_t *cell_own)
{
	cleanup_free char *text = json_write_text(cell_own);

	buf_puts(out, text);
	json_decref(cell_own);
}

static void put_code_cell(struct buf *out, json_t *id_own, const struct buf *source, bool hidden)
{
	json_t *cell = json_object();
	json_t *metadata = json_object();

	if (hidden)
		json_put(metadata, "jupyter", json_pack("{s:b}", "source_hidden", 1));
	json_put_str(cell, "cell_type", "code");
	json_put(cell, "id", id_own);
	json_put(cell, "execution_count", json_null());
	json_put(cell, "metadata", metadata);
	json_put(cell, "outputs", json_array());
	json_put(cell, "source", json_make_text(buf_str(source), source->len));
	put_cell(out, cell);
}

static void put_text_cell(struct buf *out, json_t *id_own, const struct buf *source)
{
	json_t *cell = json_object();

	json_put_str(cell, "cell_type", "markdown");
	json_put(cell, "id", id_own);
	json_put(cell, "metadata", json_object());
	json_put(cell, "source", json_make_text(buf_str(source), source->len));
	put_cell(out, cell);
}

/* ---- calls of the helper ---- */

static void put_input(struct buf *out, const json_t *note)
{
	buf_puts(out, "ptycell.input(");
	put_literal(out, json_object_get(note, "path"));
	buf_puts(out, ", ");
	put_literal(out, json_object_get(note, "size_bytes"));
	buf_puts(out, ", ");
	put_literal(out, json_object_get(note, "sha256"));
	buf_puts(out, ", ");
	put_literal(out, json_object_get(note, "source"));
	buf_puts(out, ")\n");
}

/* A removal makes no call: its note stands before the cell that installed and used the packages. */
static void put_installed(struct buf *out, const json_t *note)
{
	const json_t *packages = json_object_get(note, "packages");
	size_t n;
	json_t *package;

	if (json_array_size(packages) == 0)
		return;
	buf_puts(out, "ptycell.install(");
	put_literal(out, json_object_get(note, "language"));
	json_array_foreach (packages, n, package) {
		buf_puts(out, ", ");
		put_literal(out, package);
	}
	buf_puts(out, ")\n");
}

static void put_lost(struct buf *out, const json_t *note)
{
	buf_puts(out, "ptycell.lost(");
	put_literal(out, json_object_get(note, "language"));
	buf_puts(out, ", ");
	put_literal(out, json_object_get(note, "why"));
	buf_puts(out, ")\n");
}

/* Appends one call with all that was typed, if anything was. */
static void put_typed(struct buf *out, const json_t *typed)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_json json_t *all = NULL;
	size_t n;
	json_t *item;

	json_array_foreach (typed, n, item)
		buf_put(&text, json_string_value(item), json_string_length(item));
	if (text.len == 0)
		return;
	all = json_make_text(buf_str(&text), text.len);
	buf_puts(out, "ptycell.typed(");
	put_literal(out, all);
	buf_puts(out, ")\n");
}

static void put_calls(struct buf *out, const json_t *notes, const json_t *typed)
{
	size_t n;
	json_t *note;

	json_array_foreach (notes, n, note) {
		if (is_note(note, NOTE_INPUT))
			put_input(out, note);
		else if (is_note(note, NOTE_INSTALLED))
			put_installed(out, note);
		else if (is_note(note, NOTE_LOST))
			put_lost(out, note);
		else if (is_note(note, NOTE_RESUMED))
			buf_puts(out, "ptycell.resumed()\n");
		else if (is_note(note, NOTE_VALUES))
			buf_putf(out, "ptycell.restored(\"python\", %" JSON_INTEGER_FORMAT ")\n",
				 json_integer_value(json_object_get(note, "saved_after_cell")));
		else if (is_note(note, NOTE_RERUN))
			buf_puts(out, "ptycell.restored()\n");
	}
	put_typed(out, typed);
}

/* Returns the calls without the line end of the last one. */
static size_t trimmed(const struct buf *source)
{
	return source->len > 0 ? source->len - 1 : 0;
}

static void put_version(struct buf *out, const json_t *note)
{
	buf_putf(out, "Version of %s: ", name_of(json_text_at(note, "language")));
	put_quoted(out, json_text_at(note, "version"));
}

void notebook_setup_notes(struct buf *out, uint64_t number, const json_t *notes,
			  const json_t *typed)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf calls = BUF_INIT(BUF_UNBOUNDED);
	size_t n;
	json_t *note;

	json_array_foreach (notes, n, note)
		if (is_note(note, NOTE_STARTED))
			put_version(&text, note);
	put_calls(&calls, notes, typed);
	calls.len = trimmed(&calls);
	if (text.len > 0) {
		put_text_cell(out, json_make_fmt("language-%" PRIu64, number), &text);
		buf_puts(out, ",\n");
	}
	if (calls.len > 0) {
		put_code_cell(out, json_make_fmt("before-%" PRIu64, number), &calls, false);
		buf_puts(out, ",\n");
	}
}

/* ---- the first cells ---- */

static void list_input(struct buf *out, const json_t *note)
{
	const char *key = json_object_get(note, "source") != NULL ? "source" : "from";

	buf_puts(out, "- Input: ");
	put_quoted(out, json_text_at(note, "path"));
	buf_putf(out, ", %" JSON_INTEGER_FORMAT " bytes, ",
		 json_integer_value(json_object_get(note, "size_bytes")));
	if (json_object_get(note, "sha256") != NULL) {
		buf_puts(out, "SHA-256 ");
		put_quoted(out, json_text_at(note, "sha256"));
		buf_puts(out, ", ");
	}
	buf_puts(out, "from ");
	put_quoted(out, json_text_at(note, key));
	buf_puts(out, "\n");
}

static void list_note(struct buf *out, const json_t *note)
{
	if (is_note(note, NOTE_STARTED)) {
		buf_puts(out, "- ");
		put_version(out, note);
		buf_puts(out, "\n");
	} else if (is_note(note, NOTE_INPUT)) {
		list_input(out, note);
	}
}

static void put_description(struct buf *out, const json_t *about, const json_t *notes)
{
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	size_t n;
	json_t *item;

	buf_puts(&text, "# Session ");
	put_quoted(&text, json_text_at(about, "session_id"));
	buf_putf(&text, "\n\n- Recorded by ptycell %s from %s on\n", json_text_at(about, "server"),
		 json_text_at(about, "time"));
	buf_puts(&text,
		 "- To run it again: `jupyter nbconvert --execute --to notebook` with this "
		 "file, on Linux, with Python's kernel; and `bash`, `node` and `R` for cells "
		 "in these languages\n- The next cell makes the folder `work` with `input/` "
		 "and `output/`, where all cells run\n");
	json_array_foreach (notes, n, item)
		list_note(&text, item);
	json_array_foreach (json_object_get(about, "secrets"), n, item) {
		buf_puts(&text, "- Secret: the environment variable ");
		put_quoted(&text, json_string_value(item));
		buf_puts(&text, "\n");
	}
	text.len = trimmed(&text);
	put_text_cell(out, json_make_str("session"), &text);
}

void notebook_setup_head(struct buf *out, const json_t *about, const json_t *notes,
			 const json_t *typed)
{
	cleanup_buf struct buf source = BUF_INIT(BUF_UNBOUNDED);
	const json_t *secrets = json_object_get(about, "secrets");

	put_description(out, about, notes);
	buf_puts(out, ",\n");
	buf_put(&source, (const char *)journal_notebook_setup_source,
		journal_notebook_setup_source_len);
	buf_puts(&source, "\n\nptycell(");
	if (secrets != NULL)
		put_literal(&source, secrets);
	else
		buf_puts(&source, "[]");
	buf_puts(&source, ")\ndel ptycell\n");
	put_calls(&source, notes, typed);
	source.len = trimmed(&source);
	put_code_cell(out, json_make_str("replay"), &source, true);
}
