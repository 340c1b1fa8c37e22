/* SPDX-License-Identifier: MIT */
/*
 * look.h - repositories that code made in shared folders, and what in them git would run.
 *
 * Order {"op": "look", "shares": [PATH], "home": PATH, "since": NS, "entries": N, "ms": MS,
 * "known": [TEXT], "learn": BOOL}: the shares are the folders 3, 4 and on, PATHs and TEXTs in
 * percent encoding. Breadth first, folders of packages last, no link followed, until N entries of
 * all shares were read or MS have passed.
 *
 * Only what changed since NS, by the time that nobody can set back, can be of code. Of that, what
 * gitfolder.h names gets HOLD_MARK (hold.h) behind its name.
 *
 * Result {"held": [{"path": PATH, "name": NAME}], "count": N, "more": BOOL, "known": [TEXT]}:
 * of N that were held the first;
 * "more" when entries were left; "name" is empty for what was removed, and missing when neither was
 * possible; "known", when `learn` is true and then nothing is held, are the entries of older
 * configs that code may not make, and the repositories that there are; a later look takes one that
 * is not among them for code's.
 */
#ifndef FILES_LOOK_H
#define FILES_LOOK_H

#include <jansson.h>

#include "base/err.h"

int look_run(const json_t *order, struct err *err) MUST_CHECK;

#endif
