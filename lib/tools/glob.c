/* SPDX-License-Identifier: MIT */
#include "tools/glob.h"

#include <stddef.h>
#include <string.h>

/* A set at `p` (on its '['). Returns what follows it, NULL when it is not closed: then '[' is
 * literal. */
static const char *match_set(const char *p, char c, bool *ret_matches)
{
	bool negated = p[1] == '!' || p[1] == '^';
	const char *q = p + 1 + (negated ? 1 : 0);
	bool found = false;
	bool first = true;

	for (; *q != '\0' && (first || *q != ']'); q++) {
		first = false;
		if (q[1] == '-' && q[2] != '\0' && q[2] != ']') {
			found = found || (c >= q[0] && c <= q[2]);
			q += 2;
		} else {
			found = found || c == *q;
		}
	}
	if (*q != ']')
		return NULL;
	*ret_matches = found != negated && c != '/';
	return q + 1;
}

/* One character of the pattern against `c`: what follows it, or NULL. */
static const char *match_one(const char *p, char c)
{
	bool matches = false;
	const char *after;

	if (*p == '?')
		return c != '/' ? p + 1 : NULL;
	if (*p == '[') {
		after = match_set(p, c, &matches);
		if (after != NULL)
			return matches ? after : NULL;
	}
	return *p == c ? p + 1 : NULL;
}

/*
 * Where to go on when what follows a star did not match: the star takes one more character. One
 * place for `*` and one for `**` are enough: a later star of a kind makes the earlier one's
 * choice irrelevant.
 */
struct retry {
	const char *pattern;
	const char *path;
};

static bool go_back(struct retry *retry, bool crosses, const char **pattern, const char **path)
{
	if (retry->pattern == NULL || *retry->path == '\0' || (!crosses && *retry->path == '/'))
		return false;
	*pattern = retry->pattern;
	*path = ++retry->path;
	return true;
}

static bool match(const char *p, const char *s)
{
	struct retry star = { NULL, NULL };
	struct retry star_star = { NULL, NULL };

	for (;;) {
		const char *next;

		if (p[0] == '*' && p[1] == '*') {
			p += 2;
			if (*p == '/')
				p++; /* "a/" + "**" + "/b" matches a/b too */
			star_star = (struct retry){ p, s };
			star.pattern = NULL;
			continue;
		}
		if (*p == '*') {
			star = (struct retry){ ++p, s };
			continue;
		}
		if (*p == '\0' && *s == '\0')
			return true;
		next = *s != '\0' ? match_one(p, *s) : NULL;
		if (next != NULL) {
			p = next;
			s++;
			continue;
		}
		if (go_back(&star, false, &p, &s))
			continue;
		star.pattern = NULL;
		if (!go_back(&star_star, true, &p, &s))
			return false;
	}
}

bool glob_match(const char *pattern, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (strchr(pattern, '/') == NULL && strstr(pattern, "**") == NULL && slash != NULL)
		path = slash + 1;
	return match(pattern, path);
}
