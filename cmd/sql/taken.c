/* SPDX-License-Identifier: MIT */
/*
 * taken.c - runs a JSON path on a column's first values. The kinds of values in JSON are not known
 * from the query, so the path is run on the column's first values. A finding is reported only if
 * all of them have the other kind than the constant.
 */
#include "taken.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "sql/infer.h"
#include "text/sanitize.h"

enum { VALUES_MAX = 200 };

/* Kinds of values, combined by bits. */
enum { KIND_NUMBER = 1 << 0, KIND_TEXT = 1 << 1 };

/* ---- values taken from JSON ---- */

/*
 * Returns the name of the column that the path of `side` begins with, as t.js ->> 'a' does; the
 * side's end for none.
 */
static size_t name_of(const struct clause *clause, const struct side *side)
{
	size_t at = side->begin;

	if (clause_is(clause, at, "json_extract") && clause_is_char(clause, at + 1, '('))
		at += 2;
	while (at + 2 < side->end && clause_is_name(clause, at) &&
	       clause_is_char(clause, at + 1, '.'))
		at += 2;
	return at < side->end && clause_is_name(clause, at) ? at : side->end;
}

/* Returns true when only arrows and constants follow, or the one path of json_extract(). */
static bool is_path(const struct clause *clause, const struct side *side, size_t name)
{
	size_t at = name + 1;

	if (clause_is(clause, side->begin, "json_extract"))
		return clause_is_char(clause, at, ',') &&
		       clause->tokens[at + 1].kind == TOKEN_STRING && at + 3 == side->end;
	while (at < side->end && clause_is_char(clause, at, '-')) {
		at = clause_behind_operator(clause, at);
		if (clause->tokens[at].kind != TOKEN_STRING &&
		    clause->tokens[at].kind != TOKEN_NUMBER)
			return false;
		at++;
	}
	return at == side->end && at > name + 1;
}

/* Returns the only column of that name, with its texts loaded; NULL otherwise. */
static const struct column *column_of(const struct sides *sides, size_t at)
{
	cleanup_free char *name = token_name(&sides->clause->lexer, &sides->clause->tokens[at]);
	const struct column *only = NULL;

	for (size_t s = 0; s < sides->count; s++)
		for (size_t i = 0; sides->sheets[s]->used && i < sides->sheets[s]->count; i++) {
			const struct column *column = &sides->sheets[s]->columns[i];

			if (strcasecmp(column->name, name) != 0)
				continue;
			if (only != NULL || !column->loaded || column->codes == NULL)
				return NULL;
			only = column;
		}
	return only;
}

static unsigned kind_of(sqlite3_stmt *statement)
{
	int type = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_type(statement, 0)
							 : SQLITE_NULL;

	return type == SQLITE_TEXT ? KIND_TEXT : type != SQLITE_NULL ? KIND_NUMBER : 0;
}

/* Returns the kinds of what SQLite takes from the column's first values. */
static unsigned kinds_of(sqlite3 *db, const char *sql, const struct column *column)
{
	sqlite3_stmt *statement = NULL;
	unsigned kinds = 0;
	size_t count = 0;

	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		return 0;
	for (size_t row = 0; row < column->rows && count < VALUES_MAX; row++) {
		size_t len;
		const char *text;

		if (column_is_null(column, row))
			continue;
		text = column_text(column, row, &len);
		(void)sqlite3_bind_text(statement, 1, text, (int)len, SQLITE_STATIC);
		kinds |= kind_of(statement);
		(void)sqlite3_reset(statement);
		count++;
	}
	(void)sqlite3_finalize(statement);
	return kinds;
}

static void put_tokens(struct buf *out, const struct clause *clause, size_t begin, size_t end)
{
	const struct token *first = &clause->tokens[begin];
	const struct token *last = &clause->tokens[end - 1];

	if (end > begin)
		buf_put(out, clause->lexer.text + first->at, last->at + last->len - first->at);
}

/* ---- constants ---- */

/* Returns true when the text would equal a number or a boolean if it were one. */
static bool is_numeral(const char *text, bool *ret_truth)
{
	enum infer_class class = infer_class(text, strlen(text));

	*ret_truth = class == INFER_BOOLEAN;
	return *ret_truth || infer_is_number(class, false);
}

/* Returns the kind of the constant, of the first one of a list; 0 for something else. */
static unsigned constant_of(const struct clause *clause, const struct side *side, bool *ret_truth)
{
	size_t at = side->begin + clause_is_char(clause, side->begin, '(');
	cleanup_free char *text = NULL;
	bool number;

	at += clause_is_one_of(clause, at, "+-");
	number = clause->tokens[at].kind == TOKEN_NUMBER ||
		 (clause->tokens[at].kind == TOKEN_PARAM &&
		  json_is_number(clause_param(clause, at)));
	text = clause_text(clause, at);
	if (at + 1 < side->end && !clause_is_one_of(clause, at + 1, ",)"))
		return 0;
	if (text != NULL)
		return is_numeral(text, ret_truth) ? KIND_TEXT : 0;
	return number ? KIND_NUMBER : 0;
}

void taken_compare(struct taken *taken, const struct sides *sides, const struct side *a,
		   const struct side *b)
{
	const struct clause *clause = sides->clause;
	bool truth = false;
	unsigned constant = b->begin < b->end ? constant_of(clause, b, &truth) : 0;
	size_t name = constant != 0 ? name_of(clause, a) : a->end;
	const struct column *column;
	cleanup_buf struct buf sql = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf text = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *shown = NULL;

	if (taken->reported || name >= a->end || !is_path(clause, a, name))
		return;
	column = column_of(sides, name);
	buf_puts(&sql, clause_is(clause, a->begin, "json_extract") ? "SELECT json_extract(?1"
								   : "SELECT ?1");
	put_tokens(&sql, clause, name + 1, a->end);
	if (column == NULL ||
	    kinds_of(taken->db, buf_str(&sql), column) != (KIND_NUMBER | KIND_TEXT) - constant)
		return;
	taken->reported = true;
	put_tokens(&text, clause, a->begin, a->end);
	shown = sanitize_quote(buf_str(&text));
	sink_note(taken->sink, "%s gives %s here, which equal no %s: %s", shown,
		  constant == KIND_TEXT ? "numbers" : "texts",
		  constant == KIND_TEXT ? "text" : "number",
		  truth                   ? "true is 1 and false is 0"
		  : constant == KIND_TEXT ? "compare it with a number"
					  : "compare it with a text");
}
