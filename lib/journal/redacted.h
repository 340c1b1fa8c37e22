/* SPDX-License-Identifier: MIT */
/* redacted.h - removes secrets from an entry of the journal. */
#ifndef JOURNAL_REDACTED_H
#define JOURNAL_REDACTED_H

#include "journal/entry.h"

struct redact;

enum { REDACTED_TEXTS = 6 };

struct redacted_entry {
	struct journal_entry entry;
	char *texts[REDACTED_TEXTS]; /* owned: the texts of `entry` that were replaced */
	struct journal_image *images;
};

/*
 * Makes a copy of `entry` without secrets. Texts are cleaned first, because cleaning can join the
 * parts of a secret. The record is changed in place; everything else of `entry` is borrowed. If
 * `redact` is NULL, the copy equals `entry`.
 */
void redacted_entry_init(struct redacted_entry *redacted, const struct journal_entry *entry,
			 const struct redact *redact);
/*
 * Replaces *text and *len if there is a secret in it. Returns the new text, which the caller frees,
 * or NULL.
 */
char *redacted_bytes(const struct redact *redact, const char **text, size_t *len);
void redacted_entry_release(struct redacted_entry *redacted);
#define cleanup_redacted __attribute__((cleanup(redacted_entry_release)))

#endif
