/* SPDX-License-Identifier: MIT */
/* log_export.h - the commands `ptycell log` and `ptycell export`: what was done in a session. */
#ifndef SERVER_LOG_EXPORT_H
#define SERVER_LOG_EXPORT_H

/* Run the commands. argv[0] is the name. Return the exit code. */
int log_main(int argc, char **argv);
int export_main(int argc, char **argv);

#endif
