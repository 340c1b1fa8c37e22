/* SPDX-License-Identifier: MIT */
/*
 * keepname.c - names of exported files. Session code chooses the names of its results, so escape
 * sequences and leading dots are removed, and names by which programs of the user would run a file
 * are altered.
 */
#include "workspace/keepname.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/runnames.h"
#include "text/sanitize.h"
#include "workspace/beneath.h"
#include "workspace/random_name.h"

#define OUTPUT "output/"

enum { SUFFIX_LEN = 4, ID_MAX = 64, TITLE_MAX = 60, STEM_MAX = 200 };

static bool is_id_character(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '.' || c == '_' || c == '-';
}

/* Appends the title as a part of a name, with "-" behind it. */
static void put_title(struct buf *out, const char *title)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	size_t len;

	for (const char *c = title; *c != '\0'; c++) {
		if (is_id_character(*c) || ((unsigned char)*c & 0x80) != 0)
			buf_put_char(&name, *c);
		else if (name.len > 0 && name.data[name.len - 1] != '-')
			buf_put_char(&name, '-');
	}
	len = size_min(name.len, TITLE_MAX);
	/* A multibyte character must not be cut. */
	while (len > 0 && len < name.len && ((unsigned char)name.data[len] & 0xc0) == 0x80)
		len--;
	while (len > 0 && name.data[len - 1] == '-')
		len--;
	if (len > 0)
		buf_putf(out, "%.*s-", (int)len, name.data);
}

char *keepname_new(const char *session_id, const char *title)
{
	cleanup_free char *id = xmemdup(session_id, strnlen(session_id, ID_MAX));
	cleanup_buf struct buf called = BUF_INIT(BUF_UNBOUNDED);
	char suffix[SUFFIX_LEN + 1];
	char date[16] = "";
	time_t now = time(NULL);
	struct tm local;

	for (char *c = id; *c != '\0'; c++)
		if (!is_id_character(*c))
			*c = '-';
	if (localtime_r(&now, &local) != NULL)
		(void)strftime(date, sizeof(date), "%Y-%m-%d", &local);
	random_name_fill(suffix, SUFFIX_LEN);
	if (title != NULL)
		put_title(&called, title);
	return xasprintf("%s-%s%s-%s", date, buf_str(&called), id, suffix);
}

bool keepname_is_folder(const char *name)
{
	static const char date[] = "dddd-dd-dd-";
	size_t len = strlen(name);
	size_t i = 0;

	while (date[i] != '\0' &&
	       (date[i] == 'd' ? name[i] >= '0' && name[i] <= '9' : name[i] == '-'))
		i++;
	return date[i] == '\0' && len > i + SUFFIX_LEN + 1 && name[len - SUFFIX_LEN - 1] == '-';
}

char *keepname_show(const char *root, const char *folder)
{
	const char *own = getenv("HOME");
	size_t len = own == NULL ? 0 : strlen(own);

	while (len > 0 && own[len - 1] == '/')
		len--;
	if (own != NULL && len > 0 && strncmp(root, own, len) == 0 && root[len] == '/')
		return xasprintf("~%s/%s", root + len, folder);
	return xasprintf("%s/%s", root, folder);
}

/* Folders without results; some have tens of thousands of files. */
static const char *const skipped[] = {
	".git",   ".hg",         ".svn",          "node_modules", ".venv", "__pycache__",
	".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache",  ".tox",  ".ipynb_checkpoints",
};

bool keepname_is_skipped(const char *name)
{
	if (name[0] != '.' && name[0] != '_' && name[0] != 'n')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(skipped); i++)
		if (str_eq(name, skipped[i]))
			return true;
	return false;
}

static bool is_note(const char *path)
{
	size_t len = strcspn(path, "/");

	return len == strlen(KEEPNAME_NOTE) && strncasecmp(path, KEEPNAME_NOTE, len) == 0;
}

char *keepname_tame(const char *path, enum keepname_reason *ret_reason)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);
	cleanup_free char *altered = NULL;

	sanitize_name(&name, path, strlen(path));
	if (is_note(buf_str(&name))) {
		*ret_reason = KEEPNAME_NOTED;
		return xasprintf("_%s", buf_str(&name));
	}
	altered = runnames_alter(buf_str(&name));
	*ret_reason = altered != NULL ? KEEPNAME_RUNS : KEEPNAME_UNSEEN;
	if (altered == NULL && str_eq(buf_str(&name), path))
		*ret_reason = KEEPNAME_SAME;
	return altered != NULL ? mem_steal(&altered) : xstrdup(buf_str(&name));
}

const char *keepname_result(const char *path)
{
	return strncmp(path, OUTPUT, strlen(OUTPUT)) == 0 ? path + strlen(OUTPUT) : path;
}

char *keepname_numbered(const char *name, int number)
{
	const char *dot = strrchr(name, '.');
	size_t stem = dot == NULL || dot == name ? strlen(name) : (size_t)(dot - name);
	size_t kept = size_min(stem, STEM_MAX);
	const char *extension = name + stem;

	if (number == 1)
		return xstrdup(name);
	if (strlen(extension) > BENEATH_NAME_MAX - STEM_MAX - 8)
		extension = "";
	/* A multibyte character must not be cut. */
	while (kept < stem && kept > 0 && ((unsigned char)name[kept] & 0xc0) == 0x80)
		kept--;
	return xasprintf("%.*s-%d%s", (int)kept, name, number, extension);
}
