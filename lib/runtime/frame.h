/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the messages between the server and a driver.
 *
 *   frame = type " " id " " parts "\n" *part
 *   part  = name " " length "\n" length*OCTET
 *
 * type and name are 1-64 of a-z 0-9 . / + -; numbers are decimal without sign or leading zeros.
 * What a driver sends is untrusted: the parser's limits below are its only promises.
 *
 * Output. Mostly the terminal carries it. A driver may send it in the part `text` of `output`, with
 * its cell's id, and then what came over the terminal before counts as older. With a part `ack`
 * it waits for the answer before anything else may write to the terminal, as after `display`.
 *
 * `begun`, with the cell's id: nothing of the cell has run, and what came over the terminal before
 * is background output. It is acknowledged, and the cell begins then. A driver says it where
 * something may have written since the cell before; without it a cell begins when it is sent.
 *
 * `clear` takes back what the cell has shown and no answer has told yet; it is acknowledged.
 *
 * `reads`, part `now`, "1" or "0": the interpreter's event loop has begun to read the terminal, or
 * does not read it any more. A driver that knows says so, in cells and between them. Without it the
 * server goes by what the process waits for, where a terminal may stay that nobody reads.
 *
 * `interrupted`, with the cell's id and without parts: SIGINT has come to the cell's code. A driver
 * of a language that tells_interrupts says so, and no second one follows soon.
 *
 * Names. Both forms are lines without an end after the last; nothing of the user's code runs for
 * them (no repr, length or property of a user's class), and neither history nor `_` changes.
 *
 *   exec's done, part `names`, what the cell changed:
 *     NAME [" " TYPE [" " SHAPE]]       bound anew, or changed in place
 *     "-" NAME                          gone
 *       where NAME is escaped as a field of vars, its blanks are \s, and a `-` that begins it is \-
 *   vars, part `limit`, a decimal number. Its done has status ok and
 *     vars   NAME TAB TYPE TAB SHAPE TAB BYTES TAB PREVIEW, at most `limit` lines
 *     total  how many names there are, when they are more
 *
 *   imported, part `packages`: lines NAME TAB VERSION TAB MODULE of what was just installed. Its
 * done has in `vars` a line of text for each that an older copy is imported of.
 *
 * Packages. A cell that is to install some sends `install` with its own id and the parts `language`
 * and `packages`, a line each, and waits for `installed`, with the same id and the parts `ok`, "1"
 * or "0"; `text`, for whoever reads the cell's output; and `packages`, as for imported.
 *   preload, part `module`, a module to import ahead of any cell. Its done has status ok, whether
 * or not there is such a module, and comes when nothing of the import but the module is left. For
 * an empty name, which comes first, the driver gets ready for a first cell and leaves no trace of
 * that; done has `compiled`, the driver as the interpreter compiled it, when it had to.
 *   serve, part `library`, the path of ptycell-parent.so: the interpreter is copied from then on,
 * for who asks by its descriptor 4 (sandbox/supervise/zygote.h), until the next frame. Done is told
 * before that. Its copies begin with hello, without a boot.
 *
 * TYPE is what the language calls it ("DataFrame", "function", "array"), SHAPE "150x5" or a length,
 * neither with a blank; BYTES is decimal; each but NAME may be empty. PREVIEW shows plain values
 * only, at most 200 characters, and is empty for what only the user's code could show. Within a
 * field of vars a backslash is \\, a tab \t, a line feed \n, a carriage return \r. Left out: what
 * the language or the driver put there, modules, and names that the language hides. A language
 * without names answers vars with an empty part. vars is asked between cells only; an answer that
 * takes longer than 2 s is not waited for.
 */
#ifndef RUNTIME_FRAME_H
#define RUNTIME_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

enum {
	FRAME_NAME_MAX = 64,
	FRAME_PARTS_MAX = 64,
	FRAME_LINE_MAX = 256,
	FRAME_PART_MAX = 64 << 20,     /* to a driver: code */
	FRAME_UP_PART_MAX = 8 << 20,   /* from one, which refuses what would be longer: a picture */
	FRAME_KEPT_MAX = 4 << 10,      /* of a part that stays when a frame is given up */
	FRAME_UP_LIST_MAX = 256 << 10, /* of names and packages, which drivers cut before */
};

struct frame_part {
	char name[FRAME_NAME_MAX + 1];
	const char *data; /* into the frame's bytes, not NUL-terminated */
	size_t len;
};

struct frame {
	char type[FRAME_NAME_MAX + 1];
	uint64_t id;
	size_t left_out; /* bytes of its parts that were given up: those parts are empty */
	size_t part_count;
	struct frame_part parts[FRAME_PARTS_MAX];
};

/* NULL when there is none; the first of several. */
const struct frame_part *frame_part(const struct frame *frame, const char *name);
/* A copy that the caller frees, NULL when there is no such part. */
char *frame_text(const struct frame *frame, const char *name);

/* Writing: frame_begin, then exactly `part_count` times frame_add. */
void frame_begin(struct buf *out, const char *type, uint64_t id, size_t part_count);
void frame_add(struct buf *out, const char *name, const void *data, size_t len);

struct frame_reader;

/* Of frames whose parts have at most `part_max` bytes each, and twice that together. */
struct frame_reader *frame_reader_new(size_t part_max);
void frame_reader_free(struct frame_reader *reader);
/* Takes bytes in any chunking. */
void frame_reader_feed(struct frame_reader *reader, const void *data, size_t len);
/*
 * The next whole frame: 1 and `*ret_frame` (valid until the next call on the reader), 0 when more
 * bytes are needed, -1 with ERR_INVALID or ERR_LIMIT when the other side breaks the grammar; the
 * reader is then dead and says the same again. Nothing is allocated for a length not yet received.
 */
int frame_reader_next(struct frame_reader *reader, const struct frame **ret_frame,
		      struct err *err) MUST_CHECK;
/* True within a frame: some bytes of it have come. */
bool frame_reader_pending(const struct frame_reader *reader);
/*
 * Gives up what is long of the unfinished frame, what comes and what is still to come. The frame
 * comes all the same, when its end is there, and takes no more memory than its short parts.
 */
void frame_reader_drop(struct frame_reader *reader);
/* Bytes that it holds. */
size_t frame_reader_held(const struct frame_reader *reader);

#endif
