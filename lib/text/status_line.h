/* SPDX-License-Identifier: MIT */
/*
 * status_line.h - the line that closes every result of a cell.
 *
 *     status = "[" id "#" cell " " state " " seconds " s" *( " | " part ) "]"
 *
 *     part   = "exit " code
 *            | "files" 1*12( " " change ) [ " and " n " more" ]
 *            | "names " name *11( ", " name ) [ " and " n " more" ]
 *            | "cwd " path
 *            | "output " n " of " n " chars" [ ", " ( "all" | "start" ) " in " path ]
 *            | "background " n " chars" | "children " n
 *            | "unconfined" | ( "saved " | "saving " ) path | "try " call
 *
 *     change = "+" file " " size | ( "~" | "-" ) file
 *     file   = word | JSON string without `|` [ "..." ]   ; sanitize_path_word()
 *
 *     name   = [ "-" ] file [ " " word [ " " word ] ]     ; sanitize_symbol_word(), type, shape
 *     size   = number " " ( "B" | "KB" | "MB" | "GB" | "TB" )
 *
 * The parts come in this order; "-" before a name means that it was deleted. A word has no blank,
 * `|`, `[`, `]`, `#` or comma (sanitize_word()), and a path or call no `|`. No untrusted text can
 * therefore pass for a part. test/support/status_parser.py checks every line against this grammar.
 */
#ifndef TEXT_STATUS_LINE_H
#define TEXT_STATUS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

enum {
	STATUS_CHANGES_MAX = 12,
	STATUS_NAMES_MAX = 12,
	STATUS_PATH_MAX = 400, /* characters */
	STATUS_CALL_MAX = 600,
};

struct status_change {
	char kind; /* '+' new, '~' changed, '-' deleted */
	const char *path;
	uint64_t size; /* bytes; shown for new files */
};

/* Everything is borrowed; strings may be untrusted. Zero and NULL leave a part out. */
struct status {
	const char *id;
	uint64_t cell;
	const char *state;
	double seconds;
	bool has_exit_code;
	int exit_code;
	const struct status_change *changes;
	size_t change_count;
	const char *names; /* one line each: NAME [TYPE [SHAPE]], or -NAME; NAME as in
			      runtime/frame.h */
	const char *cwd;
	size_t output_shown; /* characters; the part is left out if all are shown */
	size_t output_total;
	const char *output_path;
	bool output_cut; /* only its start is stored */
	size_t background_chars;
	int children;
	bool unconfined; /* the code ran without confinement */
	const char *saved;
	bool saving;          /* to that path */
	const char *try_call; /* the next step, as a call */
};

/* Appends the line, without a line break. */
void status_write(struct buf *out, const struct status *status);
/* Appends "950 B", "18 KB", "3.4 MB", "1.2 GB" (powers of 1024). */
void status_size(struct buf *out, uint64_t bytes);
/*
 * Appends "57 MB, more than the limit of 40 MB". The used size gets one more digit where it would
 * otherwise read like the limit: "40.1 MB, more than the limit of 40 MB".
 */
void status_excess(struct buf *out, uint64_t bytes, uint64_t limit);

#endif
