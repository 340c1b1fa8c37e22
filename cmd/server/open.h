/* SPDX-License-Identifier: MIT */
/* open.h - the command `ptycell open`: shows the folder of a session's results. */
#ifndef SERVER_OPEN_H
#define SERVER_OPEN_H

/* Runs the command. argv[0] is its name. Returns the exit code, if xdg-open does not take over. */
int open_main(int argc, char **argv);

#endif
