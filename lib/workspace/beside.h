/* SPDX-License-Identifier: MIT */
/*
 * beside.h - which files of the working folder are kept: results, and what lies beside output/.
 *
 * Models write to the working folder as well, and tell the user of it. New files outside of input/
 * and output/ are kept, too, but for hidden ones, what repositories, virtual environments and
 * caches (also __pycache__ and node_modules) hold, and trees that are too large to be results. A
 * change renews a copy that is there. Of links those in output/ are tried: they may lead to a file.
 */
#ifndef WORKSPACE_BESIDE_H
#define WORKSPACE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "workspace/keeper.h"
#include "workspace/scan.h"

enum {
	BESIDE_TREE_MAX = 200,   /* new files of one top folder in one cell */
	BESIDE_FILES_MAX = 1000, /* of all of them */
};

/* A file in output/ that is there, and no link. */
bool beside_is_result(const struct change *change);
/*
 * An array of `count`, which the caller frees: is the change's file to be kept? `changes` are
 * sorted by path. `*ret_left` becomes a sentence of the caller's about new files that are not, but
 * for hidden ones and those of __pycache__ and node_modules, or NULL.
 */
bool *beside_choose(const struct keeper *keeper, const struct change *changes, size_t count,
		    char **ret_left);

#endif
