/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sql/connection_string.h"

static void assert_complete(const char *string, const char *password, const char *expected)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	assert_int_equal(connection_complete(string, password, &out, &err), 0);
	assert_string_equal(buf_str(&out), expected);
}

static void a_password_is_quoted_wherever_it_goes(void **state)
{
	(void)state;
	assert_complete("Driver=x;Pwd={your_password_here};A=1", "a;b}c",
			"Driver=x;Pwd={a;b}}c};A=1");
	assert_complete("Driver=x;Pwd={{your_password_here}}", "a", "Driver=x;Pwd={a}");
	assert_complete("Driver=x;Uid=u", "a b", "Driver=x;Uid=u;PWD={a b}");
	assert_complete("Driver=x;PASSWORD=own", "other", "Driver=x;PASSWORD=own");
	assert_complete("Driver=x", NULL, "Driver=x");
	assert_complete("mydsn", NULL, "DSN=mydsn");
	assert_complete("mydsn", "p", "DSN=mydsn;PWD={p}");
}

static void addresses_are_taken(void **state)
{
	(void)state;
	assert_complete("postgresql://me:p%40ss%7Dw@db.example:5433/shop?sslmode=require", NULL,
			"Driver={postgresql};Uid=me;Pwd={p@ss}}w};Server=db.example;Port=5433;"
			"Database=shop;SSLmode=require");
	assert_complete("postgres://me@db/shop", "a;b",
			"Driver={postgresql};Uid=me;Pwd={a;b};"
			"Server=db;Database=shop");
	assert_complete("mysql+pymysql://me:{your_password_here}@[::1]:3307/shop", "x",
			"Driver={mysql};Uid=me;Pwd=x;Server=::1;Port=3307;Database=shop");
	assert_complete("mariadb://me:a@b@localhost/shop?socket=/run/my%20sql.sock&charset=utf8mb4",
			NULL,
			"Driver={mysql};Uid=me;Pwd=a@b;Server=localhost;Database=shop;"
			"Socket={/run/my sql.sock};CHARSET=utf8mb4");
	assert_complete("postgresql:///shop?host=/run/postgresql", NULL,
			"Driver={postgresql};Database=shop;Server=/run/postgresql");
}

static void a_keyword_is_set_in_front(void **state)
{
	cleanup_buf struct buf string = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	buf_puts(&string, "driver={mysql};Pwd={a;b}}c};Uid=u");
	connection_set(&string, "Driver", "MariaDB Unicode");
	assert_string_equal(buf_str(&string), "Driver={MariaDB Unicode};Pwd={a;b}}c};Uid=u");
}

static void assert_refused(const char *string, const char *password)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	assert_int_equal(connection_complete(string, password, &out, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_null(strstr(err.msg, "s3cret"));
}

static void what_is_no_connection_string_is_refused_without_showing_it(void **state)
{
	(void)state;
	assert_refused("Driver=x;Pwd={your_password_here}", NULL);
	assert_refused("Driver=x;Pwd={s3cret", NULL);
	assert_refused("Driver=x;Pwd={a}s3cret;B=1", NULL);
	assert_refused("Driver=x;Pwd=a;s3cret", NULL);
	assert_refused("=s3cret", NULL);
	assert_refused("oracle://me:s3cret@host/db", NULL);
	assert_refused("postgresql://me:s3cret@host/db?sslfactory=s3cret", NULL);
	assert_refused("mysql://me:{your_password_here}@host/db", NULL);
}

static void values_are_found_in_any_case_and_without_quotes(void **state)
{
	static const char string[] = " driver = {a;b}}c} ; UID=u;Empty=;";
	cleanup_free char *driver = connection_get(string, "Driver");
	cleanup_free char *uid = connection_get(string, "uid");
	cleanup_free char *empty = connection_get(string, "empty");

	(void)state;
	assert_string_equal(driver, "a;b}c");
	assert_string_equal(uid, "u");
	assert_string_equal(empty, "");
	assert_null(connection_get(string, "c"));
}

static void a_default_does_not_hide_what_is_there(void **state)
{
	cleanup_buf struct buf string = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	buf_puts(&string, "Driver=x;Fetch=5");
	connection_default(&string, "fetch", "100");
	connection_default(&string, "Other", "1");
	assert_string_equal(buf_str(&string), "Driver=x;Fetch=5;Other=1");
}

static void the_dialect_is_told_by_the_driver(void **state)
{
	(void)state;
	assert_int_equal(connection_dialect("Driver={ODBC Driver 18 for SQL Server};Server=x"),
			 SQL_TSQL);
	assert_int_equal(connection_dialect("Driver=FreeTDS"), SQL_TSQL);
	assert_int_equal(connection_dialect("Driver={PostgreSQL Unicode}"), SQL_POSTGRESQL);
	assert_int_equal(connection_dialect("Driver=/usr/lib/odbc/psqlodbcw.so"), SQL_POSTGRESQL);
	assert_int_equal(connection_dialect("Driver=SQLite3"), SQL_SQLITE);
	assert_int_equal(connection_dialect("DSN=postgres"), SQL_GENERIC);
}

static void assert_adapted(const char *string, bool old, const char *expected)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	buf_puts(&out, string);
	assert_int_equal(connection_adapt(&out, old, &err), 0);
	assert_string_equal(buf_str(&out), expected);
}

static void freetds_gets_braces_as_it_reads_them(void **state)
{
	(void)state;
	assert_adapted("Driver={FreeTDS};PWD={a}}b;{};Server=h", true,
		       "Driver=FreeTDS;PWD={a}b;{};Server=h;");
	assert_adapted("Driver={FreeTDS};PWD={a}}b;{};Server=h", false,
		       "Driver=FreeTDS;PWD={a}}b;{};Server=h;");
	assert_adapted("Driver={FreeTDS};PWD={a}};b}", false, "Driver=FreeTDS;PWD={a}};b};");
	assert_adapted("Driver={FreeTDS};PWD={a;b}}}", true, "Driver=FreeTDS;PWD={a;b}};");
	/* Without a semicolon it needs no braces, and is the same to both. */
	assert_adapted("Driver={FreeTDS};PWD={a}}b}}}", true, "Driver=FreeTDS;PWD=a}b};");
	assert_adapted("Driver=/usr/lib/libtdsodbc.so;PWD=x", false,
		       "Driver=/usr/lib/libtdsodbc.so;PWD=x;");
	assert_adapted("Driver={ODBC Driver 18 for SQL Server};PWD={a}}b}", false,
		       "Driver={ODBC Driver 18 for SQL Server};PWD={a}}b}");
	assert_adapted("DSN=tds;PWD={a}}b}", false, "DSN=tds;PWD={a}}b}");
}

static void what_an_old_freetds_cannot_be_told_is_said(void **state)
{
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	struct err err;

	(void)state;
	buf_puts(&out, "Driver=FreeTDS;PWD={s3c}};ret}");
	assert_int_equal(connection_adapt(&out, true, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_non_null(strstr(err.msg, "FreeTDS before version 1.4"));
	assert_null(strstr(err.msg, "s3c"));
}

static void the_version_is_asked_only_where_it_matters(void **state)
{
	(void)state;
	assert_true(connection_asks_version("Driver=FreeTDS;PWD={a}};b}"));
	assert_true(connection_asks_version("Driver=FreeTDS;PWD={{}}}"));
	assert_false(connection_asks_version("Driver=FreeTDS;PWD={a}}b}"));
	assert_false(connection_asks_version("Driver=FreeTDS;PWD={a;b}"));
	assert_false(connection_asks_version("Driver=psqlodbcw.so;PWD={a}};b}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_taken),
		cmocka_unit_test(a_keyword_is_set_in_front),
		cmocka_unit_test(a_password_is_quoted_wherever_it_goes),
		cmocka_unit_test(what_is_no_connection_string_is_refused_without_showing_it),
		cmocka_unit_test(values_are_found_in_any_case_and_without_quotes),
		cmocka_unit_test(a_default_does_not_hide_what_is_there),
		cmocka_unit_test(the_dialect_is_told_by_the_driver),
		cmocka_unit_test(freetds_gets_braces_as_it_reads_them),
		cmocka_unit_test(what_an_old_freetds_cannot_be_told_is_said),
		cmocka_unit_test(the_version_is_asked_only_where_it_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
