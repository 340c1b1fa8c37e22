/* SPDX-License-Identifier: MIT */
/*
 * share_seal.h - makes the writable shares of a sandbox read-only for a while, with all mounts in
 * them; those that are read-only anyway stay so.
 */
#ifndef SANDBOX_ROOTFS_SHARE_SEAL_H
#define SANDBOX_ROOTFS_SHARE_SEAL_H

#include <stddef.h>

#include "base/err.h"
#include "sandbox/policy.h"

struct share_seal_mount;

/* Zero-initialised. */
struct share_seal {
	struct share_seal_mount *mounts; /* that were writable */
	size_t count;
};

/*
 * Must be called within the sandbox, before session code runs. Returns -1 and sets *err; shares may
 * be writable then.
 */
int share_seal_set(struct share_seal *seal, const struct policy *policy,
		   struct err *err) MUST_CHECK;
/*
 * Makes the same mounts writable again and releases the seal. Returns -1 and sets *err if one of
 * them is not where it was.
 */
int share_seal_lift(struct share_seal *seal, struct err *err) MUST_CHECK;

#endif
