/* SPDX-License-Identifier: MIT */
/* record.h - the commands `ptycell log` and `ptycell export`: what was done in a session. */
#ifndef SERVER_RECORD_H
#define SERVER_RECORD_H

/* Run the commands. argv[0] is the name. Return the exit code. */
int record_log_main(int argc, char **argv);
int record_export_main(int argc, char **argv);

#endif
