/* SPDX-License-Identifier: MIT */
/*
 * slow.c - reads the plan of a stopped query. EXPLAIN QUERY PLAN shows the nested loops. If the
 * inner one scans a whole table, the query's tokens are searched for an equality whose side is an
 * expression of that table: no index can serve it. The advice is a materialized column with that
 * expression, in the query's own words.
 */
#include "slow.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "advise.h"
#include "base/mem.h"
#include "base/util.h"
#include "clause.h"
#include "text/sanitize.h"

enum {
	STEPS_MAX = 200,
	NAME_MAX_SHOWN = 40,
	TEXT_MAX = 60, /* bytes of an expression */
};

/* ---- the plan ---- */

/* A line of EXPLAIN QUERY PLAN. */
struct step {
	int id;
	int parent;
	char *detail;
};

struct plan {
	struct step steps[STEPS_MAX];
	size_t count;
};

static void read_plan(struct plan *plan, sqlite3 *db, const struct query *query)
{
	cleanup_free char *text =
		xasprintf("EXPLAIN QUERY PLAN %.*s", (int)query->len, query->text);
	sqlite3_stmt *statement = NULL;

	plan->count = 0;
	if (sqlite3_prepare_v2(db, text, -1, &statement, NULL) != SQLITE_OK)
		return;
	while (plan->count < STEPS_MAX && sqlite3_step(statement) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(statement, 3);

		plan->steps[plan->count++] = (struct step){
			.id = sqlite3_column_int(statement, 0),
			.parent = sqlite3_column_int(statement, 1),
			.detail = xstrdup(detail != NULL ? detail : ""),
		};
	}
	(void)sqlite3_finalize(statement);
}

static void plan_release(struct plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		free(plan->steps[i].detail);
}

static bool is_loop(const struct step *step)
{
	return str_begins(step->detail, "SCAN ") || str_begins(step->detail, "SEARCH ");
}

/*
 * Returns true when all rows are read. A file's rows are found by the columns behind "?"
 * (module.c).
 */
static bool reads_all(const struct step *step)
{
	static const char virtual[] = " VIRTUAL TABLE INDEX ";
	const char *how = strstr(step->detail, virtual);

	if (!str_begins(step->detail, "SCAN ") || str_begins(step->detail, "SCAN CONSTANT"))
		return false;
	how = how != NULL ? how + strlen(virtual) : "0:";
	return str_begins(how, "0:") && how[2] != '?';
}

/* Returns the loop that repeats the step; NULL for none. */
static const struct step *loop_around(const struct plan *plan, const struct step *step)
{
	const struct step *call = step;

	for (const struct step *s = step; s-- > plan->steps;) {
		if (s->parent == call->parent && is_loop(s))
			return s;
		if (call == step && s->id == step->parent && str_begins(s->detail, "CORRELATED"))
			call = s;
	}
	return NULL;
}

/* Returns b of "SCAN b VIRTUAL TABLE INDEX 0:". The caller frees it. */
static char *name_of(const struct step *step)
{
	static const char *const ends[] = { " VIRTUAL TABLE", " USING ", " LEFT-JOIN" };
	const char *name = strchr(step->detail, ' ') + 1;
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const char *end = strstr(name, ends[i]);

		if (end != NULL)
			len = size_min(len, (size_t)(end - name));
	}
	return xmemdup(name, len);
}

/* ---- the query's tokens ---- */

/* Tokens from `begin` up to `end`. */
struct part {
	size_t begin;
	size_t end;
};

static bool names(const struct clause *clause, size_t at, const char *wanted)
{
	cleanup_free char *name = NULL;

	if (!clause_is_name(clause, at) && clause->tokens[at].kind != TOKEN_STRING)
		return false;
	name = token_text(&clause->lexer, &clause->tokens[at]);
	return strcasecmp(name, wanted) == 0;
}

/* Returns true when the part has a column of the table, with the table's name. */
static bool has_column(const struct clause *clause, struct part part, const char *table)
{
	for (size_t at = part.begin; at + 1 < part.end; at++)
		if (clause_is_char(clause, at + 1, '.') && names(clause, at, table))
			return true;
	return false;
}

/* Returns true for more than a column, whose tokens are three, b.x. */
static bool is_expression(struct part part)
{
	enum { COLUMN = 3 };

	return part.end - part.begin > COLUMN;
}

static bool is_equality(const struct clause *clause, size_t at)
{
	return at > 0 && clause_is_char(clause, at, '=') &&
	       !clause_is_one_of(clause, at - 1, "<>!=") && !clause_is_char(clause, at + 1, '=');
}

/*
 * Finds an equality with an expression of the table's columns on one side: *ret_key. The other side
 * is *ret_other.
 */
static bool find_key(const struct clause *clause, const char *table, struct part *ret_key,
		     struct part *ret_other)
{
	for (size_t at = 0; at + 1 < clause->count; at++) {
		struct part sides[2];

		if (!is_equality(clause, at))
			continue;
		sides[0] = (struct part){ clause_left_of(clause, at), at };
		sides[1] = (struct part){ at + 1, clause_right_of(clause, at + 1, false) };
		for (size_t i = 0; i < ARRAY_SIZE(sides); i++) {
			*ret_key = sides[i];
			*ret_other = sides[1 - i];
			if (is_expression(*ret_key) && has_column(clause, *ret_key, table) &&
			    !has_column(clause, *ret_other, table))
				return true;
		}
	}
	return false;
}

/* Returns true when some equality has an expression on a side, of any table. */
static bool has_key(const struct clause *clause)
{
	for (size_t at = 0; at + 1 < clause->count; at++)
		if (is_equality(clause, at) &&
		    (is_expression((struct part){ clause_left_of(clause, at), at }) ||
		     is_expression(
			     (struct part){ at + 1, clause_right_of(clause, at + 1, false) })))
			return true;
	return false;
}

/* Returns the token of the table's own name where it is introduced as `name`; 0 for none. */
static size_t find_table(const struct clause *clause, const char *name)
{
	static const char *const words[] = { "FROM", "JOIN", NULL };

	for (size_t at = 1; at + 1 < clause->count; at++) {
		size_t table = at;

		if (!names(clause, at, name) || clause_is_char(clause, at + 1, '.'))
			continue;
		if (at > 2 && clause_is(clause, at - 1, "AS"))
			table = at - 2;
		else if (at > 1 && !clause_is_any(clause, at - 1, words) &&
			 !clause_is_char(clause, at - 1, ','))
			table = at - 1;
		if (clause_is_any(clause, table - 1, words) ||
		    clause_is_char(clause, table - 1, ','))
			return table;
	}
	return 0;
}

/* Returns false for a part that is too long for a sentence. */
static bool put_part(const struct clause *clause, struct part part, struct buf *out)
{
	size_t begin = clause->tokens[part.begin].at;
	size_t end;

	if (part.begin >= part.end)
		return false;
	end = clause->tokens[part.end - 1].at + clause->tokens[part.end - 1].len;
	if (end - begin > TEXT_MAX)
		return false;
	sanitize_line(out, clause->lexer.text + begin, end - begin, TEXT_MAX);
	return true;
}

/* Appends the part of the query that makes a column of the compared expression. */
static bool put_table(const struct clause *clause, const char *name, struct part key,
		      struct buf *out)
{
	size_t table = find_table(clause, name);
	cleanup_buf struct buf from = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf expression = BUF_INIT(BUF_UNBOUNDED);

	if (table == 0 || !put_part(clause, (struct part){ table, table + 1 }, &from) ||
	    !put_part(clause, key, &expression))
		return false;
	buf_puts(out, "WITH k AS MATERIALIZED (SELECT ");
	advise_put_name(out, name);
	buf_putf(out, ".*, %s AS join_key FROM %s", buf_str(&expression), buf_str(&from));
	if (!names(clause, table, name)) {
		buf_puts(out, " AS ");
		advise_put_name(out, name);
	}
	buf_puts(out, ")");
	return true;
}

/* ---- the sentence ---- */

static void put_way(const struct query *query, const char *name, struct buf *out)
{
	static const char made[] = ". A column of the query's own will do: ";
	struct clause clause;
	struct part key;
	struct part other;
	cleanup_buf struct buf table = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf beside = BUF_INIT(BUF_UNBOUNDED);

	clause_init(&clause, query);
	if (find_key(&clause, name, &key, &other) && put_table(&clause, name, key, &table) &&
	    put_part(&clause, other, &beside))
		buf_putf(out, "%s%s, then k in its place and %s = k.join_key", made,
			 buf_str(&table), buf_str(&beside));
	else if (has_key(&clause))
		buf_putf(out,
			 "%sWITH k AS MATERIALIZED (SELECT *, EXPRESSION AS join_key FROM it), "
			 "then k in its place and ... = k.join_key",
			 made);
	clause_release(&clause);
}

static void put_sentence(const struct query *query, const struct step *inner,
			 const struct step *outer, struct buf *out)
{
	cleanup_free char *name = name_of(inner);
	cleanup_free char *around = name_of(outer);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf shown_around = BUF_INIT(BUF_UNBOUNDED);

	sanitize_line(&shown, name, strlen(name), NAME_MAX_SHOWN);
	sanitize_line(&shown_around, around, strlen(around), NAME_MAX_SHOWN);
	buf_putf(out,
		 "%s was read whole for each row of %s: only an equality with a column finds rows",
		 buf_str(&shown), buf_str(&shown_around));
	put_way(query, name, out);
}

void slow_put(sqlite3 *db, const struct query *query, struct buf *out)
{
	struct plan plan;

	sqlite3_progress_handler(db, 0, NULL, NULL);
	read_plan(&plan, db, query);
	for (size_t i = 0; i < plan.count; i++) {
		const struct step *outer = loop_around(&plan, &plan.steps[i]);

		if (outer == NULL || !reads_all(&plan.steps[i]))
			continue;
		put_sentence(query, &plan.steps[i], outer, out);
		break;
	}
	plan_release(&plan);
}
