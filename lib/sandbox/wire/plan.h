/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a sandbox or an interpreter's start as bytes, from the server to the launcher.
 *
 * A plan is a header (magic, version, kind, length) and records (tag, length, bytes). It travels
 * in a memfd sealed against every change, because arguments and environment may be larger than
 * a message. The reader trusts nothing: caps, lengths, tags, and how often each may come are
 * checked again, and strings carry their NUL.
 */
#ifndef SANDBOX_WIRE_PLAN_H
#define SANDBOX_WIRE_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "sandbox/policy.h"

enum {
	PLAN_STRING_BYTES_MAX = 256 * 1024, /* all arguments and variables with their NULs */
	PLAN_STRINGS_MAX = 4096,            /* arguments and variables together */
	PLAN_PATH_MAX = 4096,               /* with its NUL */
	PLAN_DESCRIPTORS_MAX = 6,
	PLAN_DESCRIPTOR_NUMBER_MAX = 15,
	PLAN_DESCRIPTOR_NAME_MAX = 16, /* with its NUL */
	PLAN_TERMINAL_MAX = 1000,      /* rows or columns */
	/* Every record has eight bytes of header. */
	PLAN_BYTES_MAX = PLAN_STRING_BYTES_MAX + PLAN_STRINGS_MAX * 8 + PLAN_PATH_MAX + 1024,
};

/* Seen from the interpreter. */
enum plan_descriptor_kind {
	PLAN_SOCKET,     /* a stream both ways */
	PLAN_PIPE_IN,    /* it reads */
	PLAN_PIPE_OUT,   /* it writes */
	PLAN_PIPE_ASIDE, /* it writes, and fails with EAGAIN rather than wait */
	PLAN_PACKETS,    /* a channel of wire.h */
	PLAN_DESCRIPTOR_KINDS
};

struct plan_descriptor {
	char name[PLAN_DESCRIPTOR_NAME_MAX];
	int number;
	enum plan_descriptor_kind kind;
};

/* How one interpreter is started. A parsed one borrows its strings from the bytes. */
struct plan_start {
	char **argv; /* NULL-terminated, as envp; argv[0] is an absolute path */
	char **envp;
	const char *cwd; /* absolute; "" is the workspace */
	unsigned short rows;
	unsigned short columns;
	struct plan_descriptor descriptors[PLAN_DESCRIPTORS_MAX];
	size_t descriptor_count;
};

/* A buffer that can hold any plan. */
void plan_buf_init(struct buf *buf);

/*
 * Both append the whole plan to `ret_plan`, an empty plan_buf_init'ed buffer, and refuse what the
 * readers below would. ERR_INVALID, ERR_LIMIT.
 */
int plan_write_sandbox(struct buf *ret_plan, const struct policy *policy,
		       struct err *err) MUST_CHECK;
int plan_write_start(struct buf *ret_plan, const struct plan_start *start,
		     struct err *err) MUST_CHECK;

/*
 * `data` must live as long as *ret_policy, whose paths lie in it. Every path is absolute, below /,
 * and has no empty, "." or ".." component; data_path is "" for POLICY_UNCONFINED at most.
 */
int plan_parse_sandbox(const void *data, size_t len, struct policy *ret_policy,
		       struct err *err) MUST_CHECK;
/* `data` must live as long as *ret_start, which the caller gives to plan_start_release. */
int plan_parse_start(const void *data, size_t len, struct plan_start *ret_start,
		     struct err *err) MUST_CHECK;
void plan_start_release(struct plan_start *start);

/* A sealed memfd with the bytes, or what stands in for one (fd_unnamed): close-on-exec, the
 * caller's. */
int plan_seal(const struct buf *plan, struct err *err) MUST_CHECK;
/*
 * Maps what plan_seal made for reading, or a copy where that takes no seals; plan_unmap ends it.
 * NULL with `err` set for a memfd that could have been sealed, and for anything else.
 */
const void *plan_map(int fd, size_t *ret_len, struct err *err) MUST_CHECK;
void plan_unmap(const void *data, size_t len);

#endif
