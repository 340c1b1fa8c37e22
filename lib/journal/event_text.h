/* SPDX-License-Identifier: MIT */
/*
 * event_text.h - writes the fields of an event as text. A caller waits for three events of each
 * cell; making a tree of values and writing that takes several times as long.
 */
#ifndef JOURNAL_EVENT_TEXT_H
#define JOURNAL_EVENT_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/* Appends the first fields of an event of a cell. The caller appends "}" at the end. */
void event_text_begin(struct buf *fields, const char *event, uint64_t number);
/*
 * Each of these appends a field. Words are those of our own code, with nothing to escape. A string
 * may be NULL: then it appends nothing.
 */
void event_text_word(struct buf *fields, const char *key, const char *word);
void event_text_bool(struct buf *fields, const char *key, bool value);
void event_text_number(struct buf *fields, const char *key, uint64_t number);
void event_text_seconds(struct buf *fields, const char *key, uint64_t ms);
void event_text_string(struct buf *fields, const char *key, const char *text);
/* Takes the value over. One that cannot be written becomes null. */
void event_text_value(struct buf *fields, const char *key, json_t *value_own);

#endif
