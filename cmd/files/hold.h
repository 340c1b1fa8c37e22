/* SPDX-License-Identifier: MIT */
/* hold.h - gives a name that git does not read to what code may not give to git. */
#ifndef FILES_HOLD_H
#define FILES_HOLD_H

#include <stdbool.h>

struct folder_at;
struct look;

#define HOLD_MARK ".held-by-ptycell"

/* Renames it to the first free name of NAME.held-by-ptycell, -2 and on, and notes that. */
void hold(struct look *look, const struct folder_at *folder, const char *name);
/* A link leads there by any name: it is removed, and that is noted. */
void hold_remove(struct look *look, const struct folder_at *folder, const char *name);
bool hold_is_held(const char *name);

#endif
