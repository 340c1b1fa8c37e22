/* SPDX-License-Identifier: MIT */
/*
 * doctor_sql.h - doctor's report about databases: the configured names and the installed ODBC
 * drivers.
 */
#ifndef SERVER_DOCTOR_SQL_H
#define SERVER_DOCTOR_SQL_H

struct settings;

/* Prints the report. Reads odbcinst.ini; loads no driver and connects to no database. */
void doctor_sql(const struct settings *settings);

#endif
