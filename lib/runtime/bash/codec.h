/* SPDX-License-Identifier: MIT */
/*
 * codec.h - translates frames for a driver in bash, which can neither hold bytes nor count them.
 *
 * Down, on bash's standard input. NONCE is that of `hello`, lengths are bytes. Traps in the
 * code are marked (bash/trap_commands.h):
 *
 *   "hello " NONCE
 *   "@" NONCE " exec " CELL " " PARTS " " PLAIN " " TRAPS " " CODE LF
 *     traps code "__ptycell_next" LF
 *   "@" NONCE " vars " ID LF
 *
 * PARTS is 1 if the driver may set its RETURN trap, else 0. PLAIN is 1 if the code is ASCII and not
 * empty, else 0: a character is a byte then, in every locale.
 *
 * Up, each message is the output of bash's own `trap -p`, `jobs -pr`, `declare -p` and `declare
 * -F`, because bash can capture it only by a fork:
 *
 *   traps "@" NONCE " " what LF jobs "@" NONCE " names" LF declarations "@" NONCE " end " what LF
 *   what = "ready " VERSION / "done " CELL " " STATE " " STATUS / "vars " ID
 *
 *   "@" NONCE " handles " CELL " " 1 or 0 LF, whether the shell traps SIGINT
 *
 * The last one is a message of its own. It is written at once and may come between the lines of
 * others.
 *
 * All lines of other messages but the last go by a pipe of their own, "aside", which is read when
 * the last line comes. Bash writes each line by itself, and each would wake the server. A message
 * that does not fit into that pipe comes by the control pipe, without traps. The last line repeats
 * what the message says, because bash can lose what it writes before if an interrupt comes.
 *
 * The codec stores names and traps, to find the changes of a cell and to restore its traps in the
 * next one. All input is untrusted.
 */
#ifndef RUNTIME_BASH_CODEC_H
#define RUNTIME_BASH_CODEC_H

struct language_codec;

enum {
	BASH_MESSAGE_MAX = 4 << 20, /* of a message; names beyond it are ignored */
	BASH_ASIDE_MAX = 256 << 10, /* of the pipe "aside", as far as the kernel allows it */
};

extern const struct language_codec bash_codec;

#endif
