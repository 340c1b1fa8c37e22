/* SPDX-License-Identifier: MIT */
/* terminal.h - the pty of an interpreter and its base settings. */
#ifndef SANDBOX_PROCESS_TERMINAL_H
#define SANDBOX_PROCESS_TERMINAL_H

#include "base/err.h"

/* A new pair, close-on-exec, with the base settings. The slave is opened without a path. */
int terminal_open(unsigned short rows, unsigned short columns, int *ret_master, int *ret_slave,
		  struct err *err) MUST_CHECK;
/* The slave of `master`: close-on-exec, nobody's controlling terminal, the caller's. */
int terminal_open_slave(int master, struct err *err) MUST_CHECK;
/*
 * The base settings, by either end: no kernel echo and no line cut though ECHO and ICANON stay
 * on for programs to see (EXTPROC), byte-exact output, no flow control, signals keep what is
 * pending, no suspend key.
 */
int terminal_reset(int fd, unsigned short rows, unsigned short columns, struct err *err) MUST_CHECK;

#endif
