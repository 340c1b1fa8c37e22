/* SPDX-License-Identifier: MIT */
/* resumable.h - prints the sessions that can be resumed as a table. */
#ifndef SERVER_RESUMABLE_H
#define SERVER_RESUMABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct table_view;

/* Returns "12 s", "5 min", "3 h", "2 d". The caller frees it. */
char *resumable_span(json_int_t seconds);
/* Returns the id that resumes the session of this row and no other. Borrowed. */
const char *resumable_id(const json_t *row);
/* Returns the folder of the results with ~ for the user's home, or "-". The caller frees it. */
char *resumable_folder(const json_t *row);
/* Begins a table with `count` columns. */
void resumable_begin(struct table_view *table, const char *const *head, size_t count);
/* Prints rows of remote_ended(): the ten used last, or all. Says how many are left out. */
void resumable_print(const json_t *ended, bool all);

#endif
