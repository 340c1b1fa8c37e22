/* SPDX-License-Identifier: MIT */
/*
 * installs.h - the commands of a cell that get a function of the driver's before them.
 *
 * `pip install` and `npm install`: a session has no network, so that these ask the server instead
 * (__ptycell_install in driver.bash). `trap`: the shell's EXIT is the driver's, which keeps what
 * the cell wants there (__ptycell_trap), also as `\trap`, `builtin trap` and `command trap`; not
 * before traps of DEBUG and RETURN, nor `trap - ERR`. Where such a one names EXIT too, as
 * `trap - ERR EXIT`, it becomes a group with a function at its end that looks for what it did
 * (__ptycell_settle). What lists them gets bash's own list, as a function does not see all
 * (__ptycell_list_traps).
 *
 * Found are only simple commands whose words stand there as they are, anywhere that bash would
 * begin a command: behind `&&`, in a loop, in a clause of `case`, in a pipeline; `trap` in a
 * substitution, too. Nothing is found in quotes, comments, here-documents and arrays. From the
 * first thing on that this cannot follow a cell stays as it is.
 */
#ifndef RUNTIME_BASH_INSTALL_COMMANDS_H
#define RUNTIME_BASH_INSTALL_COMMANDS_H

#include <stddef.h>

#include "base/buf.h"

/* To another shell, which may get a function's text, each of these is no word at all: it has no
 * such variable. */
#define INSTALL_COMMANDS_WORD "${__ptycell_on+\"__ptycell_install\"} "
#define TRAPS_WORD "${__ptycell_on+\"__ptycell_trap\"} "
#define LISTS_WORD                                                                                 \
	"${__ptycell_on+\"__ptycell_list_traps\"} ${__ptycell_on+\"$(\\builtin trap -p)\"} "
#define SETTLING_START "{ "
/* There, an empty command has the status of what is substituted in it. */
#define SETTLING_END "; ${__ptycell_on+\"__ptycell_settle\"}${__ptycell_on-$(exit \"$?\")} && :; }"

/* Appends `code` with its word before each of them. */
void install_commands_mark(const char *code, size_t len, struct buf *out);

#endif
