/* SPDX-License-Identifier: MIT */
/* dialect.h - the kinds of SQL that are told apart. */
#ifndef SQL_DIALECT_H
#define SQL_DIALECT_H

/* GENERIC is any other database: whatever one of them takes for a statement is refused. */
enum sql_dialect { SQL_TSQL, SQL_POSTGRESQL, SQL_SQLITE, SQL_MYSQL, SQL_GENERIC, SQL_DIALECTS };

/* By what a driver or a database calls itself: "Microsoft SQL Server", "PostgreSQL Unicode". */
enum sql_dialect dialect_of_product(const char *product);

#endif
