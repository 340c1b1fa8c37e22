/* SPDX-License-Identifier: MIT */
/* options.h - chooses the command that the arguments ask for. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

enum { OPTIONS_SERVE = -1 };

/*
 * Runs the command that argv[1] names. Returns the exit code: 0, 1 when the command found a
 * problem, 2 for wrong usage. Returns OPTIONS_SERVE when there are only flags or no arguments: the
 * caller then serves.
 */
int options_run(int argc, char **argv);

#endif
