/* SPDX-License-Identifier: MIT */
/*
 * trap_wrappers.c - wraps the user's DEBUG and RETURN traps, so that they run for the user's code
 * only. Under set -T, bash runs both for functions of the driver, too.
 */
#include "runtime/bash/trap_wrappers.h"

#include <string.h>

#include "base/util.h"

/*
 * Appends a RETURN trap that does nothing outside of the user's code. A cell may end before the
 * code of put_end(), where there is no BASH_SOURCE; and under set -T the driver's functions would
 * run the trap.
 */
static void put_return_trap(struct buf *out, const char *word, size_t word_len)
{
	static const char start[] = "'case ${BASH_SOURCE:+.${FUNCNAME-}} in .__ptycell_*) ;; ?*) ";
	static const char end[] = "\n;; esac'";

	word++;
	word_len -= strlen("''");
	if (word_len > sizeof(start) + sizeof(end) &&
	    memcmp(word, start + 1, sizeof(start) - 2) == 0) {
		word += sizeof(start) - 2;
		word_len -= sizeof(start) - 2 + sizeof(end) - 2;
	}
	buf_putf(out, "\\builtin trap -- %s%.*s'$'\\n;; esac' RETURN; ", start, (int)word_len,
		 word);
}

/*
 * Appends a DEBUG trap that does nothing at first, because the driver's commands before the cell
 * must not run it. The last of them, which is another one under set -T, replaces it with the
 * user's.
 */
static void put_debug_trap(struct buf *out, const char *word, size_t word_len)
{
	static const char start[] = "'case $-.$BASH_COMMAND in *T*.__ptycell_return*) ;; "
				    "*.__ptycell_return* | *.builtin\\ return*) trap -- ";

	/* An interrupt can come before the replacement. */
	if (word_len > sizeof(start) && memcmp(word, start, sizeof(start) - 1) == 0) {
		buf_putf(out, "\\builtin trap -- %.*s DEBUG; ", (int)word_len, word);
		return;
	}
	buf_putf(out, "\\builtin trap -- %s", start);
	for (size_t i = 0; i < word_len; i++)
		if (word[i] == '\'')
			buf_puts(out, "'\\''");
		else
			buf_put(out, &word[i], 1);
	buf_puts(out, " DEBUG;; esac' DEBUG; ");
}

void trap_wrappers_put(struct buf *out, const char *word, size_t word_len, const char *signal)
{
	if (word_len == 1 && word[0] == '-')
		return; /* bash in POSIX mode reports no trap then */
	if (str_eq(signal, "RETURN") && word_len > strlen("''"))
		put_return_trap(out, word, word_len);
	else if (str_eq(signal, "DEBUG") && word_len > strlen("''"))
		put_debug_trap(out, word, word_len);
	else
		buf_putf(out, "\\builtin trap -- %.*s %s; ", (int)word_len, word, signal);
}
