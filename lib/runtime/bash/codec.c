/* SPDX-License-Identifier: MIT */
/*
 * codec.c - writes cells as shell code and reads messages by their lines. Bash runs a RETURN trap
 * at the end of a cell, because the cell is a sourced file to it: once code has set such a trap,
 * cells inspect the traps themselves before their end. If most of a message comes by the pipe
 * "aside", its last line on the control pipe completes it.
 */
#include "runtime/bash/codec.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "runtime/bash/declaration.h"
#include "runtime/bash/names.h"
#include "runtime/bash/requests.h"
#include "runtime/bash/trap_commands.h"
#include "runtime/bash/trap_wrappers.h"
#include "runtime/frame.h"
#include "runtime/language.h"

enum {
	NONCE_MAX = 64,
	MARK_MAX = NONCE_MAX + 16,
	VARS_DEFAULT = 1000,
	WHAT_MAX = 2000,
	LIST_MAX = 64 << 10, /* bytes of names in a frame */
};

struct bash {
	char nonce[NONCE_MAX + 1];
	int aside;        /* the pipe "aside", -1 if there is none */
	struct buf apart; /* input of the pipe "aside" */
	struct buf in;    /* the message so far */
	size_t scanned;   /* bytes of `in` that were searched for the message's end */
	bool cut;         /* its declarations were too many */
	bool returns;     /* session code has set a RETURN trap, or may have */
	bool aliases;     /* words of a loop are aliases, or may be */
	char *traps;      /* the traps that the next cell restores */
	char *bye;        /* for then: the user's EXIT trap, if the driver did not see it */
	struct names names;
	uint64_t limit; /* of the last request for variables */
};

/* The parts of a message. */
struct message {
	const char *traps;
	size_t traps_len;
	char what[WHAT_MAX];
	const char *jobs;
	size_t jobs_len;
	const char *names;
	size_t names_len;
};

static void *codec_start(void)
{
	struct bash *b = xcalloc(1, sizeof(*b));

	b->aside = -1;
	buf_init(&b->apart, BASH_ASIDE_MAX);
	buf_init(&b->in, BASH_MESSAGE_MAX + MARK_MAX + (1 << 20));
	b->traps = xstrdup("");
	b->bye = xstrdup("");
	return b;
}

static void codec_end(void *codec)
{
	struct bash *b = codec;

	buf_release(&b->apart);
	buf_release(&b->in);
	names_release(&b->names);
	free(b->traps);
	free(b->bye);
	free(b);
}

static void codec_attach(void *codec, int fd)
{
	struct bash *b = codec;

	b->aside = fd;
	if (fd >= 0) /* The kernel refuses a large pipe if the user has many: it is small then. */
		(void)fcntl(fd, F_SETPIPE_SZ, BASH_ASIDE_MAX);
}

/* ---- server to bash ---- */

/*
 * Appends the code without what editors of Windows add: the byte order mark at its start, and the
 * CR of a line end, which a shell takes for a part of the last word. NUL bytes are removed, too,
 * because a shell has none. Returns how many NUL bytes there were.
 */
static size_t put_code(struct buf *out, const struct frame_part *part)
{
	static const char mark[] = { '\xef', '\xbb', '\xbf' };
	const char *data = part != NULL ? part->data : "";
	size_t len = part != NULL ? part->len : 0;
	size_t i = len >= sizeof(mark) && memcmp(data, mark, sizeof(mark)) == 0 ? sizeof(mark) : 0;
	size_t nuls = 0;

	for (; i < len; i++) {
		char c = data[i];

		nuls += c == '\0';
		if (c == '\0' || (c == '\r' && (i + 1 == len || data[i + 1] == '\n')))
			continue;
		buf_put(out, &c, 1);
	}
	return nuls;
}

/*
 * Appends code that inspects and removes the traps before the cell ends. Bash would run a RETURN
 * trap at the end, because the cell is a sourced file to it.
 */
static void put_end(struct bash *b, struct buf *code)
{
	const char *text = buf_str(code);

	b->returns |= strstr(text, "trap") != NULL && strcasestr(text, "return") != NULL;
	if (!b->returns || strstr(text, "<<") != NULL) /* a here-document may lack its end */
		return;
	if (code->len > 0 && text[code->len - 1] == '\\')
		buf_puts(code, "\n");
	buf_puts(code,
		 "\n{ __ptycell_status=$? __ptycell_last=${_-} __ptycell_pipe=${PIPESTATUS[@]} "
		 "__ptycell_flags=$-; \\builtin eval \"$__ptycell_look\"; "
		 "\\builtin return \"$__ptycell_status\"; } >/dev/null 2>&1");
}

/*
 * Returns whether the driver may set its RETURN trap for this code. Bash would show it under set
 * -v, and could not read it if the words of a loop were aliases. It may say no for other code, too.
 */
static bool may_part(struct bash *b, const char *code)
{
	static const char letters[] = "abefhikmnptuvxBCEHPT";
	static const char *const words[] = { "for=", "do=", "done=" };

	if (strstr(code, "alias") != NULL)
		for (size_t i = 0; i < ARRAY_SIZE(words); i++)
			b->aliases |= strstr(code, words[i]) != NULL;
	if (b->aliases || strstr(code, "set") == NULL)
		return !b->aliases;
	for (const char *at = code; (at = strchr(at, '-')) != NULL; at++)
		if (memchr(at + 1, 'v', strspn(at + 1, letters)) != NULL)
			return false;
	return strstr(code, "verbose") == NULL;
}

/* Returns whether a character of the code is a byte in every locale. Empty code is none to read. */
static bool is_plain(const struct buf *code)
{
	for (size_t i = 0; i < code->len; i++)
		if ((unsigned char)code->data[i] > 127)
			return false;
	return code->len > 0;
}

static void encode_exec(struct bash *b, const struct frame *frame, struct buf *out)
{
	cleanup_buf struct buf written = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf code = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf before = BUF_INIT(BUF_UNBOUNDED);
	size_t nuls = put_code(&written, frame_part(frame, "code"));

	trap_commands_mark(buf_str(&written), written.len, &code);
	put_end(b, &code);
	if (nuls > 0)
		buf_putf(
			&before,
			"\\builtin printf '%%s\\n' 'NUL bytes of the code that were left out: %zu' >&2; ",
			nuls);
	buf_puts(&before, b->traps);
	buf_puts(&before, b->bye);
	/*
	 * The cell must find $? unchanged. `&&`, so that a failure is no error to bash; and a
	 * command that runs no DEBUG trap.
	 */
	if (before.len > 0)
		buf_puts(&before,
			 "__ptycell_return \"$__ptycell_status\" traced \"$__ptycell_arg\" && "
			 "__ptycell_ready() ((1)); ");
	buf_putf(out, "@%s exec %ju %d %d %zu %zu\n%s", b->nonce, (uintmax_t)frame->id,
		 may_part(b, buf_str(&written)) ? 1 : 0, is_plain(&code) ? 1 : 0, before.len,
		 code.len, buf_str(&before));
	buf_put(out, buf_str(&code), code.len);
	buf_puts(out, "__ptycell_next\n");
}

/* A cell without an answer, whose code ends the shell. */
static void encode_quit(const struct bash *b, struct buf *out)
{
	cleanup_free char *code = xasprintf("%s__ptycell_quit\n", b->bye);

	buf_putf(out, "@%s exec 0 0 0 0 %zu\n%s__ptycell_next\n", b->nonce, strlen(code), code);
}

static void take_limit(struct bash *b, const struct frame *frame)
{
	cleanup_free char *limit = frame_text(frame, "limit");

	b->limit = limit != NULL ? strtoull(limit, NULL, 10) : VARS_DEFAULT;
}

static void encode_hello(struct bash *b, const struct frame *frame, struct buf *out)
{
	const struct frame_part *nonce = frame_part(frame, "nonce");
	size_t len = nonce != NULL ? size_min(nonce->len, NONCE_MAX) : 0;

	if (len > 0)
		memcpy(b->nonce, nonce->data, len);
	b->nonce[len] = '\0';
	buf_putf(out, "hello %s\n", b->nonce);
}

/*
 * Appends a frame. `interrupt` and `ack` are not sent: they must not be in the pipe while bash
 * itself reads from it.
 */
static void codec_encode(void *codec, const struct frame *frame, struct buf *out)
{
	struct bash *b = codec;

	if (str_eq(frame->type, "hello")) {
		encode_hello(b, frame, out);
	} else if (str_eq(frame->type, "exec")) {
		encode_exec(b, frame, out);
	} else if (str_eq(frame->type, "quit")) {
		encode_quit(b, out);
	} else if (str_eq(frame->type, "vars")) {
		take_limit(b, frame);
		buf_putf(out, "@%s vars %ju\n", b->nonce, (uintmax_t)frame->id);
	}
}

/* ---- traps ---- */

/* Returns whether a trap of EXIT or RETURN is the driver's. */
static bool is_ours(const char *word, size_t word_len, const char *signal)
{
	const char *start = str_eq(signal, "EXIT") ? "'{ __ptycell_status="
						   : "'for __ptycell_line in ${__ptycell_void";

	return word_len > strlen(start) && memcmp(word, start, strlen(start)) == 0;
}

static const char *take_trap(struct bash *b, struct buf *out, const char *at, const char *end)
{
	const char *word_end = declaration_word_end(at, end);
	const char *newline;
	cleanup_free char *signal = NULL;

	if (word_end == NULL || word_end == end || *word_end != ' ')
		return end;
	newline = memchr(word_end, '\n', (size_t)(end - word_end));
	if (newline == NULL)
		return end;
	signal = xmemdup(word_end + 1, (size_t)(newline - word_end - 1));
	if (str_eq(signal, "RETURN") && is_ours(at, (size_t)(word_end - at), signal))
		return newline + 1;
	if (!str_eq(signal, "EXIT")) {
		trap_wrappers_put(out, at, (size_t)(word_end - at), signal);
	} else {
		free(b->bye);
		b->bye = is_ours(at, (size_t)(word_end - at), signal)
				 ? xstrdup("")
				 : xasprintf("__ptycell_bye=%.*s; ", (int)(word_end - at), at);
	}
	return newline + 1;
}

static bool says(const struct message *message, const char *what)
{
	return message->traps_len == strlen(what) &&
	       memcmp(message->traps, what, message->traps_len) == 0;
}

/*
 * Stores the traps for the next cell. "kept": `exit` ended the cell within a function, where traps
 * cannot be inspected. "same": no code ran, not even the inserted code.
 */
static void keep_traps(struct bash *b, const struct message *message)
{
	static const char statement[] = "trap -- ";
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
	const char *at = message->traps;
	const char *end = at + message->traps_len;
	bool keeps = says(message, "kept\n");

	if (says(message, "same\n"))
		return;
	free(b->bye);
	b->bye = xstrdup(keeps ? "" : "__ptycell_bye=; "); /* it has no trap any more */
	if (keeps)
		return;
	while ((size_t)(end - at) > sizeof(statement) &&
	       memcmp(at, statement, sizeof(statement) - 1) == 0)
		at = take_trap(b, &out, at + sizeof(statement) - 1, end);
	free(b->traps);
	b->traps = buf_steal(&out);
}

/* ---- bash to server ---- */

static void put_part(struct buf *out, const char *name, const char *text)
{
	frame_add(out, name, text, strlen(text));
}

static void put_ready(struct bash *b, const struct message *message, const char *version,
		      struct buf *out)
{
	cleanup_buf struct buf changed = BUF_INIT(BUF_UNBOUNDED);

	if (!b->cut)
		names_take(&b->names, message->names, message->names_len, &changed);
	names_settle(&b->names);
	frame_begin(out, "ready", 0, 3);
	put_part(out, "nonce", b->nonce);
	put_part(out, "proto", "1");
	put_part(out, "version", version);
}

static size_t count_lines(const char *text, size_t len)
{
	size_t count = 0;

	for (size_t i = 0; i < len; i++)
		count += text[i] == '\n';
	return count;
}

/* Returns the length of the first lines that fit into a frame. */
static size_t lines_within(const struct buf *lines)
{
	const char *end;

	if (lines->len <= LIST_MAX)
		return lines->len;
	end = memrchr(lines->data, '\n', LIST_MAX);
	return end != NULL ? (size_t)(end - lines->data) : 0;
}

static void put_done(struct bash *b, const struct message *message, struct buf *out)
{
	cleanup_buf struct buf changed = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *children =
		xasprintf("%zu", count_lines(message->jobs, message->jobs_len));
	cleanup_free char *code = NULL;
	unsigned long long id = 0;
	char state[16] = "";
	int status = 0;
	int end = 0;
	const char *cwd;

	if (sscanf(message->what, "done %llu %15s %d%n", &id, state, &status, &end) != 3)
		return;
	cwd = message->what + end + (message->what[end] == ' ');
	code = xasprintf("%d", status);
	keep_traps(b, message);
	if (!b->cut)
		names_take(&b->names, message->names, message->names_len, &changed);
	frame_begin(out, "done", id, *cwd != '\0' ? 6 : 5);
	if (str_eq(state, "interrupted"))
		put_part(out, "status", "interrupted");
	else
		put_part(out, "status", status != 0 ? "exit" : "ok");
	put_part(out, "code", code);
	put_part(out, "children", children);
	put_part(out, "handles", strstr(b->traps, " SIGINT; ") != NULL ? "1" : "0");
	if (*cwd != '\0')
		put_part(out, "cwd", cwd);
	frame_add(out, "names", buf_str(&changed), lines_within(&changed));
}

static void put_vars(struct bash *b, const struct message *message, struct buf *out)
{
	cleanup_buf struct buf rows = BUF_INIT(BUF_UNBOUNDED);
	unsigned long long id = strtoull(message->what + strlen("vars "), NULL, 10);
	size_t count = names_rows(&b->names, message->names, message->names_len, b->limit, &rows);
	cleanup_free char *total = xasprintf("%zu", count);
	bool cut = count > b->limit || lines_within(&rows) < rows.len;

	frame_begin(out, "done", id, cut ? 3 : 2);
	put_part(out, "status", "ok");
	frame_add(out, "vars", buf_str(&rows), lines_within(&rows));
	if (cut)
		put_part(out, "total", total);
}

/* ---- messages ---- */

/* Writes "@NONCE word" and a line end, or a blank if the line continues. Returns its length. */
static size_t make_mark(const struct bash *b, const char *word, char mark[MARK_MAX])
{
	return (size_t)snprintf(mark, MARK_MAX, "@%s %s", b->nonce, word);
}

/*
 * Reads the pipe "aside" for one message. Older input in it belongs to no message and is dropped.
 */
static void read_aside(struct bash *b)
{
	char chunk[16384];
	ssize_t n;
	struct err err;

	buf_clear(&b->apart);
	while (b->aside >= 0 && (n = read(b->aside, chunk, sizeof(chunk))) > 0)
		if (buf_add(&b->apart, chunk, (size_t)n, &err) < 0)
			return;
}

static int split(const struct bash *b, const char *text, size_t len, struct message *ret,
		 struct err *err)
{
	char mark[MARK_MAX];
	const char *what;
	const char *what_end;
	const char *names;
	size_t skip = make_mark(b, "", mark);

	what = requests_find_line(text, len, 0, mark);
	what_end = what != NULL ? memchr(what, '\n', len - (size_t)(what - text)) : NULL;
	if (what_end == NULL || (size_t)(what_end - what) - skip >= WHAT_MAX)
		return err_set(err, ERR_INVALID, "bash told nothing that is known");
	*ret = (struct message){ .traps = text, .traps_len = (size_t)(what - text) };
	memcpy(ret->what, what + skip, (size_t)(what_end - what) - skip);
	ret->jobs = what_end + 1;
	skip = make_mark(b, "names\n", mark);
	names = requests_find_line(text, len, (size_t)(ret->jobs - text), mark);
	if (names == NULL)
		return err_set(err, ERR_INVALID, "bash told no names");
	ret->jobs_len = (size_t)(names - ret->jobs);
	ret->names = names + skip;
	ret->names_len = len - (size_t)(ret->names - text);
	return 0;
}

/* Fills in a message whose rest was lost: only how the cell ended. */
static void make_bare(const char *text, size_t len, struct message *ret)
{
	static const char same[] = "same\n";

	*ret = (struct message){ .traps = same,
				 .traps_len = sizeof(same) - 1,
				 .jobs = text + len,
				 .names = text + len };
	memcpy(ret->what, text, size_min(len, WHAT_MAX - 1));
}

/*
 * Finds the message whose last line says `what`. The `len` bytes before that line on the control
 * pipe are the rest of the message; there are none if the rest came by the pipe "aside".
 */
static int find_message(struct bash *b, size_t len, const char *what, size_t what_len,
			struct message *ret, struct err *err)
{
	read_aside(b);
	if (len == 0) {
		if (split(b, buf_str(&b->apart), b->apart.len, ret, err) == 0)
			return 0;
		if (what_len == 0)
			return -1;
		make_bare(what, what_len, ret);
		return 0;
	}
	if (split(b, buf_str(&b->in), len, ret, err) < 0)
		return -1;
	/* The traps came by the pipe "aside" before the rest did not fit. */
	if (ret->traps_len == 0) {
		ret->traps = buf_str(&b->apart);
		ret->traps_len = b->apart.len;
	}
	return 0;
}

static int take_message(struct bash *b, size_t len, const char *what, size_t what_len,
			struct buf *frames, struct err *err)
{
	struct message message;

	if (find_message(b, len, what, what_len, &message, err) < 0)
		return -1;
	if (strncmp(message.what, "ready ", 6) == 0)
		put_ready(b, &message, message.what + 6, frames);
	else if (strncmp(message.what, "done ", 5) == 0)
		put_done(b, &message, frames);
	else if (strncmp(message.what, "vars ", 5) == 0)
		put_vars(b, &message, frames);
	return 0;
}

/* Drops declarations beyond the maximum, except the bytes in which the end mark may be. */
static int make_room(struct bash *b, struct err *err)
{
	char mark[MARK_MAX];
	const char *names;
	size_t head;

	if (b->in.len <= BASH_MESSAGE_MAX)
		return 0;
	head = make_mark(b, "names\n", mark);
	names = requests_find_line(buf_str(&b->in), b->in.len, 0, mark);
	if (names == NULL)
		return err_set(err, ERR_LIMIT, "bash told of too many traps and jobs");
	head += (size_t)(names - b->in.data);
	if (b->in.len - head > MARK_MAX) {
		memmove(b->in.data + head, b->in.data + b->in.len - MARK_MAX, MARK_MAX);
		b->in.len = head + MARK_MAX;
		b->in.data[b->in.len] = '\0';
	}
	b->scanned = head;
	b->cut = true;
	return 0;
}

/* Returns where an incomplete last line may begin. */
static size_t find_last_line(const struct bash *b)
{
	size_t reach = size_min(b->in.len, REQUEST_MAX);
	size_t from = b->in.len - reach;
	const char *newline = reach > 0 ? memrchr(b->in.data + from, '\n', reach) : NULL;

	return newline != NULL ? (size_t)(newline + 1 - b->in.data) : from;
}

static int codec_decode(void *codec, const char *data, size_t len, struct buf *frames,
			struct err *err)
{
	struct bash *b = codec;
	char mark[MARK_MAX];
	size_t mark_len = make_mark(b, "end ", mark);

	if (buf_add(&b->in, data, len, err) < 0)
		return -1;
	for (;;) {
		const char *text = buf_str(&b->in);
		const char *end = requests_find_line(text, b->in.len, b->scanned, mark);
		const char *what = end != NULL ? end + mark_len : NULL;
		const char *newline =
			end != NULL ? memchr(what, '\n', b->in.len - (size_t)(what - text)) : NULL;

		if (requests_take(&b->in, b->nonce, b->scanned,
				  end != NULL ? (size_t)(end - text) : b->in.len, frames))
			continue;
		if (newline == NULL) {
			b->scanned = end != NULL ? (size_t)(end - text) : find_last_line(b);
			return make_room(b, err);
		}
		if (take_message(b, (size_t)(end - text), what, (size_t)(newline - what), frames,
				 err) < 0)
			return -1;
		buf_consume(&b->in, (size_t)(newline + 1 - text));
		b->scanned = 0;
		b->cut = false;
	}
}

const struct language_codec bash_codec = {
	.start = codec_start,
	.end = codec_end,
	.attach = codec_attach,
	.encode = codec_encode,
	.decode = codec_decode,
};
