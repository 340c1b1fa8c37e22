/* SPDX-License-Identifier: MIT */
/*
 * figures.h - all figures of a cell, for its journal.
 *
 * A cell holds the first ones, those that an answer may show. A driver saves every figure in
 * output/ as cell-NUMBER-figure-K, so that the others are read from there.
 */
#ifndef ANSWER_FIGURES_H
#define ANSWER_FIGURES_H

#include <stddef.h>

#include "journal/entry.h"

enum {
	FIGURES_MAX = 1000,            /* of a cell, in its journal */
	FIGURES_READ_BYTES = 16 << 20, /* of those that are read */
};

struct exec_result;

/* `images` are borrowed from the cell, but what was read. */
struct figures {
	struct journal_image *images;
	size_t count;
	size_t held;     /* of them, that are the cell's */
	size_t left_out; /* that lie in output/ and are not among them */
};

/* Reads files: not for what is asked often. figures_release frees what `ret` has. */
void figures_collect(const struct exec_result *result, struct figures *ret);
void figures_release(struct figures *figures);
#define cleanup_figures __attribute__((cleanup(figures_release)))

#endif
