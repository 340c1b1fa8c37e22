/* SPDX-License-Identifier: MIT */
/* ps.h - the command `ptycell ps`: running servers, their sessions, and those to resume. */
#ifndef SERVER_PS_H
#define SERVER_PS_H

/* Runs the command. argv[0] is its name. Returns the exit code. */
int ps_main(int argc, char **argv);

#endif
