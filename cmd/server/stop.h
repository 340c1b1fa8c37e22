/* SPDX-License-Identifier: MIT */
/* stop.h - the command `ptycell stop`: ends sessions, or interrupts their cells. */
#ifndef SERVER_STOP_H
#define SERVER_STOP_H

/* Runs the command. argv[0] is its name. Returns the exit code. */
int stop_main(int argc, char **argv);

#endif
