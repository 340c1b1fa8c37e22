/* SPDX-License-Identifier: MIT */
/*
 * policy.h - what a session's sandbox allows, as data.
 *
 * The server fills it in, sandbox/wire/plan.h makes bytes of it, the launcher carries them out.
 * Start from policy_init: a field added later then has its safe value.
 */
#ifndef SANDBOX_POLICY_H
#define SANDBOX_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For the limits below: whatever the server itself was given. */
#define POLICY_NO_LIMIT UINT64_MAX

/* Where a session finds its folders when it has a root of its own (tiers bwrap and namespaces). */
#define POLICY_DATA "/mnt/data"
#define POLICY_SPOOL "/mnt/spool"
#define POLICY_PACKAGES "/mnt/packages"
/* Links to output/ and input/, where models of Claude look for them. */
#define POLICY_USER_DATA "/mnt/user-data"
#define POLICY_OUTPUTS POLICY_USER_DATA "/outputs"
#define POLICY_UPLOADS POLICY_USER_DATA "/uploads"
/* A link beside the data folder, for Node's search. */
#define POLICY_MODULES "/mnt/node_modules"
#define POLICY_MODULES_TARGET "packages/javascript/node_modules"

/* Where a session's proxy listens, on 127.0.0.1 of its own network. */
enum { POLICY_PROXY_PORT = 3128 };

enum {
	POLICY_SHARES_MAX = 32,
	POLICY_RUNTIMES_MAX = 32,
};

/* The ladder, weakest first: which means hold the session. */
enum policy_tier {
	POLICY_UNCONFINED, /* only when the person asked for it */
	POLICY_LANDLOCK,   /* no namespaces: landlock, seccomp, a kill group */
	POLICY_BWRAP,      /* the system's bwrap makes the namespaces, we add the rest */
	POLICY_NAMESPACES, /* all of it by ourselves */
	POLICY_TIERS
};

/* A folder of the person's, seen at its own absolute path. */
struct policy_share {
	const char *path; /* absolute, no symbolic link in it */
	bool writable;
};

/* Strings and arrays are borrowed: from the server's memory, or from the bytes of a parsed plan. */
struct policy {
	enum policy_tier tier;

	uint64_t open_files_max;  /* of one process; its soft limit is at most 1,024 */
	uint64_t file_max;        /* bytes of one file */
	uint64_t memory_max;      /* bytes of one process: RLIMIT_DATA, see payload.c */
	uint64_t processes_max;   /* of the user */
	uint64_t cpu_seconds_max; /* of one process */
	uint64_t tmp_bytes_max; /* of /tmp, and in tier bwrap of /dev/shm; with a root of its own */
	uint64_t tmp_files_max;

	/* Host paths; each is compared with the descriptor that came beside the plan. */
	const char *data_path;
	const char *spool_path;    /* "" is none */
	const char *packages_path; /* "" is none */
	struct policy_share shares[POLICY_SHARES_MAX];
	size_t share_count;
	/* Folders outside /usr that interpreters need, bound read-only at their own path. */
	const char *runtimes[POLICY_RUNTIMES_MAX];
	size_t runtime_count;

	bool unix_sockets; /* may programs make AF_UNIX sockets? */
	bool proxy;        /* hand out a listener on the session's own loopback */
	bool nursery;      /* no session's, but of sandbox/namespaces/zygote_namespaces.h; tier
			      namespaces */
	bool nested;       /* within a nursery, whose namespaces come beside the folders */
	bool in_group;     /* its control group's descriptor came last; sandbox_open sets it */
	bool own_inodes;   /* the system's folders are overlays; in no plan, setup_self sets it */
};

/*
 * Tier namespaces, 4,096 open files, 256 MiB and 65,536 files in /tmp, Unix sockets, no proxy, no
 * path, nothing else limited. Core dumps are always off.
 */
void policy_init(struct policy *policy);
/* Whether a share or runtime lies below `folder`. */
bool policy_shows_below(const struct policy *policy, const char *folder);
/* "namespaces", "bwrap", "landlock" or "unconfined". */
const char *policy_tier_name(enum policy_tier tier);

#endif
