/* SPDX-License-Identifier: MIT */
/*
 * runner_where.c - describes where a cell is that does not end: by the command line of the
 * terminal's foreground group, else by the interpreter's last stack dump. Both are untrusted: they
 * are redacted, sanitized and quoted.
 */
#include <fcntl.h>
#include <string.h>

#include "base/fd.h"
#include "base/mem.h"
#include "redact/redact.h"
#include "runner/runner_internal.h"
#include "text/sanitize.h"

enum {
	DUMP_MAX = 64 << 10, /* bytes of a stack dump: code may print meanwhile */
	COMMAND_MAX = 4096,
};

void runner_forget_dump(struct runner *r)
{
	buf_release(&r->dump);
	buf_init(&r->dump, 0);
}

void runner_ask_dump(struct runner *r)
{
	if (r->c.language->dump_signal == 0)
		return;
	buf_release(&r->dump);
	buf_init(&r->dump, DUMP_MAX);
	interpreter_signal(r->interpreter, r->c.language->dump_signal);
}

void runner_read_dump(struct runner *r, const char *data, size_t len)
{
	size_t room = r->dump.max - r->dump.len;

	if (room > 0)
		buf_put(&r->dump, data, size_min(len, room));
}

/* Makes a phrase of an untrusted text: redacted, sanitized and quoted. */
static char *make_phrase(const struct runner *r, const char *before, const char *text,
			 const char *after)
{
	cleanup_free char *line = xstrdup(text);
	cleanup_free char *words = NULL;

	redact_string(r->c.redact, &line);
	words = sanitize_quote(line);
	return words[0] != '\0' ? xasprintf("%s%s%s", before, words, after) : NULL;
}

/*
 * Reads the command line of the foreground's first process. Its number cannot have been reused if
 * the group is still in the foreground afterwards.
 */
static char *read_command(const struct runner *r, pid_t group)
{
	cleanup_free char *path = xasprintf("/proc/%d/cmdline", (int)group);
	struct err err;
	size_t len;
	char *words = fd_read_file(AT_FDCWD, path, COMMAND_MAX, &len, &err);

	if (words == NULL || interpreter_foreground(r->interpreter) != group) {
		mem_cleanup(&words);
		return NULL;
	}
	for (size_t i = 0; i < len; i++)
		if (words[i] == '\0')
			words[i] = ' ';
	return words;
}

/* A shell's fork of itself, which runs a part of the cell, has no useful command line. */
static char *where_foreground(const struct runner *r)
{
	pid_t group = interpreter_foreground(r->interpreter);
	cleanup_free char *words = NULL;

	if (group == 0 || group == r->stray.own)
		return NULL;
	words = read_command(r, group);
	return words != NULL && strncmp(words, r->path, strlen(r->path)) != 0
		       ? make_phrase(r, "running '", words, "'")
		       : NULL;
}

char *runner_where(const struct runner *r)
{
	cleanup_buf struct buf place = BUF_INIT(BUF_UNBOUNDED);
	char *foreground;

	if (r->cell == NULL || r->interpreter == NULL)
		return NULL;
	foreground = where_foreground(r);
	if (foreground != NULL || r->c.language->read_dump == NULL || r->dump.len == 0)
		return foreground;
	r->c.language->read_dump(&r->dump, &place);
	return make_phrase(r, "in ", buf_str(&place), "");
}
