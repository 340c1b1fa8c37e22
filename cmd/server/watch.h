/* SPDX-License-Identifier: MIT */
/* watch.h - the commands `ptycell watch` and `ptycell attach`: live output, and typing. */
#ifndef SERVER_WATCH_H
#define SERVER_WATCH_H

/* Run the commands. argv[0] is the name. Return the exit code. */
int watch_main(int argc, char **argv);
int watch_attach_main(int argc, char **argv);

#endif
