/* SPDX-License-Identifier: MIT */
/*
 * guard.c - checks the beginning of a statement by grammar, and then every word by a table
 * (keywords.c). A full parser for five dialects is not possible, so the rule is the reverse: words
 * that may write or reach out are refused everywhere except where only a name can stand. SQL Server
 * has no read-only transactions, so there this is the main defence.
 */
#include "sql/guard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "sql/attribute.h"
#include "sql/keywords.h"
#include "sql/tokens.h"
#include "text/sanitize.h"

enum { SHOWN_WORD_MAX = 40 };

#define NO_QUERY SIZE_MAX

struct guard {
	struct tokens text;
	size_t main;  /* its SELECT or VALUES */
	size_t depth; /* depth of parentheses at the current word */
};

static const struct token *at(const struct guard *g, size_t i)
{
	return tokens_at(&g->text, i);
}

static bool is(const struct guard *g, size_t i, const char *word)
{
	return tokens_is(&g->text, i, word);
}

static bool is_char(const struct guard *g, size_t i, char c)
{
	return tokens_is_char(&g->text, i, c);
}

static bool is_any(const struct guard *g, size_t i, const char *const *words)
{
	return tokens_is_any(&g->text, i, words);
}

/* Compares words that may also be quoted. */
static bool names_any(const struct guard *g, size_t i, const char *const *words)
{
	cleanup_free char *name = token_name(&g->text.lexer, at(g, i));

	for (; *words != NULL; words++)
		if (strcasecmp(name, *words) == 0)
			return true;
	return false;
}

/* Fails with "line 1, column 8: DELETE changes data". */
static int deny(const struct guard *g, size_t i, const char *why, struct err *err)
{
	const struct token *token = at(g, i);
	cleanup_buf struct buf shown = BUF_INIT(BUF_UNBOUNDED);
	size_t line;
	size_t column;

	token_place(&g->text.lexer, token->kind == TOKEN_END ? g->text.lexer.len : token->at, &line,
		    &column);
	sanitize_line(&shown, g->text.lexer.text + token->at, token->len, SHOWN_WORD_MAX);
	return err_set(err, ERR_DENIED, "line %zu, column %zu: %s %s", line, column,
		       shown.len > 0 ? buf_str(&shown) : "the end", why);
}

/* Fails with "line 1, column 8: pg_sleep waits: exec_sql only reads". */
static int refuse_read(const struct guard *g, size_t i, const char *why, struct err *err)
{
	cleanup_free char *whole = xasprintf("%s: exec_sql only reads", why);

	return deny(g, i, whole, err);
}

/* ---- the beginning ---- */

static const char *const heads[] = { "SELECT", "VALUES", NULL };
/* PostgreSQL and MySQL: TABLE t means SELECT * FROM t. */
static const char *const table_heads[] = { "SELECT", "VALUES", "TABLE", NULL };
static const char second_statement[] = "begins a second statement: one a call";
static const char not_a_query[] =
	"is not allowed here: exec_sql takes one SELECT, WITH, VALUES or EXPLAIN";
static const char no_list[] = /* in SQLite */
	"is not allowed here: SELECT name FROM sqlite_master gives the tables, "
	"SELECT name, type FROM pragma_table_info('TABLE') the columns of one";

static bool is_server(const struct guard *g)
{
	return g->text.lexer.dialect == SQL_POSTGRESQL || g->text.lexer.dialect == SQL_MYSQL;
}

static bool is_head(const struct guard *g, size_t i)
{
	return is_any(g, i, is_server(g) ? table_heads : heads);
}

/* Skips the part of a CTE that gives the order of rows: SEARCH ... SET x, CYCLE ... */
static size_t skip_order(const struct guard *g, size_t i)
{
	static const char *const words[] = { "SEARCH", "CYCLE", NULL };

	while (is_any(g, i, words)) {
		while (i < g->text.count && !is(g, i, "SET") && !is_char(g, i, '('))
			i++;
		if (!is(g, i, "SET"))
			return i;
		i += 2;
		if (is(g, i, "TO"))
			i += 4; /* CYCLE ... SET x TO y DEFAULT z */
		if (is(g, i, "USING"))
			i += 2;
	}
	return i;
}

/*
 * Skips one name AS (...), or T-SQL's XMLNAMESPACES (...). Returns the next token, 0 if it is none.
 */
static size_t skip_cte(const struct guard *g, size_t i)
{
	if (at(g, i)->kind != TOKEN_WORD && at(g, i)->kind != TOKEN_QUOTED)
		return 0;
	if (is(g, i, "XMLNAMESPACES") && is_char(g, i + 1, '('))
		return g->text.behind[i + 1];
	i++;
	if (is_char(g, i, '('))
		i = g->text.behind[i];
	if (!is(g, i, "AS"))
		return 0;
	i++;
	if (is(g, i, "NOT"))
		i++;
	if (is(g, i, "MATERIALIZED"))
		i++;
	return is_char(g, i, '(') ? skip_order(g, g->text.behind[i]) : 0;
}

/* Finds the statement behind WITH. The names of its CTEs are no calls, even before parentheses. */
static int find_main(const struct guard *g, size_t i, size_t *ret_main, struct err *err)
{
	size_t begin = i++;

	if (is(g, i, "RECURSIVE") && !is(g, i + 1, "AS"))
		i++;
	for (;;) {
		size_t name = i;

		i = skip_cte(g, i);
		if (name < g->text.count)
			g->text.named[name] = i != 0;
		if (i == 0)
			return deny(g, begin, "is not followed by NAME AS (query)", err);
		if (!is_char(g, i, ','))
			break;
		i++;
	}
	*ret_main = i;
	return 0;
}

/*
 * Checks SELECT, VALUES, WITH that ends in one of them, all of them in parentheses. Sets *ret_main
 * to the word.
 */
static int check_query(const struct guard *g, size_t i, size_t *ret_main, struct err *err)
{
	for (;;) {
		while (is_char(g, i, '('))
			i++;
		if (!is(g, i, "WITH"))
			break;
		if (find_main(g, i, &i, err) < 0)
			return -1;
	}
	*ret_main = i;
	return is_head(g, i) ? 0 : deny(g, i, not_a_query, err);
}

static const char runs_it[] = "runs what it explains";

static bool is_analyze(const struct guard *g, size_t i)
{
	static const char *const words[] = { "ANALYZE", "ANALYSE", NULL };

	return names_any(g, i, words);
}

/* Returns whether the value is FALSE, off, 0 or 'off', and the expression ends there. */
static bool is_off(const struct guard *g, size_t i)
{
	static const char *const off[] = { "FALSE", "OFF", "0", "'false'", "'off'", NULL };
	const struct token *token = at(g, i);
	const char *text = g->text.lexer.text + token->at;

	if (!is_char(g, i + 1, ',') && !is_char(g, i + 1, ')'))
		return false;
	for (const char *const *word = off; *word != NULL; word++)
		if (token->len == strlen(*word) && strncasecmp(text, *word, token->len) == 0)
			return true;
	return false;
}

/* Checks PostgreSQL's (COSTS OFF, ANALYZE FALSE), up to `end`. */
static int check_options(const struct guard *g, size_t i, size_t end, struct err *err)
{
	for (; i < end; i++)
		if (is_analyze(g, i) && !is_off(g, i + 1))
			return refuse_read(g, i, runs_it, err);
	return 0;
}

/* Skips MySQL's leading words: EXTENDED, FORMAT=JSON. Returns the next token. */
static size_t skip_format(const struct guard *g, size_t i)
{
	static const char *const words[] = { "EXTENDED", "PARTITIONS", NULL };

	if (is(g, i, "FORMAT") && is_char(g, i + 1, '='))
		return i + 3;
	return is_any(g, i, words) ? i + 1 : i;
}

/* Sets *ret_query to the start of the query. */
static int check_explain(const struct guard *g, size_t i, size_t *ret_query, struct err *err)
{
	static const char *const plain[] = { "VERBOSE", "QUERY", "PLAN", NULL };

	if (g->text.lexer.dialect == SQL_TSQL)
		return deny(g, i - 1, not_a_query, err);
	if (g->text.lexer.dialect == SQL_POSTGRESQL && is_char(g, i, '(') &&
	    !is_char(g, i + 1, '(') && !is_head(g, i + 1) && !is(g, i + 1, "WITH")) {
		if (check_options(g, i, g->text.behind[i], err) < 0)
			return -1;
		i = g->text.behind[i];
	}
	while (is_any(g, i, plain) && g->text.lexer.dialect != SQL_MYSQL &&
	       g->text.lexer.dialect != SQL_GENERIC)
		i++;
	if (g->text.lexer.dialect == SQL_MYSQL)
		i = skip_format(g, i);
	if (is_analyze(g, i))
		return refuse_read(g, i, runs_it, err);
	*ret_query = i;
	return 0;
}

/*
 * Recognises DESCRIBE t, DESC t a, EXPLAIN shop.t 'a%': MySQL's descriptions of a table's columns.
 */
static bool is_description(const struct guard *g, size_t i)
{
	if (g->text.lexer.dialect != SQL_MYSQL || i >= g->text.count || is_head(g, i) ||
	    is(g, i, "WITH"))
		return false;
	for (; i < g->text.count; i++)
		if (at(g, i)->kind != TOKEN_WORD && at(g, i)->kind != TOKEN_QUOTED &&
		    at(g, i)->kind != TOKEN_STRING && !is_char(g, i, '.'))
			return false;
	return true;
}

/*
 * Checks EXPLAIN, and DESCRIBE, which means the same to MySQL. *ret_query is NO_QUERY if it has
 * none.
 */
static int check_beginning(const struct guard *g, size_t *ret_query, struct err *err)
{
	static const char *const describes[] = { "DESCRIBE", "DESC", NULL };
	static const char *const lists[] = { "SHOW", "DESCRIBE", "DESC", "PRAGMA", NULL };

	*ret_query = 0;
	if (g->text.lexer.dialect == SQL_SQLITE && is_any(g, 0, lists))
		return deny(g, 0, no_list, err);
	if (is(g, 0, "SHOW") && is_server(g))
		*ret_query = NO_QUERY;
	if (!is(g, 0, "EXPLAIN") &&
	    !(g->text.lexer.dialect == SQL_MYSQL && is_any(g, 0, describes)))
		return 0;
	if (check_explain(g, 1, ret_query, err) < 0)
		return -1;
	if (is_description(g, *ret_query))
		*ret_query = NO_QUERY;
	return 0;
}

/* ---- every word ---- */

static bool is_called(const struct guard *g, size_t i)
{
	return is_char(g, i + 1, '(') &&
	       !(g->text.named[i] && g->text.lexer.dialect != SQL_GENERIC);
}

/* Returns whether it is x.f of a PostgreSQL function, also in databases that may be built on it. */
static bool is_attribute(const struct guard *g, size_t i, const struct word_rule *rule)
{
	return (rule->dialects & BIT(SQL_POSTGRESQL)) != 0 && attribute_is_call(&g->text, i);
}

static bool names_prefix(const char *name, const char *prefix)
{
	return strncasecmp(name, prefix, strlen(prefix)) == 0;
}

/* Recognises xp_cmdshell 'dir': T-SQL passes arguments without parentheses. */
static bool has_arguments(const struct guard *g, size_t i)
{
	enum token_kind next = at(g, i + 1)->kind;

	if (is_called(g, i))
		return true;
	return g->text.lexer.dialect == SQL_TSQL && at(g, i)->kind == TOKEN_WORD &&
	       (next == TOKEN_STRING || next == TOKEN_NUMBER || next == TOKEN_PARAM);
}

/* Returns whether it follows AS, unless that is itself a name: w.as. */
static bool follows_as(const struct guard *g, size_t i)
{
	return i > 0 && is(g, i - 1, "AS") && !(i > 1 && is_char(g, i - 2, '.'));
}

/* Returns whether only a name can stand here: behind a dot, behind AS. */
static bool is_name(const struct guard *g, size_t i)
{
	/* T-SQL's reserved words are never names. */
	if (i == 0 || g->text.lexer.dialect == SQL_TSQL)
		return false;
	/* MySQL's are names only directly behind a dot. */
	if (g->text.lexer.dialect == SQL_MYSQL)
		return is_char(g, i - 1, '.') && at(g, i - 1)->at + 1 == at(g, i)->at;
	return is_char(g, i - 1, '.') || follows_as(g, i);
}

static bool breaks(const struct guard *g, size_t i, const struct word_rule *rule, const char *name)
{
	bool plain = at(g, i)->kind == TOKEN_WORD;

	if ((rule->dialects & BIT(g->text.lexer.dialect)) == 0)
		return false;
	switch (rule->place) {
	case WORD_ANYWHERE:
		return plain && strcasecmp(name, rule->word) == 0 && !is_name(g, i);
	case WORD_PAIR:
		return plain && strcasecmp(name, rule->word) == 0 && is(g, i + 1, rule->next) &&
		       !is_name(g, i);
	case WORD_NAMED:
		return strcasecmp(name, rule->word) == 0;
	case WORD_CALLED:
		return strcasecmp(name, rule->word) == 0 &&
		       (is_called(g, i) || is_attribute(g, i, rule));
	case WORD_PREFIX:
		return names_prefix(name, rule->word) &&
		       (has_arguments(g, i) || is_attribute(g, i, rule));
	}
	return false;
}

static int refuse_word(const struct guard *g, size_t i, const struct word_rule *rule,
		       struct err *err)
{
	bool function = rule->place == WORD_CALLED || rule->place == WORD_PREFIX;
	bool attribute = function && is_attribute(g, i, rule) && !is_called(g, i);
	cleanup_free char *whole =
		xasprintf("%s: exec_sql only reads; behind a dot it may be called, a column of "
			  "this name is written without the dot",
			  rule->why);

	return attribute ? deny(g, i, whole, err) : refuse_read(g, i, rule->why, err);
}

/* Recognises OPTION (USE HINT ...), (USE PLAN ...), (MERGE UNION) and INNER MERGE JOIN. */
static bool is_option(const struct guard *g, size_t i)
{
	if (is(g, i, "USE"))
		return (is(g, i + 1, "HINT") && is_char(g, i + 2, '(')) || is(g, i + 1, "PLAN");
	return is(g, i, "MERGE") && (is(g, i + 1, "JOIN") || is(g, i + 1, "UNION"));
}

static int check_word(const struct guard *g, size_t i, struct err *err)
{
	cleanup_free char *name = token_name(&g->text.lexer, at(g, i));
	const struct word_rule *rule;

	if (is_option(g, i))
		return 0;
	for (size_t n = 0; (rule = keywords_rule(n)) != NULL; n++)
		if (breaks(g, i, rule, name))
			return refuse_word(g, i, rule, err);
	return 0;
}

/* U&"pg\005fsleep" is pg_sleep: no rule sees a name behind escapes, and no query needs them. */
static int check_escapes(const struct guard *g, size_t i, struct err *err)
{
	const struct token *token = at(g, i);
	const char *text = g->text.lexer.text + token->at;
	bool unicode = token->kind == TOKEN_QUOTED && (*text | 0x20) == 'u';

	if (unicode && (memchr(text, '\\', token->len) != NULL || is(g, i + 1, "UESCAPE")))
		return deny(g, i, "has its name in escapes: write it plainly", err);
	return 0;
}

/* Refuses WITH a AS (DELETE ...), with which PostgreSQL's queries write. */
static int check_cte_body(const struct guard *g, size_t i, struct err *err)
{
	static const char *const writes[] = {
		"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", NULL
	};
	bool body = i >= 2 && is_char(g, i - 1, '(') &&
		    (is(g, i - 2, "AS") || is(g, i - 2, "MATERIALIZED"));

	return body && is_any(g, i, writes) ? refuse_read(g, i, "changes data", err) : 0;
}

/* Refuses (WITH b AS (SELECT 1) DELETE ...): a query within has a main word too. */
static int check_inner_with(const struct guard *g, size_t i, struct err *err)
{
	size_t inner_main = 0;

	if (!is(g, i, "WITH") || i == 0 || !is_char(g, i - 1, '('))
		return 0;
	if (find_main(g, i, &inner_main, err) < 0)
		return -1;
	while (is_char(g, inner_main, '('))
		inner_main++;
	/* A nested WITH is checked when its turn comes. */
	if (is_head(g, inner_main) ||
	    (is(g, inner_main, "WITH") && is_char(g, inner_main - 1, '(')))
		return 0;
	return deny(g, inner_main, not_a_query, err);
}

/*
 * FROM t WITH (INDEX(1) UPDLOCK), FROM t (XLOCK, ROWLOCK): such a word within parentheses is a
 * hint, unless only a name can stand there.
 */
static int check_hint(const struct guard *g, size_t i, struct err *err)
{
	static const char *const hints[] = {
		"UPDLOCK", "XLOCK",          "TABLOCK",      "TABLOCKX",          "PAGLOCK",
		"ROWLOCK", "REPEATABLEREAD", "SERIALIZABLE", "READCOMMITTEDLOCK", NULL
	};
	bool may_be = g->text.lexer.dialect == SQL_TSQL || g->text.lexer.dialect == SQL_GENERIC;

	if (!may_be || g->depth == 0 || is_char(g, i - 1, '.') || follows_as(g, i))
		return 0;
	return is_any(g, i, hints) ? refuse_read(g, i, "locks", err) : 0;
}

/* Checks T-SQL's FETCH: it belongs to OFFSET ... ROWS, or it moves a cursor. */
static int check_fetch(const struct guard *g, size_t i, struct err *err)
{
	bool paging = i > 0 && (is(g, i - 1, "ROWS") || is(g, i - 1, "ROW")) &&
		      (is(g, i + 1, "NEXT") || is(g, i + 1, "FIRST")) && !is(g, i + 2, "FROM");

	if (g->text.lexer.dialect != SQL_TSQL || !is(g, i, "FETCH") || paging)
		return 0;
	return refuse_read(g, i, "moves a cursor", err);
}

/* Refuses SELECT 1 SELECT 2: T-SQL needs nothing between two statements. */
static int check_second(const struct guard *g, size_t i, struct err *err)
{
	static const char *const joints[] = { "UNION", "ALL", "EXCEPT", "INTERSECT", NULL };

	if (g->text.lexer.dialect != SQL_TSQL || !is(g, i, "SELECT") || i == g->main ||
	    g->depth > 0)
		return 0;
	return is_any(g, i - 1, joints) ? 0 : deny(g, i, second_statement, err);
}

/*
 * Recognises Oracle's packages and types that run code or reach out: DBMS_LOCK.SLEEP,
 * "UTL_HTTP".REQUEST.
 */
static bool is_package(const struct guard *g, size_t i)
{
	static const char *const prefixes[] = { "dbms_", "utl_", "httpuritype", "urifactory" };
	cleanup_free char *name = token_name(&g->text.lexer, at(g, i));

	for (size_t n = 0; n < ARRAY_SIZE(prefixes); n++)
		if (names_prefix(name, prefixes[n]))
			return is_char(g, i + 1, '.');
	return false;
}

/*
 * PostgreSQL's schemas of extensions whose functions write files (orafce's UTL_FILE), signal other
 * sessions or act outside the transaction. A table may have such a name too.
 */
static int check_schema(const struct guard *g, size_t i, struct err *err)
{
	static const char *const schemas[] = { "pglogical", "repack", "cron", NULL };

	if (g->text.lexer.dialect != SQL_POSTGRESQL || !is_char(g, i + 1, '.') ||
	    !is_called(g, i + 2))
		return 0;
	return is_package(g, i) || names_any(g, i, schemas)
		       ? refuse_read(g, i, "runs other code", err)
		       : 0;
}

/* Checks seq.NEXTVAL, and DB2's FROM FINAL TABLE (UPDATE ...), among others. */
static int check_generic(const struct guard *g, size_t i, struct err *err)
{
	if (g->text.lexer.dialect != SQL_GENERIC)
		return 0;
	if (is(g, i, "NEXTVAL") && i > 0 && is_char(g, i - 1, '.'))
		return refuse_read(g, i, "takes a number from a sequence, which stays taken", err);
	if (is(g, i, "UPDATE") && i > 0 && is_char(g, i - 1, '('))
		return refuse_read(g, i, "changes data", err);
	return is_package(g, i) ? refuse_read(g, i, "runs other code", err) : 0;
}

static void follow_depth(struct guard *g, size_t i)
{
	if (is_char(g, i, '('))
		g->depth++;
	else if (is_char(g, i, ')') && g->depth > 0)
		g->depth--;
}

static int check_words(struct guard *g, struct err *err)
{
	for (size_t i = 0; i < g->text.count; i++) {
		enum token_kind kind = at(g, i)->kind;

		follow_depth(g, i);
		if (is_char(g, i, ';'))
			return deny(g, i, second_statement, err);
		if (is_char(g, i, '{') || is_char(g, i, '}'))
			return deny(g, i, "is no SQL of the database", err);
		if (kind != TOKEN_WORD && kind != TOKEN_QUOTED)
			continue;
		if (check_escapes(g, i, err) < 0 || check_word(g, i, err) < 0 ||
		    check_cte_body(g, i, err) < 0 || check_inner_with(g, i, err) < 0 ||
		    check_hint(g, i, err) < 0 || check_fetch(g, i, err) < 0 ||
		    check_second(g, i, err) < 0 || check_generic(g, i, err) < 0 ||
		    check_schema(g, i, err) < 0)
			return -1;
	}
	return 0;
}

/* ---- the whole ---- */

static int check_statement(struct guard *g, struct guard_statement *ret, struct err *err)
{
	size_t query = 0;
	const struct token *last;

	if (tokens_read(&g->text, err) < 0)
		return -1;
	if (g->text.count == 0)
		return err_set(err, ERR_INVALID, "the query is empty");
	if (check_beginning(g, &query, err) < 0)
		return -1;
	if (query != NO_QUERY && check_query(g, query, &g->main, err) < 0)
		return -1;
	if (check_words(g, err) < 0)
		return -1;
	last = at(g, g->text.count - 1);
	ret->at = at(g, 0)->at;
	ret->len = last->at + last->len - ret->at;
	return 0;
}

int guard_check(enum sql_dialect dialect, const char *text, size_t len, struct guard_statement *ret,
		struct err *err)
{
	struct guard g = { .main = 0 };
	int result;

	if (len > GUARD_QUERY_MAX)
		return err_set(err, ERR_LIMIT, "the query is longer than %d KB",
			       GUARD_QUERY_MAX >> 10);
	token_start(&g.text.lexer, dialect, text, len);
	result = check_statement(&g, ret, err);
	tokens_release(&g.text);
	return result;
}
