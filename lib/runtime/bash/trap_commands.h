/* SPDX-License-Identifier: MIT */
/*
 * trap_commands.h - marks the commands of a cell that must run a function of the driver instead.
 *
 * `!pip` and `%pip` as notebooks have them run the program (__ptycell_notebook in driver.bash), and
 * so do those of other installers. `trap`: the shell's EXIT trap is the driver's, which stores
 * the cell's own (__ptycell_trap). This includes `\trap`, `builtin trap` and `command trap`, but
 * not traps of DEBUG and RETURN, nor `trap - ERR`. If such a command names EXIT too, as `trap - ERR
 * EXIT`, it becomes a group whose last command settles it (__ptycell_settle). A sourced file,
 * `eval` and a quoted `trap` set a trap of EXIT in the driver's place. So in code that has one of
 * them each `exit` becomes a group whose first command settles it, and `source` outside of a loop
 * one whose last command does. Commands that list traps get bash's own list, because a function
 * does not see all traps (__ptycell_list_traps).
 *
 * Only simple commands whose words are literal are found, anywhere that bash would begin a command:
 * after `&&`, in a loop, in a clause of `case`, in a pipeline. `trap` is also found in
 * substitutions. Nothing is found in quotes, comments, here-documents and arrays. From the first
 * construct on that the lexer cannot follow, the cell is unchanged.
 */
#ifndef RUNTIME_BASH_TRAP_COMMANDS_H
#define RUNTIME_BASH_TRAP_COMMANDS_H

#include <stddef.h>

#include "base/buf.h"

/*
 * The words of the marks. In another shell, which may get the text of a function, each expands to
 * nothing: it has no such variable.
 */
#define NOTEBOOK_WORD "${__ptycell_on+\"__ptycell_notebook\"} "
#define TRAPS_WORD "${__ptycell_on+\"__ptycell_trap\"} "
#define LISTS_WORD                                                                                 \
	"${__ptycell_on+\"__ptycell_list_traps\"} ${__ptycell_on+\"$(\\builtin trap -p)\"} "
#define SETTLING_START "{ "
/* In another shell, the empty command has the status of its substitution. */
#define SETTLING_END "; ${__ptycell_on+\"__ptycell_settle\"}${__ptycell_on-$(exit \"$?\")} && :; }"

#define EXIT_START "{ ${__ptycell_on+\"__ptycell_settle\"}${__ptycell_on-$(exit \"$?\")} && :; "
#define EXIT_END "; }"

/* Appends `code` with a mark before each of these commands. */
void trap_commands_mark(const char *code, size_t len, struct buf *out);

#endif
