/* SPDX-License-Identifier: MIT */
/*
 * codec.h - frames for a driver that is a shell: bash can neither hold bytes nor count them.
 *
 * Down, on bash's standard input; NONCE is that of `hello`, lengths are bytes:
 *
 *   "hello " NONCE
 *   "@" NONCE " exec " CELL " " TRAPS " " CODE LF traps code "__ptycell_next" LF
 * (code with words before what installs packages and sets traps, bash/installs.h)
 *   "@" NONCE " vars " ID LF
 *
 * Up, each message as it comes out of bash's own `trap -p`, `jobs -pr`, `declare -p` and
 * `declare -F`, which could only be captured there by a fork:
 *
 *   traps "@" NONCE " " what LF jobs "@" NONCE " names" LF declarations "@" NONCE " end" LF
 *   what = "ready " VERSION / "done " CELL " " STATE " " STATUS / "vars " ID
 *
 *   "@" NONCE " install " CELL " " LANGUAGE TAB package {TAB package} LF
 *
 * The last is a message of its own, written at once, and may stand between the lines of others; it
 * is answered by another pipe, "told" (runner/runner_query.c). All of the others but their last
 * line goes by a pipe of its own, "aside", which is read when that line comes: bash writes each
 * line by itself, and each would wake the server. What does not fit there comes whole by the
 * control pipe, but for traps.
 *
 * What it gets of names and traps is kept here, to tell what a cell changed and to put its traps
 * back in the next one. All of it is untrusted.
 */
#ifndef RUNTIME_BASH_CODEC_H
#define RUNTIME_BASH_CODEC_H

struct language_codec;

enum {
	BASH_MESSAGE_MAX = 4 << 20, /* of a message: names beyond it are not looked at */
	BASH_ASIDE_MAX = 256 << 10, /* of what comes aside, as far as the kernel allows it */
};

extern const struct language_codec bash_codec;

#endif
