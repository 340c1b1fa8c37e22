/* SPDX-License-Identifier: MIT */
/* resume.h - the command `ptycell resume`: the sessions that can be resumed, and how to do it. */
#ifndef SERVER_RESUME_H
#define SERVER_RESUME_H

/* Runs the command. argv[0] is its name. Returns the exit code. */
int resume_main(int argc, char **argv);

#endif
