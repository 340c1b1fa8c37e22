/* SPDX-License-Identifier: MIT */
/* sql_dialect.h - the dialects of SQL that are distinguished. */
#ifndef SQL_SQL_DIALECT_H
#define SQL_SQL_DIALECT_H

/*
 * GENERIC is any other database: a query is refused if any of them may take it for a statement that
 * writes.
 */
enum sql_dialect { SQL_TSQL, SQL_POSTGRESQL, SQL_SQLITE, SQL_MYSQL, SQL_GENERIC, SQL_DIALECTS };

/*
 * Returns the dialect by the name that a driver or a database gives itself: "Microsoft SQL Server",
 * "PostgreSQL Unicode".
 */
enum sql_dialect sql_dialect_of_product(const char *product);

#endif
