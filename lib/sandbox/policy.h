/* SPDX-License-Identifier: MIT */
/*
 * policy.h - what a session's sandbox allows, as data.
 *
 * The server fills the policy in, sandbox/wire/plan.h encodes it, and the launcher enforces it. A
 * policy must begin as policy_init sets it: a member that is added later then has its safe value.
 */
#ifndef SANDBOX_POLICY_H
#define SANDBOX_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As the value of a limit below: the session has the limit that the server itself has. */
#define POLICY_NO_LIMIT UINT64_MAX

/* The session's folders inside, in the tiers with a root of its own (bwrap and namespaces). */
#define POLICY_DATA "/mnt/data"
#define POLICY_SPOOL "/mnt/spool"
#define POLICY_PACKAGES "/mnt/packages"
/* In the folder of packages: a folder with the pipe that code may write to (session/asking.h). */
#define POLICY_BELL "bell"
/* Links to output/ and input/, under the names that Claude models expect. */
#define POLICY_USER_DATA "/mnt/user-data"
#define POLICY_OUTPUTS POLICY_USER_DATA "/outputs"
#define POLICY_UPLOADS POLICY_USER_DATA "/uploads"
/* A link beside the data folder, where Node searches for modules. */
#define POLICY_MODULES "/mnt/node_modules"
#define POLICY_MODULES_TARGET "packages/javascript/node_modules"

/* The port of the session's proxy, on 127.0.0.1 of the session's own network. */
enum { POLICY_PROXY_PORT = 3128 };

enum {
	POLICY_SHARES_MAX = 32,
	POLICY_RUNTIMES_MAX = 32,
};

/* How a session is confined, weakest tier first. */
enum policy_tier {
	POLICY_UNCONFINED, /* only at the user's request */
	POLICY_LANDLOCK,   /* no namespaces: landlock, seccomp, a kill group */
	POLICY_BWRAP,      /* the system's bwrap makes the namespaces */
	POLICY_NAMESPACES, /* the launcher makes the namespaces */
	POLICY_TIERS
};

/* A folder of the user, visible at its own absolute path. */
struct policy_share {
	const char *path; /* absolute; no component may be a symbolic link */
	bool writable;
};

/* Strings and arrays are borrowed: from the server's memory, or from the bytes of a parsed plan. */
struct policy {
	enum policy_tier tier;

	uint64_t open_files_max;  /* of one process */
	uint64_t file_max;        /* bytes of one file */
	uint64_t memory_max;      /* bytes of one process: RLIMIT_DATA, see payload.c */
	uint64_t processes_max;   /* of the session */
	uint64_t cpu_seconds_max; /* of one process */
	uint64_t tmp_bytes_max;   /* of /tmp, and in tier bwrap of /dev/shm; only with a root of its
				     own */
	uint64_t tmp_files_max;

	/* Host paths. Each is compared with the descriptor that comes with the plan. */
	const char *data_path;
	const char *spool_path;    /* "" is none */
	const char *packages_path; /* "" is none */
	struct policy_share shares[POLICY_SHARES_MAX];
	size_t share_count;
	/* Folders outside /usr that interpreters need, bound read-only at their own path. */
	const char *runtimes[POLICY_RUNTIMES_MAX];
	size_t runtime_count;

	bool unix_sockets;   /* programs may create AF_UNIX sockets */
	bool proxy;          /* init sends a listening socket on the session's loopback */
	bool zygote_sandbox; /* not a session's sandbox but a zygote's
			 (sandbox/namespaces/zygote_namespaces.h); tier namespaces only */
	bool nested;         /* inside a zygote sandbox, whose namespaces come after the folders */
	bool in_group;       /* the control group's descriptor comes last; set by sandbox_open */
	bool own_inodes;     /* the system's folders are overlays; set by setup_self, in no plan */
};

/*
 * Sets the defaults: tier namespaces, 4,096 open files, 256 MiB and 65,536 files in /tmp, Unix
 * sockets allowed, no proxy, no paths, no other limit. Core dumps are always off.
 */
void policy_init(struct policy *policy);
/* Returns whether a share or runtime lies below `folder`. */
bool policy_shows_below(const struct policy *policy, const char *folder);
/* Returns "namespaces", "bwrap", "landlock" or "unconfined". */
const char *policy_tier_name(enum policy_tier tier);

#endif
