/* SPDX-License-Identifier: MIT */
/*
 * warnings.c - groups warnings by their words. Two messages are of one kind when they agree up to
 * the first quote or digit: databases put the value there.
 */
#include "warnings.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "text/sanitize.h"

enum { MESSAGE_MAX = 300 };

/* Returns the message up to a value or a number. The caller frees it. */
static char *kind_of(const char *message)
{
	return xmemdup(message, strcspn(message, "'`\"0123456789"));
}

static bool is_new(const struct warnings *warnings, const char *message)
{
	cleanup_free char *kind = kind_of(message);

	for (unsigned i = 0; i < warnings->count; i++)
		if (strcmp(warnings->kinds[i], kind) == 0)
			return false;
	return warnings->count < WARNINGS_MAX;
}

void warnings_put(struct warnings *warnings, const char *word, const char *message,
		  const char *code)
{
	cleanup_buf struct buf line = BUF_INIT(BUF_UNBOUNDED);

	if (!is_new(warnings, message))
		return;
	warnings->kinds[warnings->count++] = kind_of(message);
	sanitize_line(&line, message, strlen(message), MESSAGE_MAX);
	sink_note(warnings->sink, "the database %s: %s (%s)", word, buf_str(&line), code);
}

void warnings_end(struct warnings *warnings)
{
	for (unsigned i = 0; i < warnings->count; i++)
		free(warnings->kinds[i]);
	warnings->count = 0;
}
