/* SPDX-License-Identifier: MIT */
/*
 * guard_lines DIALECT: for each statement on stdin, ended by a NUL, "+" or "-" and the reason.
 * DIALECT is tsql, postgresql, sqlite, mysql or generic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "sql/guard.h"

static const char *const dialects[] = { "tsql", "postgresql", "sqlite", "mysql", "generic" };

int main(int argc, char *argv[])
{
	size_t dialect = 0;
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;

	while (argc > 1 && dialect < ARRAY_SIZE(dialects) && !str_eq(argv[1], dialects[dialect]))
		dialect++;
	if (argc != 2 || dialect == ARRAY_SIZE(dialects))
		return 2;
	while ((len = getdelim(&text, &cap, '\0', stdin)) > 0) {
		struct guard_statement statement;
		struct err err = { .msg = "" };
		int result = guard_check((enum sql_dialect)dialect, text, (size_t)len - 1,
					 &statement, &err);

		(void)printf("%c %s\n", result == 0 ? '+' : '-', err.msg);
	}
	free(text);
	return 0;
}
