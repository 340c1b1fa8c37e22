/* SPDX-License-Identifier: MIT */
/*
 * figures.h - all figures of a cell, for its journal.
 *
 * A cell holds only the first figures, as many as an answer may show. The driver saves every figure
 * as output/cell-NUMBER-figure-K, so the others are read from there.
 */
#ifndef ANSWER_FIGURES_H
#define ANSWER_FIGURES_H

#include <stddef.h>

#include "journal/entry.h"

enum {
	FIGURES_MAX = 1000,            /* of a cell, in its journal */
	FIGURES_READ_BYTES = 16 << 20, /* of the figures that are read from files */
};

struct exec_result;

/* The first `held` images are borrowed from the cell, the others owned. */
struct figures {
	struct journal_image *images;
	size_t count;
	size_t held;     /* images of the cell itself */
	size_t left_out; /* figures in output/ that are not among them */
};

/* Collects the figures. Reads files, so it must not be called often. */
void figures_collect(const struct exec_result *result, struct figures *ret);
/* Frees the images that were read. */
void figures_release(struct figures *figures);
#define cleanup_figures __attribute__((cleanup(figures_release)))

#endif
