/* SPDX-License-Identifier: MIT */
/* terminal.h - the pty of an interpreter and its base settings. */
#ifndef SANDBOX_PROCESS_TERMINAL_H
#define SANDBOX_PROCESS_TERMINAL_H

#include "base/err.h"

/*
 * Opens a pair, close-on-exec, with the base settings. The slave is opened without a path. The
 * caller closes both. Returns -1 and sets *err.
 */
int terminal_open(unsigned short rows, unsigned short columns, int *ret_master, int *ret_slave,
		  struct err *err) MUST_CHECK;
/*
 * Returns the slave of `master`, close-on-exec, which becomes no process's controlling terminal.
 * The caller closes it. Returns -1 and sets *err.
 */
int terminal_open_slave(int master, struct err *err) MUST_CHECK;
/*
 * Applies the base settings by either end. ECHO and ICANON are set for programs to see, but the
 * kernel neither echoes nor edits lines (EXTPROC). Output is byte-exact, without flow control.
 * Signals keep pending input and output. There is no suspend key. Returns -1 and sets *err.
 */
int terminal_reset(int fd, unsigned short rows, unsigned short columns, struct err *err) MUST_CHECK;

#endif
