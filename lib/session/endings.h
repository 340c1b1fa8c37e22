/* SPDX-License-Identifier: MIT */
/*
 * endings.h - sessions whose interpreters end by themselves. The table does not find them by their
 * ids any more.
 */
#ifndef SESSION_ENDINGS_H
#define SESSION_ENDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

struct session;

struct endings {
	struct list all;
	void (*none_left)(void *data);
	void *data;
};

/* `none_left` is called from the loop when the last of them is over. */
void endings_init(struct endings *endings, void (*none_left)(void *data), void *data);
/* Ends a session; `why` and `quit_ms` as in session_end. */
void endings_add(struct endings *endings, struct session *session, const char *why,
		 uint64_t quit_ms);
/* Gives all of them `quit_ms` from now at most. */
void endings_hurry(const struct endings *endings, uint64_t quit_ms);
/* Returns whether a session of this id can be resumed once it is over. */
bool endings_have(const struct endings *endings, const char *id);
/* Ends that session at once. */
void endings_cut(struct endings *endings, const char *id);
/* Returns how many there are. */
size_t endings_count(const struct endings *endings);
/* Ends the oldest of them at once. There must be one. */
void endings_cut_oldest(struct endings *endings);
/* Ends all of them at once, without a call of `none_left`. */
void endings_cut_all(struct endings *endings);

#endif
