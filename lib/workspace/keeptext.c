/* SPDX-License-Identifier: MIT */
/*
 * keeptext.c - sentences about exported files. Names come from session code, so they are quoted and
 * cleaned.
 */
#include "workspace/keeptext.h"

#include <inttypes.h>
#include <string.h>

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

char *keeptext_renamed(const char *from, const char *to)
{
	cleanup_free char *name = sanitize_quote(from);
	cleanup_free char *taken = sanitize_quote(to);

	return xasprintf("'%s' as '%s', because other programs run what files of such names say. "
			 "Others like it are saved so, too.",
			 name, taken);
}
