/* SPDX-License-Identifier: MIT */
/*
 * known.h - what a share had before session code ran: repositories, and what git runs in them.
 *
 * With `learn`, at the session's start, it is recorded. Later all else is new, however old its
 * times are: a folder that code made in an earlier session and moves keeps the times of what is in
 * it. A share that was not learned to its end has only these times.
 */
#ifndef FILES_KNOWN_H
#define FILES_KNOWN_H

#include <stdbool.h>
#include <sys/stat.h>

struct folder_at;
struct inspection;

/*
 * Returns true when session code may have made the entry: it was not learned, or is young. A file
 * that is young but has the content that was learned, in the same folder, is not new. With `learn`
 * an old entry is recorded.
 */
bool known_is_new(struct inspection *run, const struct folder_at *folder, const char *name,
		  const struct stat *st);
/* Returns whether an entry of a config was learned. With `learn` it is recorded. */
bool known_has(struct inspection *run, const struct folder_at *folder, const char *name,
	       const char *entry);
/*
 * Returns true with `learn` for a folder that code may have moved here since the session began:
 * nothing in it must be recorded.
 */
bool known_is_moved_in(const struct inspection *run, int fd);
/*
 * Returns true if a folder of the share, or one above it, changed since the session began: it may
 * have been moved. The share itself cannot be moved. Its .git is left out, because ptycell's
 * placeholders change it.
 */
bool known_is_below_young(const struct inspection *run, const char *path);
/* Returns true if a repository was learned here, also if it lacks something by now. */
bool known_was_repository(const struct inspection *run, const struct folder_at *folder);
/* Returns true if the folder was no repository when the session began. */
bool known_is_new_repository(const struct inspection *run, const struct folder_at *folder);
/* Records the repository, with `learn`. */
void known_add_repository(struct inspection *run, const struct folder_at *folder);
/*
 * Records that the whole share was learned, unless a limit was met or a folder was not read. Must
 * be called last.
 */
void known_add_share(struct inspection *run);

#endif
