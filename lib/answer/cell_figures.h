/* SPDX-License-Identifier: MIT */
/*
 * cell_figures.h - all figures of a cell, for its journal.
 *
 * A cell holds only its first figures (CELL_IMAGES_MAX). The driver saves every figure
 * as output/cell-NUMBER-figure-K, so the others are read from there.
 */
#ifndef ANSWER_CELL_FIGURES_H
#define ANSWER_CELL_FIGURES_H

#include <stddef.h>

#include "journal/entry.h"

enum {
	CELL_FIGURES_MAX = 1000,            /* of a cell, in its journal */
	CELL_FIGURES_READ_BYTES = 16 << 20, /* of the figures that are read from files */
};

struct exec_result;

/* The first `held` images are borrowed from the cell, the others owned. */
struct cell_figures {
	struct journal_image *images;
	size_t count;
	size_t held;     /* images of the cell itself */
	size_t left_out; /* figures in output/ that are not among them */
};

/* Collects the figures. Reads files, so it must not be called often. */
void cell_figures_collect(const struct exec_result *result, struct cell_figures *ret);
/* Frees the images that were read. */
void cell_figures_release(struct cell_figures *figures);
#define cleanup_cell_figures __attribute__((cleanup(cell_figures_release)))

#endif
