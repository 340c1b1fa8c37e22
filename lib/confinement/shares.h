/* SPDX-License-Identifier: MIT */
/*
 * shares.h - the user's folders that code may see.
 *
 * The folders are opened when the first session needs them, by descriptor and through no symbolic
 * link. They hold from then on: a folder that is replaced later is another folder. A share that
 * exposes too much (the root, a system folder, the home folder, the server's own folders), or would
 * let code change the policy or audit file, makes shares_open refuse all. Its error says what to
 * write instead.
 */
#ifndef CONFINEMENT_SHARES_H
#define CONFINEMENT_SHARES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "sandbox/policy.h"

struct settings;
struct shares;

/*
 * Opens every share of `settings` (borrowed until free) that exists; shares_absent names the
 * others. Returns NULL and sets *err: ERR_DENIED for a folder that must not be shared, ERR_INVALID
 * for a path that is not plain.
 */
struct shares *shares_open(const struct settings *settings, struct err *err) MUST_CHECK;
/* Frees it. May be NULL. */
void shares_free(struct shares *shares);

/*
 * Returns a line with a sentence for each share that is missing, now or from the start. The caller
 * frees the result. Returns NULL for none. `shares` may be NULL.
 */
char *shares_absent(const struct shares *shares);
/*
 * Returns whether a share's path still leads to the folder that was opened, and no disk was mounted
 * in it on which names cannot be held. If not, new sessions do without it.
 */
bool shares_there(const struct shares *shares, size_t index);
size_t shares_count(const struct shares *shares);
/*
 * Returns the shares, outer folders before inner ones, each path once; NULL past the end. Borrowed.
 */
const struct policy_share *shares_at(const struct shares *shares, size_t index);
/* Returns a share's descriptor, borrowed. */
int shares_fd(const struct shares *shares, size_t index);
/*
 * Returns the path of the first share that sessions may write to; NULL when there is none. `shares`
 * may be NULL.
 */
const char *shares_find_writable(const struct shares *shares);
/* Returns whether `path` is a share, is within one, or contains one. */
bool shares_overlap(const struct shares *shares, const char *path, bool only_writable);
/*
 * Returns whether sessions can change the file at `path`: it overlaps with a writable share, or a
 * link that leads there does. A missing file counts by where it would be. `shares` may be NULL.
 */
bool shares_may_change(const struct shares *shares, const char *path);

/*
 * Opens a regular file within a share for reading, for upload_file. `path` is absolute; it is
 * resolved from the share's descriptor and never through a link. The caller owns the descriptor.
 * Returns -1 and sets *err: ERR_DENIED for a path outside, with the line to add or why its folder
 * cannot be shared; ERR_NOT_FOUND; ERR_INVALID for a path that is not absolute or has "..".
 */
int shares_open_file(const struct shares *shares, const char *path, off_t *ret_size,
		     struct err *err) MUST_CHECK;

/*
 * Returns whether `path` is `folder` or within it. Both are absolute and plain; whole names are
 * compared.
 */
bool shares_path_within(const char *folder, const char *path);

#endif
