/* SPDX-License-Identifier: MIT */
/*
 * language.h - the table of languages. Each has a row of data and a driver.
 *
 * Interpreters are found without running them: by PTYCELL_PYTHON and the like, by VIRTUAL_ENV, then
 * on PATH. Shims of version managers are resolved to the real program, because a pyenv shim costs
 * 100 ms a start. The driver reports the version in its `ready` frame.
 *
 * A member that a row leaves out means the simplest case: one socket, frames as they are.
 */
#ifndef RUNTIME_LANGUAGE_H
#define RUNTIME_LANGUAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

struct frame;

/* The most rows that the table may have. */
enum { LANGUAGES_MAX = 8 };

/* The kinds are named from the interpreter's side. */
enum language_descriptor_kind {
	LANGUAGE_SOCKET,     /* a stream both ways */
	LANGUAGE_PIPE_IN,    /* the interpreter reads */
	LANGUAGE_PIPE_OUT,   /* the interpreter writes */
	LANGUAGE_PIPE_ASIDE, /* it writes, never waits (EAGAIN), and the loop does not watch it */
};

/* A descriptor beside the terminal on 0-2; it may replace one of these. */
struct language_descriptor {
	/*
	 * The server reads frames from "control", and writes them to "commands" if there is one,
	 * else to "control". "interrupt" gets the number of a cell that must end, as a line, for a
	 * thread that reads it while the driver is busy. Nothing is written to "spare". The codec
	 * reads "aside" when "control" says that something is there. "values" brings saved
	 * variables (frame.h).
	 */
	const char *name;
	int number;
	enum language_descriptor_kind kind;
};

enum { LANGUAGE_DESCRIPTORS_MAX = 4 };

/* The server's half of a driver that cannot speak frames. Each running interpreter has one. */
struct language_codec {
	void *(*start)(void);
	void (*end)(void *codec);
	/* Lends it the server's end of "aside", or -1, before any decode(). May be NULL. */
	void (*attach)(void *codec, int fd);
	/* Appends what the driver must read for a frame; nothing for a frame that it ignores. */
	void (*encode)(void *codec, const struct frame *frame, struct buf *out);
	/*
	 * Takes bytes that the driver wrote, in any chunking, and appends whole frames. Returns -1
	 * and sets *err (ERR_INVALID, ERR_LIMIT) if they break the grammar: the codec must not be
	 * used again.
	 */
	int (*decode)(void *codec, const char *data, size_t len, struct buf *frames,
		      struct err *err) MUST_CHECK;
};

struct language {
	const char *name;            /* "python" */
	const char *const *aliases;  /* NULL-terminated, without the name */
	const char *env_override;    /* "PTYCELL_PYTHON" */
	const char *const *commands; /* names on PATH, in this order; NULL-terminated */
	const char *install_hint;    /* "apt install python3" */
	const char *asdf_name;       /* of asdf's plugin; NULL: the name */
	const char *mise_name;       /* of mise's tool; NULL: the name */
	/*
	 * Appends the frames that come before `hello`. `compiled` is the driver as this interpreter
	 * compiled it before, or empty. May be NULL.
	 */
	void (*boot)(struct buf *out, const struct buf *compiled);
	/* Returns a number that changes with the driver. NULL: its compiled form cannot be kept. */
	uint64_t (*driver_id)(void);
	/* Appends the two parts of `hello` that let the driver judge cells before they run. `rules`
	 * are lines of policy/rules.h. NULL: the language has no rules. */
	void (*add_rules)(struct buf *hello, const char *rules);
	/* Typed on the terminal at the start: a line with its end. May be NULL. */
	const char *typed;
	/* Returns argv after the interpreter's path; NULL-terminated, static. */
	const char *const *(*arguments)(void);
	/* "NAME=value" to add to the interpreter's environment; NULL-terminated. */
	const char *const *environment;
	const struct language_descriptor *descriptors; /* NULL: the socket "control" on 3 */
	size_t descriptor_count;
	const struct language_codec *codec; /* NULL: the driver speaks frames */
	/* No interrupt is sent for so long after a cell is sent: it could end the interpreter. */
	unsigned int settle_ms;
	/* A signal that makes the interpreter print its stack and nothing else; 0: none. */
	int dump_signal;
	/* Removes from such a dump, or from a crash report, what is not about the cell. May be
	 * NULL. */
	void (*tidy_dump)(struct buf *text);
	/* Appends the place that a dump names, to follow "in"; untrusted text. Appends nothing if
	 * it names none. May be NULL. */
	void (*read_dump)(const struct buf *text, struct buf *place);
	/* Appends a traceback for answers, without what says nothing about the user's code. May be
	 * NULL. */
	void (*fold_traceback)(const char *traceback, struct buf *out);
	/* Replaces the driver's name of the cell in text by the number that answers give it. May be
	 * NULL. */
	void (*name_cell)(struct buf *text, uint64_t number);
	/* Continues the sentence "exited with code 126". May be NULL. */
	const char *exit_126;
	/* The interpreter prints one of these when it ends for lack of memory. The last is NULL. */
	const char *const *memory_words;
	/* A failed allocation raises an error in its code. Other interpreters end by one. */
	bool survives_no_memory;
	/* Its driver warms up for a first cell at a `preload` without a module. */
	bool warms_up;
	/* Its driver imports the modules of PTYCELL_PRELOAD. */
	bool preloads;
	/* Its driver answers `save` and `restore`; the row has a descriptor "values". */
	bool saves_variables;
	/* Its driver answers `imported`. */
	bool reports_imported;
	/* Its driver answers `close-named`. */
	bool closes_named;
	/* Its driver gets `again` with a recorded cell that runs again. */
	bool told_again;
	/* Its driver gives threads the stack size in `hello`. */
	bool sizes_stacks;
	/* 0, or a signal that only makes the interpreter look for signals that it has received. Its
	 * driver sends `interrupted`. */
	int wake_signal;
};

struct interpreter_path {
	char *path;         /* absolute */
	const char *reason; /* "PTYCELL_PYTHON", "VIRTUAL_ENV", "PATH", "pyenv" ...; static */
};

/* Returns the language with this name or alias, in any case, or NULL. */
const struct language *language_find(const char *name);
/* Returns row `index`, or NULL past the end. */
const struct language *language_at(size_t index);
/*
 * Finds the interpreter in `env` (as environ(7)). If env_override is set, only the program that it
 * names counts. Else the virtual environment's is taken, else the first on PATH, where relative
 * entries do not count and a shim that leads nowhere is skipped. Returns -1 and sets *err
 * (ERR_NOT_FOUND), whose text says how to install one. locate_release() frees the result, whose
 * `reason` is the variable or version manager that decided.
 */
int language_locate(const struct language *language, char *const env[],
		    struct interpreter_path *ret_path, struct err *err) MUST_CHECK;
/* Frees the path and clears the struct. */
void locate_release(struct interpreter_path *path);
/* Returns whether an interpreter of the language is installed. */
bool language_is_here(const struct language *language, char *const env[]);
/* Appends the names of languages whose interpreter is installed: "python, bash". */
void language_list_here(char *const env[], struct buf *out);
/* Appends the other languages, each with its installation: "r (apt install r-base-core)". */
void language_list_missing(char *const env[], struct buf *out);

#endif
