/* SPDX-License-Identifier: MIT */
/*
 * limit_texts.h - the sentences that name a limit, its value and its setting, and say what to do.
 *
 * limit_hints knows which of them holds for a cell. Each function appends whole lines to `out`.
 */
#ifndef ANSWER_LIMIT_TEXTS_H
#define ANSWER_LIMIT_TEXTS_H

#include <stdbool.h>

struct buf;
struct cell;
struct session_limits;

/* Returns true if the folder had no room for a file of file_max in the cell. */
bool limit_texts_is_lowered(const struct cell *cell, const struct session_limits *limits);
void limit_texts_memory(struct buf *out, const struct session_limits *limits);
/* Appends nothing where the session's processes together used little. */
void limit_texts_others(struct buf *out, const struct cell *cell,
			const struct session_limits *limits);
void limit_texts_memory_stop(struct buf *out, const struct cell *cell,
			     const struct session_limits *limits);
void limit_texts_cpu_stop(struct buf *out, const struct cell *cell,
			  const struct session_limits *limits);
void limit_texts_map(struct buf *out, const struct session_limits *limits);
void limit_texts_disk(struct buf *out, const struct cell *cell,
		      const struct session_limits *limits);
/* Names the cell's files that are exactly as large as allowed. Appends nothing without one. */
void limit_texts_cut(struct buf *out, const struct cell *cell, const struct session_limits *limits);
void limit_texts_file(struct buf *out, const struct session_limits *limits);
void limit_texts_space(struct buf *out, const struct session_limits *limits);
void limit_texts_space_bwrap(struct buf *out, const struct session_limits *limits);
void limit_texts_thread(struct buf *out, const struct session_limits *limits);
void limit_texts_library(struct buf *out, const struct session_limits *limits);
void limit_texts_database(struct buf *out, const struct session_limits *limits);
void limit_texts_connection(struct buf *out, const struct session_limits *limits);
void limit_texts_bus_error(struct buf *out, const struct session_limits *limits);
void limit_texts_eagain(struct buf *out, const struct session_limits *limits);
void limit_texts_open_files(struct buf *out, const struct session_limits *limits);

#endif
