/* SPDX-License-Identifier: MIT */
/*
 * sql_dialect.c - recognises databases by parts of their products' names. An unknown one is
 * SQL_GENERIC, which has the strictest rules, so a new product is safe before it is known.
 */
#include "sql/sql_dialect.h"

#include <string.h>

#include "base/util.h"

/* Substrings, in any case, of the names that drivers and databases give themselves. */
static const struct {
	const char *part;
	enum sql_dialect dialect;
} products[] = {
	{ "sql server", SQL_TSQL },     { "freetds", SQL_TSQL },
	{ "sqlserver", SQL_TSQL },      { "msodbcsql", SQL_TSQL },
	{ "tdsodbc", SQL_TSQL },        { "postgres", SQL_POSTGRESQL },
	{ "psqlodbc", SQL_POSTGRESQL }, { "redshift", SQL_POSTGRESQL },
	{ "sqlite", SQL_SQLITE },       { "mysql", SQL_MYSQL },
	{ "mariadb", SQL_MYSQL },       { "maodbc", SQL_MYSQL },
	{ "myodbc", SQL_MYSQL },
};

enum sql_dialect sql_dialect_of_product(const char *product)
{
	for (size_t i = 0; i < ARRAY_SIZE(products); i++)
		if (strcasestr(product, products[i].part) != NULL)
			return products[i].dialect;
	return SQL_GENERIC;
}
