/* SPDX-License-Identifier: MIT */
/*
 * keeptext.c - sentences about exported files. Names come from session code, so they are quoted and
 * cleaned.
 */
#include "workspace/keeptext.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/sanitize.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash == NULL ? path : slash + 1;
}

char *keeptext_problem(const char *from, const char *reason, uint64_t quota)
{
	cleanup_free char *name = NULL;
	cleanup_free char *why = NULL;

	if (str_eq(reason, "limit"))
		why = xasprintf("more than %" PRIu64 " MB would be kept for this session "
				"(PTYCELL_KEEP_MAX)",
				quota >> 20);
	else
		why = sanitize_quote(reason);
	if (from == NULL)
		return xasprintf("Nothing was saved: %s.", why);
	name = sanitize_quote(base_name(from));
	if (str_eq(reason, "mixed"))
		return xasprintf(
			"'%s' was written to while it was saved, so what is saved may be of two moments; "
			"it is saved again after the next cell.",
			name);
	return xasprintf("'%s' was not saved: %s.", name, why);
}

/* Returns a path in quotes, as other answers name the file. The caller frees it. */
static char *quote_path(const char *path)
{
	cleanup_buf struct buf name = BUF_INIT(BUF_UNBOUNDED);

	sanitize_symbol(&name, path, strlen(path));
	return buf_str(&name)[0] == '"' ? xstrdup(buf_str(&name))
					: xasprintf("'%s'", buf_str(&name));
}

char *keeptext_renamed(const char *from, const char *to, enum keepname_reason reason)
{
	cleanup_free char *name = quote_path(from);
	cleanup_free char *taken = quote_path(to);

	return xasprintf("%s as %s, because %s. Others like it are saved so, too.", name, taken,
			 reason == KEEPNAME_RUNS ? "other programs run what files of such names say"
						 : "the name has characters that cannot be shown");
}

void keeptext_add(char **text, const char *sentence)
{
	char *all = *text == NULL ? xstrdup(sentence) : xasprintf("%s %s", *text, sentence);

	free(*text);
	*text = all;
}
