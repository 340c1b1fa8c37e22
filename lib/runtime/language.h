/* SPDX-License-Identifier: MIT */
/*
 * language.h - the table of languages: a row of data plus a driver each.
 *
 * Interpreters are found without running them: PTYCELL_PYTHON and the like, VIRTUAL_ENV, then
 * PATH; version managers' shims are resolved to the real binary (a pyenv shim costs 100 ms a
 * start). The version is told by the driver's `ready` frame, from inside.
 *
 * What a row leaves out is the simplest there is: one socket, frames as they are.
 */
#ifndef RUNTIME_LANGUAGE_H
#define RUNTIME_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct frame;

/* Rows in the table, at most. */
enum { LANGUAGES_MAX = 8 };

/* Seen from the interpreter. */
enum language_descriptor_kind {
	LANGUAGE_SOCKET,     /* a stream both ways */
	LANGUAGE_PIPE_IN,    /* it reads */
	LANGUAGE_PIPE_OUT,   /* it writes */
	LANGUAGE_PIPE_ASIDE, /* it writes, and fails with EAGAIN rather than wait: watched by nobody
			      */
};

/* Beside the terminal on 0-2, one of which it may replace. */
struct language_descriptor {
	/*
	 * Frames come by "control", and go by "commands" where there is one. "interrupt" gets the
	 * number of a cell that is to end, as a line, for who reads it while the driver cannot.
	 * "told" gets what became of packages that a cell asked for, as a line, for who cannot look
	 * for frames meanwhile: CELL " " OK " " TEXT, whose line ends are 0x1e.
	 * "aside" is the codec's to read, when "control" says that there is something.
	 */
	const char *name;
	int number;
	enum language_descriptor_kind kind;
};

enum { LANGUAGE_DESCRIPTORS_MAX = 4 };

/* For a driver that cannot speak frames: its other half, on our side. One a running interpreter. */
struct language_codec {
	void *(*start)(void);
	void (*end)(void *codec);
	/* Lends it our end of "aside", -1 when there is none, before any decode(); NULL: not
	 * needed. */
	void (*attach)(void *codec, int fd);
	/* Appends what the driver is to read for a frame of ours; nothing for what it ignores. */
	void (*encode)(void *codec, const struct frame *frame, struct buf *out);
	/*
	 * Takes what the driver wrote, in any chunking, and appends whole frames. -1 with
	 * ERR_INVALID or ERR_LIMIT when it breaks its grammar: the codec is not used again.
	 */
	int (*decode)(void *codec, const char *data, size_t len, struct buf *frames,
		      struct err *err) MUST_CHECK;
};

struct language {
	const char *name;            /* "python" */
	const char *const *aliases;  /* NULL-terminated, without the name */
	const char *env_override;    /* "PTYCELL_PYTHON" */
	const char *const *commands; /* looked for on PATH, in this order; NULL-terminated */
	const char *install_hint;    /* "apt install python3" */
	const char *asdf_name;       /* that of its plugin, NULL: the name */
	const char *mise_name;       /* likewise */
	/*
	 * Appends the frames that are sent first, before `hello`; NULL: none. `compiled` is the
	 * driver as this interpreter compiled it before, or empty.
	 */
	void (*boot)(struct buf *out, const struct buf *compiled);
	/* Another number for another driver, where the interpreter's compiled form can be kept. */
	uint64_t (*driver_id)(void);
	/* Appends two parts of `hello` by which the driver judges cells before they run: `rules`
	 * are lines of policy/rules.h. NULL: there are no rules for it. */
	void (*add_rules)(struct buf *hello, const char *rules);
	/* What is typed on the terminal at the start: a line with its end; NULL: nothing. */
	const char *typed;
	/* argv after the interpreter's path; NULL-terminated, static. */
	const char *const *(*arguments)(void);
	/* "NAME=value" added to the interpreter's environment; NULL-terminated. */
	const char *const *environment;
	const struct language_descriptor *descriptors; /* NULL: a socket "control", 3 */
	size_t descriptor_count;
	const struct language_codec *codec; /* NULL: the driver speaks frames */
	/* After it was sent a cell: an interrupt any sooner may end the interpreter. */
	unsigned int settle_ms;
	/* Makes the interpreter print where it is, and do no harm; 0 when there is none. */
	int dump_signal;
	/* Takes out of that, or of what it prints as it dies, what is not of the cell; or NULL. */
	void (*tidy_dump)(struct buf *text);
	/* Appends the place that such a print names, foreign, to come after "in"; nothing when it
	 * names none; or NULL. */
	void (*read_dump)(const struct buf *text, struct buf *place);
	/* Names the cell, in what the interpreter says, by the number that answers give it; or
	 * NULL. */
	void (*name_cell)(struct buf *text, uint64_t number);
	/* Goes on after "exited with code 126"; or NULL. */
	const char *exit_126;
	/* Its driver understands a `preload` of no module: it gets ready for a first cell. */
	bool gets_ready;
	/* And of modules of PTYCELL_PRELOAD. */
	bool preloads;
	/* Its driver answers `imported`. */
	bool tells_imported;
	/* And gives threads the size of stack that `hello` says. */
	bool sizes_stacks;
	/* And says `interrupted`. */
	bool tells_interrupts;
};

struct interpreter_path {
	char *path;         /* absolute */
	const char *reason; /* "PTYCELL_PYTHON", "VIRTUAL_ENV", "PATH", "pyenv" ...; static */
};

/* Case-insensitive name or alias; NULL when unknown. */
const struct language *language_find(const char *name);
/* Row `index`, NULL past the end. */
const struct language *language_at(size_t index);
/*
 * Finds the interpreter in `env` (as environ(7)): what env_override names, and then nothing
 * else; the virtual environment's; the first on PATH, where relative entries do not count and a
 * shim that leads nowhere is passed over. ERR_NOT_FOUND says how to get one. On success
 * locate_release() frees it. `reason` is the variable or version manager that told.
 */
int language_locate(const struct language *language, char *const env[],
		    struct interpreter_path *ret_path, struct err *err) MUST_CHECK;
void locate_release(struct interpreter_path *path);
/* Appends the names of those whose interpreter is there: "python, bash". */
void language_list_here(char *const env[], struct buf *out);
/* Of the others, each with how to get it: "r (apt install r-base-core)". */
void language_list_missing(char *const env[], struct buf *out);

#endif
