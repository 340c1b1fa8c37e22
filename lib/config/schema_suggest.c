/* SPDX-License-Identifier: MIT */
/*
 * schema_suggest.c - finds the flag that a user mistyped. It allows one wrong letter in three and
 * two at most, so that short flags do not all resemble each other.
 */
#include <string.h>

#include "config/schema.h"

/* Returns Levenshtein's distance of two short words; a longer word is far from every other. */
static size_t distance(const char *a, const char *b)
{
	size_t row[SCHEMA_FLAG_MAX + 1];
	size_t b_len = strlen(b);

	if (strlen(a) > SCHEMA_FLAG_MAX || b_len > SCHEMA_FLAG_MAX)
		return SCHEMA_FLAG_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= b_len; j++) {
			size_t replaced = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = size_min(replaced, 1 + size_min(row[j], row[j - 1]));
		}
	}
	return row[b_len];
}

const struct setting *schema_nearest(const char *flag)
{
	const struct setting *nearest = NULL;
	size_t least = 1 + size_min(2, strlen(flag) / 3);

	for (size_t i = 0; i < schema_count(); i++) {
		size_t away = distance(flag, schema_at(i)->flag);

		if (away < least && schema_at(i)->flag[0] != '\0') {
			least = away;
			nearest = schema_at(i);
		}
	}
	return nearest;
}
