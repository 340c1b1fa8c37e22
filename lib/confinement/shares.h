/* SPDX-License-Identifier: MIT */
/*
 * shares.h - the person's folders that code may see, as the disk has them.
 *
 * What settings name is looked at when the first session needs it, by descriptor and through no
 * symbolic link, and holds from then on: a folder that is replaced later is another folder. A
 * share that is too much (the root, a system folder, the home folder, our own folders), or would
 * let code change the policy or audit file, refuses all, with a sentence that says what to write
 * instead.
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
 * Opens every share of `settings` (borrowed until free) that is there: shares_absent() names the
 * others. ERR_DENIED for one that is not to be shared, ERR_INVALID for one that is no plain path.
 */
struct shares *shares_open(const struct settings *settings, struct err *err) MUST_CHECK;
/* NULL is allowed. */
void shares_free(struct shares *shares);

/*
 * A line with a sentence for each that was not there or is not any more, for the caller to free;
 * NULL for none. NULL has none.
 */
char *shares_absent(const struct shares *shares);
/* Its path leads to what was opened; if not, sessions that begin now do without it. */
bool shares_there(const struct shares *shares, size_t index);
size_t shares_count(const struct shares *shares);
/* Outer folders before those in them; each path once. Borrowed. */
const struct policy_share *shares_at(const struct shares *shares, size_t index);
/* Its descriptor, borrowed. */
int shares_fd(const struct shares *shares, size_t index);
/* The path of the first one that sessions may write to; NULL when there is none. NULL has none. */
const char *shares_find_writable(const struct shares *shares);
/* True when `path` is a share, lies in one, or holds one. */
bool shares_overlap(const struct shares *shares, const char *path, bool only_writable);
/*
 * True when sessions can change what is at `path`: it overlaps with a writable share, or so does a
 * link that leads there. What is not there counts by where it would be. NULL has no shares.
 */
bool shares_may_change(const struct shares *shares, const char *path);

/*
 * Opens the regular file at the absolute `path` for reading when it lies in a share, resolved
 * from the share's descriptor and never through a link: for upload_file. ERR_DENIED for a path
 * outside prints the line to add, or why its folder cannot be shared; ERR_NOT_FOUND; ERR_INVALID
 * for one that is not absolute or climbs. The descriptor is the caller's.
 */
int shares_open_file(const struct shares *shares, const char *path, off_t *ret_size,
		     struct err *err) MUST_CHECK;

/* True when `path` is `folder` or lies in it, both absolute and plain: whole names are compared. */
bool shares_path_within(const char *folder, const char *path);

#endif
