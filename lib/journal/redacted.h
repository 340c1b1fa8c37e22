/* SPDX-License-Identifier: MIT */
/* redacted.h - an entry without the secrets that were in it. */
#ifndef JOURNAL_REDACTED_H
#define JOURNAL_REDACTED_H

#include "journal/entry.h"

struct redact;

enum { REDACTED_TEXTS = 6 };

struct redacted_entry {
	struct journal_entry entry;
	char *texts[REDACTED_TEXTS]; /* owned: those of `entry` that are not those of the original
				      */
	struct journal_image *images;
};

/*
 * Texts are cleaned first, because cleaning can put the parts of a value together. The record is
 * changed itself, all else of `entry` is borrowed. `redact` NULL: it is the same.
 */
void redacted_entry_init(struct redacted_entry *redacted, const struct journal_entry *entry,
			 const struct redact *redact);
/* Replaces *text and *len where a secret is in it. Returns what the caller frees, or NULL. */
char *redacted_bytes(const struct redact *redact, const char **text, size_t *len);
void redacted_entry_release(struct redacted_entry *redacted);
#define cleanup_redacted __attribute__((cleanup(redacted_entry_release)))

#endif
