/* SPDX-License-Identifier: MIT */
/*
 * frame.h - the messages between the server and a driver.
 *
 *   frame = type " " id " " parts "\n" *part
 *   part  = name " " length "\n" length*OCTET
 *
 * type and name are 1-64 of a-z 0-9 . / + -; numbers are decimal without sign or leading zeros. A
 * flag is "1" or "0". Frames of a driver are untrusted: only the limits below hold for them.
 *
 * To the driver: boot, hello; exec, restore, interrupt, ack, installed; vars, imported,
 * close-named, save, quit; preload, serve.
 *
 * From the driver: ready; begun, output, display, clear, result, done; interrupted, handles, reads;
 * install; values, saved, failed. The server ignores `log`.
 *
 * 1. The start. `boot` has the driver, for a stub that reads it. `hello` has `proto` ("1"),
 * `nonce`, `output` (the folder for results), and, if they apply, `stack` (bytes of a thread's
 * stack) and the parts of language.add_rules. The driver answers `ready` with the same `proto` and
 * `nonce`, and the interpreter's `version`.
 *
 * 2. A cell. `exec` has the part `code`. Its id is the cell's number, by which tracebacks name it:
 * "<cell 4>". All frames of the cell have this id. With a part `again` it is a recorded cell that
 * runs again: cells follow each other so fast that a folder's time may not show what is new.
 *
 * `begun`: no code of the cell has run, so bytes that came over the terminal before are background
 * output. The server acknowledges it, and the cell begins then. A driver sends it if something may
 * have written since the last cell; otherwise a cell begins when it is sent.
 *
 * `output`, part `text`. The terminal carries most output. A driver may send some here; bytes that
 * came over the terminal before count as older. With a part `ack` the driver waits for the
 * acknowledgement before anything else may write to the terminal.
 *
 * `display` has a figure or a value: "image/png" or "image/jpeg" with `file`, its name in the
 * output folder; or "text/plain"; and sounds, as "audio/wav". "text/html" and the like are only
 * noted. It is acknowledged, so that it gets its place in the output.
 *
 * `result` has the value of the cell, in the same parts. A value that is a table has a part
 * `table`, for the record only: its first rows as JSON, in the shape of journal/table.h.
 *
 * `clear` removes what the cell has shown, unless an answer has reported it. It is acknowledged.
 *
 * `done` ends the cell. Each of its parts may be missing:
 *
 *   - status: ok, error, interrupted, or exit with the exit code in `code`
 *   - traceback, ename, evalue of an error; missing: the module that is not installed
 *   - raised: the code raised the error itself
 *   - children: how many child processes live
 *   - active: threads, timers or connections of the interpreter go on
 *   - cwd: the folder that the interpreter works in, if it is not the one that it began in
 *   - names: those that the cell changed, see 4
 *   - handles: as in the frame of that name
 *
 * 3. Interrupts. They arrive as SIGINT. `interrupt`, with the cell's id, says that the cell must
 * end.
 *
 * `interrupted`: SIGINT has reached the code of the cell. The driver of a language with a
 * wake_signal sends it, and the server sends no such signal then.
 *
 * `handles`, part `handles`, a flag: whether session code handles SIGINT itself from now on. The
 * server repeats no interrupt then.
 *
 * `reads`, part `now`, a flag: the interpreter's event loop has begun or ended to read the
 * terminal. A driver that knows sends it, in cells and between them. Without it the server goes by
 * the system call that the process waits in, and a process may keep a terminal open without
 * reading.
 *
 * 4. Names. Both forms are lines, without a line end after the last one. No session code runs for
 * them: no repr, length or property of a user's class. Neither history nor `_` changes.
 *
 *   done, part `names`, of `exec`:
 *     NAME [" " TYPE [" " SHAPE]]       bound anew, or changed in place
 *     "-" NAME                          no longer there
 *
 *   NAME is escaped as a field of vars, its blanks are \s, and a `-` that begins it is \-
 *
 *   `vars`, part `limit`, a decimal number, is sent between cells only. The server waits 2 s for
 * its done, which has status ok and two parts.
 *     - vars: lines NAME TAB TYPE TAB SHAPE TAB BYTES TAB PREVIEW, at most `limit`
 *     - total: the number of names, if there are more
 *
 * TYPE is the language's name for it ("DataFrame", "function", "array"). SHAPE is "150x5" or a
 * length. Neither contains a blank. BYTES is decimal. Each field but NAME may be empty. PREVIEW
 * shows plain values only, at most 200 characters; it is empty if only session code could show the
 * value. Within a field of vars a backslash is \\, a tab \t, a line feed \n, a carriage return \r.
 * Names of the language and of the driver, modules and hidden names are left out. A language
 * without names answers vars with an empty part.
 *
 * 5. Packages. A cell that needs some sends `install` with `language` and `packages`, one a line.
 * It waits for `installed`, which has the same id and the parts `ok`, a flag; `text`, for the
 * reader of the cell's output; and `packages`, as for imported.
 *
 * `imported`, part `packages`: lines NAME TAB VERSION TAB MODULE of packages that were just
 * installed. Its done has in `vars` a line of text for each package of which an older copy is
 * imported.
 *
 * `close-named`, between cells: the driver closes objects of session code that would write a file
 * of the working folder by its name later. Its done has in `vars` a line with the path of each
 * file. Where one stays open, its status is no, with a `text` that says why.
 *
 * 6. Variables that last. `save`, between cells: the driver saves the session's variables in at
 * most `limit` bytes. `cell` is the number of the last cell. `secrets`, if there are any, are texts
 * that must not be saved, each with a NUL behind it. A copy of the interpreter saves them; done
 * comes when that has begun. With a part `here`, a time in ms, the interpreter saves them itself
 * within it; done comes when that is over. Its status is ok, or no with a `text` that says why.
 *
 * The descriptor "values" brings frames with the id of `save`: `values` with a piece of the file in
 * `data`, and at last `saved`, or `failed` from a copy. `saved` has the number of `names`, the `ms`
 * that bringing them back may take, and `changing`, which is 1 if background tasks may still change
 * the variables. `failed` has `why`. Only drivers read the file.
 *
 * `restore`, part `file`, the path of such a file. It runs code of the session, so it begins and
 * ends as a cell does. Its done has `restored`, five lines of names. The names of the first line
 * are back; those of the second could not be loaded, and those of the third were not saved, each
 * with a reason. The names of the fourth were there and stay. The fifth has definitions whose
 * decorators ran after values were loaded.
 *
 * 7. The end. `quit`, between cells: the interpreter ends as at a terminal. Functions that session
 * code registered for that run, and its files are closed. SIGINT ends one of them that hangs. It
 * may still send frames that are acknowledged, and is killed when its time is over.
 *
 * 8. Before a session. `preload`, part `module`, a module to import. Its done has status ok, even
 * if there is no such module. Before it the driver writes out what the import printed, and removes
 * files that the import made in the working folder. The first `preload` has an empty name: the
 * driver then warms up for a first cell and leaves no trace of that. Its done has `compiled`, the
 * driver as compiled by the interpreter, if the interpreter had to compile it.
 *
 * `serve`, part `library`, the path of ptycell-parent.so: done comes first. Then the interpreter is
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
