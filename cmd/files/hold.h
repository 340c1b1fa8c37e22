/* SPDX-License-Identifier: MIT */
/* hold.h - renames what session code must not give to git to a name that git does not read. */
#ifndef FILES_HOLD_H
#define FILES_HOLD_H

#include <stdbool.h>

struct folder_at;
struct inspection;

#define HOLD_MARK ".held-by-ptycell"

/*
 * Renames `name` to the first free one of NAME.held-by-ptycell, NAME.held-by-ptycell-2 and so on,
 * and records it in `inspection`. Does nothing with `learn`.
 */
void hold(struct inspection *inspection, const struct folder_at *folder, const char *name);
/*
 * Removes the link `name`, which would lead to its target under any name, and records it in
 * `inspection`; as hold().
 */
void hold_remove(struct inspection *inspection, const struct folder_at *folder, const char *name);
/* Returns true for a name that hold() has given. */
bool hold_is_held(const char *name);

#endif
