/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the messages between the server and a driver.
 *
 *   frame = type " " id " " parts "\n" *part
 *   part  = name " " length "\n" length*OCTET
 *
 * type and name are 1-64 of a-z 0-9 . / + -; numbers are decimal without sign or leading zeros.
 * Frames of a driver are untrusted: the limits of the parser below are all that holds for them.
 *
 * Output. The terminal carries most of it. A driver may send output in the part `text` of `output`,
 * with its cell's id; bytes that came over the terminal before count as older. With a part `ack`
 * the driver waits for the acknowledgement before anything else may write to the terminal, as
 * after `display`.
 *
 * `begun`, with the cell's id: no code of the cell has run, and bytes that came over the terminal
 * before are background output. The server acknowledges it, and the cell begins then. A driver
 * sends it if something may have written since the last cell; otherwise a cell begins when it is
 * sent.
 *
 * `clear` removes what the cell has shown, unless an answer has reported it. It is acknowledged.
 *
 * `reads`, part `now`, "1" or "0": the interpreter's event loop has begun or ended to read the
 * terminal. A driver that knows sends it, in cells and between them. Without it the server goes by
 * the system call that the process waits in, and a process may keep a terminal open without
 * reading.
 *
 * `interrupted`, with the cell's id and without parts: SIGINT has reached the code of the cell. The
 * driver of a language with a wake_signal sends it, and the server sends no such signal then.
 *
 * `handles`, with the cell's id, part `handles`, "1" or "0": whether session code handles SIGINT
 * itself from now on. `done` may have this part, too. The server repeats no interrupt then.
 *
 * Names. Both forms are lines, without a line end after the last one. No session code runs for
 * them: no repr, length or property of a user's class. Neither history nor `_` changes.
 *
 *   exec's done, part `names`, the names that the cell changed:
 *     NAME [" " TYPE [" " SHAPE]]       bound anew, or changed in place
 *     "-" NAME                          no longer there
 *
 *   NAME is escaped as a field of vars, its blanks are \s, and a `-` that begins it is \-
 *
 *   vars, part `limit`, a decimal number. Its done has status ok and
 *     vars   NAME TAB TYPE TAB SHAPE TAB BYTES TAB PREVIEW, at most `limit` lines
 *     total  the number of names, if there are more
 *
 *   imported, part `packages`: lines NAME TAB VERSION TAB MODULE of packages that were just
 * installed. Its done has in `vars` a line of text for each package of which an older copy is
 * imported.
 *
 * TYPE is the language's name for it ("DataFrame", "function", "array"). SHAPE is "150x5" or a
 * length. Neither contains a blank. BYTES is decimal. Each field but NAME may be empty. PREVIEW
 * shows plain values only, at most 200 characters; it is empty if only session code could show the
 * value. Within a field of vars a backslash is \\, a tab \t, a line feed \n, a carriage return \r.
 * Names of the language and of the driver, modules and hidden names are left out. A language
 * without names answers vars with an empty part. vars is sent between cells only; the server waits
 * 2 s for it.
 *
 * Packages. A cell that needs some sends `install` with its own id and the parts `language` and
 * `packages`, one a line. It waits for `installed`, which has the same id and the parts `ok`, "1"
 * or "0"; `text`, for the reader of the cell's output; and `packages`, as for imported.
 *
 * Before a session:
 *   preload, part `module`, a module to import. Its done has status ok whether or not there is such
 * a module, and comes once nothing of the import but the module is left. The first one has an empty
 * name: the driver then warms up for a first cell and leaves no trace of that. Its done has
 * `compiled`, the driver as compiled by the interpreter, if the interpreter had to compile it.
 *   serve, part `library`, the path of ptycell-parent.so: done comes first. Then the interpreter is
 * a zygote, forked by requests on its descriptor 4 (sandbox/supervise/zygote.h), until the next
 * frame. A forked session begins with hello, without a boot.
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
	FRAME_UP_PART_MAX = 8 << 20,   /* from a driver, which refuses to send more: a picture */
	FRAME_KEPT_MAX = 4 << 10,      /* longer parts go when a frame is dropped */
	FRAME_UP_LIST_MAX = 256 << 10, /* names and packages, which drivers cut before that */
};

struct frame_part {
	char name[FRAME_NAME_MAX + 1];
	const char *data; /* borrowed from the reader, not NUL-terminated */
	size_t len;
};

struct frame {
	char type[FRAME_NAME_MAX + 1];
	uint64_t id;
	size_t left_out; /* bytes of its parts that were dropped: these parts are empty */
	size_t part_count;
	struct frame_part parts[FRAME_PARTS_MAX];
};

/* Returns the first part with this name, or NULL. Borrowed from the frame. */
const struct frame_part *frame_part(const struct frame *frame, const char *name);
/* Returns a copy of the part's bytes as a string, or NULL without such a part. The caller frees it.
 */
char *frame_text(const struct frame *frame, const char *name);

/* Appends the header of a frame. Exactly `part_count` calls of frame_add must follow. */
void frame_begin(struct buf *out, const char *type, uint64_t id, size_t part_count);
/* Appends one part. */
void frame_add(struct buf *out, const char *name, const void *data, size_t len);

struct frame_reader;

/* Makes a reader of frames whose parts have at most `part_max` bytes each, and twice that together.
 */
struct frame_reader *frame_reader_new(size_t part_max);
/* `reader` may be NULL. */
void frame_reader_free(struct frame_reader *reader);
/* Adds received bytes, in any chunking. */
void frame_reader_feed(struct frame_reader *reader, const void *data, size_t len);
/*
 * Returns 1 and the next whole frame, which is borrowed until the next call on the reader. Returns
 * 0 if more bytes are needed. Returns -1 and sets *err (ERR_INVALID, ERR_LIMIT) if the other side
 * breaks the grammar; every later call then fails in the same way. A length that was announced
 * allocates nothing: only received bytes take memory.
 */
int frame_reader_next(struct frame_reader *reader, const struct frame **ret_frame,
		      struct err *err) MUST_CHECK;
/* Returns true if some bytes of an unfinished frame have come. */
bool frame_reader_pending(const struct frame_reader *reader);
/*
 * Drops the long parts of the unfinished frame, received or not. The frame is still returned once
 * it is whole, and takes no more memory than its short parts.
 */
void frame_reader_drop(struct frame_reader *reader);
/* Returns the number of bytes that the reader holds. */
size_t frame_reader_held(const struct frame_reader *reader);

#endif
