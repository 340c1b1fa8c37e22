/* SPDX-License-Identifier: MIT */
#include "workspace/gitconfig.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

enum check { ANY, ADDRESS, UPDATE };

struct row {
	const char *section; /* with a "." behind: of its subsections */
	const char *names;   /* each with blanks around; "*" for all */
	enum check check;
};

static const struct row rows[] = {
	{ "core",
	  " repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode "
	  "symlinks sharedrepository autocrlf eol safecrlf sparsecheckout sparsecheckoutcone "
	  "untrackedcache splitindex quotepath abbrev compression bigfilethreshold longpaths "
	  "hidedotfiles whitespace ",
	  ANY },
	{ "extensions",
	  " objectformat compatobjectformat refstorage partialclone worktreeconfig preciousobjects "
	  "noop relativeworktrees ",
	  ANY },
	{ "remote.", " url pushurl ", ADDRESS },
	{ "remote.",
	  " fetch push tagopt prune prunetags mirror promisor partialclonefilter "
	  "skipdefaultupdate skipfetchall gh-resolved ",
	  ANY },
	{ "remote", " pushdefault ", ADDRESS },
	{ "branch.", " remote pushremote ", ADDRESS },
	{ "branch.", " merge rebase description vscode-merge-base gh-merge-base ", ANY },
	{ "branch", " autosetupmerge autosetuprebase ", ANY },
	{ "submodule.", " url ", ADDRESS },
	{ "submodule.", " update ", UPDATE },
	{ "submodule.", " active branch ignore shallow fetchrecursesubmodules ", ANY },
	{ "submodule", " active recurse fetchjobs ", ANY },
	{ "user", " name email useconfigonly ", ANY },
	{ "init", " defaultbranch ", ANY },
	{ "pull", " rebase ff ", ANY },
	{ "push", " default autosetupremote followtags ", ANY },
	{ "fetch", " prune prunetags recursesubmodules parallel ", ANY },
	{ "merge", " ff conflictstyle renamelimit ", ANY },
	{ "diff", " renames renamelimit algorithm ", ANY },
	{ "status", " showuntrackedfiles ", ANY },
	{ "gc", " auto autodetach pruneexpire ", ANY },
	{ "index", " sparse version threads ", ANY },
	{ "color", "*", ANY },
	{ "advice", "*", ANY },
	{ "lfs", " repositoryformatversion ", ANY },
};

/* ---- values ---- */

/* Of an address before "://", and a blank on each side. */
static const char schemes[] = " https http ssh git file ";

static bool has_word(const char *words, const char *word, size_t len)
{
	const char *at = words;

	while (len > 0 && (at = memmem(at, strlen(at), word, len)) != NULL) {
		if (at > words && at[-1] == ' ' && at[len] == ' ')
			return true;
		at++;
	}
	return false;
}

/* "transport::address" runs git-remote-transport, and "-" begins an option. */
static bool is_address(const char *value)
{
	const char *scheme = strstr(value, "://");

	if (value[0] == '-' || strstr(value, "::") != NULL || strstr(value, "//-") != NULL)
		return false;
	return scheme == NULL || has_word(schemes, value, (size_t)(scheme - value));
}

/* "!command" is one. */
static bool is_update(const char *value)
{
	return has_word(" none checkout merge rebase ", value, strlen(value));
}

static bool is_allowed(const char *section, const char *name, const char *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *row = &rows[i];

		if (!str_eq(row->section, section) ||
		    (!str_eq(row->names, "*") && !has_word(row->names, name, strlen(name))))
			continue;
		if (row->check == ADDRESS)
			return is_address(value);
		return row->check == ANY || is_update(value);
	}
	return false;
}

/* ---- lines ---- */

struct reader {
	struct buf section;    /* as in rows[]; "" before the first */
	struct buf subsection; /* without the quotes */
	void (*fn)(void *data, const char *entry);
	void *data;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static const char *skip_blanks(const char *at)
{
	return at + strspn(at, " \t");
}

static bool is_comment(const char *at)
{
	return at[0] == '\0' || at[0] == '#' || at[0] == ';';
}

static void put_lower(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf_put_char(out, (char)tolower((unsigned char)text[i]));
}

static bool read_subsection(struct reader *reader, const char **at)
{
	buf_puts(&reader->section, ".");
	for ((*at)++; **at != '"'; (*at)++) {
		if (**at == '\\')
			(*at)++;
		if (**at == '\0')
			return false;
		buf_put(&reader->subsection, *at, 1);
	}
	(*at)++;
	return true;
}

/* `at` is behind the bracket. What follows the other one belongs to the section: git writes none.
 */
static bool read_section(struct reader *reader, const char *at)
{
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");

	buf_clear(&reader->section);
	buf_clear(&reader->subsection);
	put_lower(&reader->section, at, len);
	at = skip_blanks(at + len);
	if (len == 0 || (*at == '"' && !read_subsection(reader, &at)) || *at != ']')
		return false;
	return is_comment(skip_blanks(at + 1));
}

/* Behind a backslash; 0 for what git refuses, and for the end of a line that goes on in the next.
 */
static char unescape(char c)
{
	return c == 'n'                ? '\n'
	       : c == 't'              ? '\t'
	       : c == 'b'              ? '\b'
	       : c == '\\' || c == '"' ? c
				       : '\0';
}

static bool read_value(struct buf *out, const char *at)
{
	bool quoted = false;
	char c;

	for (; *at != '\0'; at++) {
		if (*at == '"') {
			quoted = !quoted;
			continue;
		}
		if (!quoted && (*at == '#' || *at == ';'))
			break;
		c = *at == '\\' ? unescape(*++at) : *at;
		if (c == '\0')
			return false;
		buf_put_char(out, c);
	}
	while (out->len > 0 && is_blank(out->data[out->len - 1]))
		out->data[--out->len] = '\0';
	return !quoted;
}

static void judge(struct reader *reader, const char *name, const char *value)
{
	cleanup_buf struct buf entry = BUF_INIT(BUF_UNBOUNDED);

	if (is_allowed(buf_str(&reader->section), name, value))
		return;
	buf_putf(&entry, "%s%s.%s=%s", buf_str(&reader->section), buf_str(&reader->subsection),
		 name, value);
	reader->fn(reader->data, buf_str(&entry));
}

static bool read_entry(struct reader *reader, const char *at)
{
	size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_buf struct buf value = BUF_INIT(BUF_UNBOUNDED);

	put_lower(&name, at, len);
	at = skip_blanks(at + len);
	if (len == 0 || reader->section.len == 0 || (!is_comment(at) && *at != '='))
		return false;
	if (*at == '=' && !read_value(&value, skip_blanks(at + 1)))
		return false;
	judge(reader, buf_str(&name), buf_str(&value));
	return true;
}

static void read_line(struct reader *reader, const char *line)
{
	const char *at = skip_blanks(line);
	cleanup_free char *odd = NULL;
	bool known;

	if (is_comment(at))
		return;
	known = *at == '[' ? read_section(reader, at + 1) : read_entry(reader, at);
	if (known)
		return;
	odd = xasprintf("?%s", line);
	reader->fn(reader->data, odd);
}

void gitconfig_each_foreign(const char *text, size_t len, void (*fn)(void *data, const char *entry),
			    void *data)
{
	struct reader reader = { .fn = fn, .data = data };

	buf_init(&reader.section, BUF_UNBOUNDED);
	buf_init(&reader.subsection, BUF_UNBOUNDED);
	if (memchr(text, '\0', len) != NULL)
		fn(data, "?\\0");
	while (len > 0) {
		const char *end = memchr(text, '\n', len);
		size_t line_len = end != NULL ? (size_t)(end - text) : len;
		bool carriage = line_len > 0 && text[line_len - 1] == '\r';
		cleanup_free char *line = xmemdup(text, line_len - carriage);

		read_line(&reader, line);
		len -= line_len + (end != NULL);
		text += line_len + (end != NULL);
	}
	buf_release(&reader.section);
	buf_release(&reader.subsection);
}
