/* SPDX-License-Identifier: MIT */
/*
 * beside.h - decides which files of the working folder are exported: results in output/, and
 * others.
 *
 * Models also write to the working folder itself and mention these files to the user. New files
 * outside of input/ and output/ are therefore exported, too. Not exported are hidden files, the
 * files of repositories, virtual environments and caches (also __pycache__ and node_modules), and
 * trees that are too large to be results. A changed file is exported again if a copy of it exists.
 * Links are tried in output/ only: they may lead to a file.
 */
#ifndef WORKSPACE_BESIDE_H
#define WORKSPACE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

#include "workspace/keeper.h"
#include "workspace/scan.h"

enum {
	BESIDE_TREE_MAX = 200,   /* new files of one top folder in one cell */
	BESIDE_FILES_MAX = 1000, /* new files of all folders in one cell */
};

/* Returns true for an existing file in output/ that is no link. */
bool beside_is_result(const struct change *change);
/*
 * Returns an array of `count` decisions: true if the file of that change must be exported. The
 * caller frees it. `changes` must be sorted by path. Sets `*ret_left` to a sentence about new files
 * that are not exported, or to NULL; the caller frees it. Hidden folders, __pycache__ and
 * node_modules are not mentioned: programs write into them by themselves.
 */
bool *beside_choose(const struct keeper *keeper, const struct change *changes, size_t count,
		    char **ret_left);

#endif
