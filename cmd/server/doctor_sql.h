/* SPDX-License-Identifier: MIT */
/* doctor_sql.h - doctor's part about databases: names of those configured, and ODBC drivers. */
#ifndef SERVER_DOCTOR_SQL_H
#define SERVER_DOCTOR_SQL_H

struct settings;

/* Reads odbcinst.ini; loads no driver and connects to nothing. */
void doctor_sql(const struct settings *settings);

#endif
