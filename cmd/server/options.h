/* SPDX-License-Identifier: MIT */
/* options.h - which of ptycell's commands the arguments ask for. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

enum { OPTIONS_SERVE = -1 };

/*
 * Runs the command that argv[1] names and returns the exit code: 0, 1 when it found something
 * wrong, 2 when it was called in a wrong way. OPTIONS_SERVE when the arguments are flags or none:
 * the caller serves.
 */
int options_run(int argc, char **argv);

#endif
