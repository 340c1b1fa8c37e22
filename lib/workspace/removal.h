/* SPDX-License-Identifier: MIT */
/* removal.h - removes a folder below the home in a helper process. */
#ifndef WORKSPACE_REMOVAL_H
#define WORKSPACE_REMOVAL_H

#include <stdbool.h>

struct home;
struct loop;
struct removal;

/*
 * Removes `name` below the home in a helper process, with constant memory, also trees with hostile
 * modes and depths. It is a folder of the server's own: a session's, or that of a dead server,
 * whose results may be due (rescue.h). `done` is called once, from the loop, also when no helper
 * could start, but not after home_close. It may be NULL. The result is valid until `done`.
 */
struct removal *removal_start(struct loop *loop, const struct home *home, const char *helper,
			      const char *name, void (*done)(void *data, bool ok), void *data);
/*
 * The same for a folder whose content session code chose: a record of results in it is not the
 * server's, and nothing in it is saved or waited for.
 */
struct removal *removal_start_spent(struct loop *loop, const struct home *home, const char *helper,
				    const char *name, void (*done)(void *data, bool ok),
				    void *data);
/* Drops `done`, which is not called any more. `removal` may be NULL. */
void removal_forget(struct removal *removal);

#endif
