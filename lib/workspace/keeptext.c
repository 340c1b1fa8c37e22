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
#include "base/err.h"
#include "base/mem.h"
#include "base/util.h"
#include "text/quotation.h"
#include "text/sanitize.h"

/* Holds a whole message of struct err: what to do is at its end. */
enum { REASON_CHARS_MAX = sizeof(((struct err *)NULL)->msg) };

static char *clean_reason(const char *reason)
{
	struct buf out;

	buf_init(&out, BUF_UNBOUNDED);
	sanitize_line(&out, reason, strlen(reason), REASON_CHARS_MAX);
	return buf_steal(&out);
}

static char *explain_total(const struct keeptext_limits *limits)
{
	cleanup_free char *root = keepname_show(limits->root, "");

	return xasprintf("saved results of all sessions would take more than %" PRIu64
			 " MB in '%s' (PTYCELL_KEEP_TOTAL). Nothing there was deleted. It is saved "
			 "after a later cell, once the user has deleted folders there that are no "
			 "longer needed",
			 limits->total >> 20, root);
}

char *keeptext_problem(const char *from, const char *reason, const struct keeptext_limits *limits)
{
	cleanup_free char *name = NULL;
	cleanup_free char *why = NULL;

	if (str_eq(reason, "limit"))
		why = xasprintf("more than %" PRIu64 " MB would be kept for this session "
				"(PTYCELL_KEEP_MAX)",
				limits->quota >> 20);
	else if (str_eq(reason, "total"))
		why = explain_total(limits);
	else
		why = clean_reason(reason);
	if (from == NULL)
		return xasprintf("copying failed: %s.", why);
	name = quotation_of_path(path_base(from));
	if (str_eq(reason, "mixed"))
		return xasprintf(
			"%s was written to while it was saved, so what is saved may be of two moments; "
			"it is saved again after the next cell.",
			name);
	return xasprintf("%s was not saved: %s.", name, why);
}

char *keeptext_renamed(const char *from, const char *to, enum keepname_reason reason)
{
	cleanup_free char *name = quotation_of_path(from);
	cleanup_free char *taken = quotation_of_path(to);
	static const char *const reasons[KEEPNAME_REASONS] = {
		[KEEPNAME_UNSEEN] = "the name has characters that cannot be shown",
		[KEEPNAME_RUNS] = "other programs run what files of such names say",
		[KEEPNAME_NOTED] = "ptycell has a file of that name in each folder of results",
	};

	return xasprintf("%s as %s, because %s. Others like it are saved so, too.", name, taken,
			 reasons[reason]);
}

void keeptext_add(char **text, const char *sentence)
{
	char *all = *text == NULL ? xstrdup(sentence) : xasprintf("%s %s", *text, sentence);

	free(*text);
	*text = all;
}
