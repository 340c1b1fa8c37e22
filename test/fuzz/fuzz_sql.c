/* SPDX-License-Identifier: MIT */
/* layers: sql */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sql/guard.h"
#include "sql/token.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Tokens lie in order, within the text, and none is empty but the end. */
static void check_tokens(enum sql_dialect dialect, const char *text, size_t len)
{
	struct lexer lexer;
	struct token token = { .kind = TOKEN_OTHER };
	struct err err;
	size_t end = 0;

	token_start(&lexer, dialect, text, len);
	while (token.kind != TOKEN_END) {
		cleanup_free char *name = NULL;

		if (token_next(&lexer, &token, &err) < 0)
			return;
		if (token.at < end || token.len > len - token.at ||
		    (token.len == 0) != (token.kind == TOKEN_END))
			abort();
		end = token.at + token.len;
		name = token_name(&lexer, &token);
	}
}

/* What is accepted is accepted once more without what stands around it. */
static void check_guard(enum sql_dialect dialect, const char *text, size_t len)
{
	struct guard_statement statement;
	struct guard_statement again;
	struct err err;

	if (guard_check(dialect, text, len, &statement, &err) < 0)
		return;
	if (statement.len == 0 || statement.at > len || statement.len > len - statement.at)
		abort();
	if (guard_check(dialect, text + statement.at, statement.len, &again, &err) < 0 ||
	    again.at != 0 || again.len != statement.len)
		abort();
}

/* Blanks that became plain ones are none the second time. */
static void check_blanks(enum sql_dialect dialect, const char *text, size_t len)
{
	cleanup_buf struct buf plain = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf again = BUF_INIT(BUF_UNBOUNDED);

	token_plain_blanks(dialect, text, len, &plain);
	token_plain_blanks(dialect, buf_str(&plain), plain.len, &again);
	if (plain.len > len || again.len != plain.len ||
	    memcmp(buf_str(&again), buf_str(&plain), plain.len) != 0)
		abort();
	check_guard(dialect, buf_str(&plain), plain.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	cleanup_free char *text = xmemdup(data, size);

	for (int dialect = 0; dialect < SQL_DIALECTS; dialect++) {
		check_tokens((enum sql_dialect)dialect, text, size);
		check_guard((enum sql_dialect)dialect, text, size);
		check_blanks((enum sql_dialect)dialect, text, size);
	}
	return 0;
}
