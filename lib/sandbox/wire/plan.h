/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a policy or an interpreter's start as bytes, from the server to the launcher.
 *
 * A plan is a header (magic, version, kind, length) and records (tag, length, bytes). It travels in
 * a memfd that is sealed against every change, because arguments and environment may be larger than
 * a message. The reader trusts nothing: it checks maxima, lengths, tags and how often each may
 * come, and strings must carry their NUL.
 */
#ifndef SANDBOX_WIRE_PLAN_H
#define SANDBOX_WIRE_PLAN_H

#include <stddef.h>

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
	/* each record has eight bytes of header */
	PLAN_BYTES_MAX = PLAN_STRING_BYTES_MAX + PLAN_STRINGS_MAX * 8 + PLAN_PATH_MAX + 1024,
};

/* Directions as the interpreter sees them. */
enum plan_descriptor_kind {
	PLAN_SOCKET,     /* a stream, both ways */
	PLAN_PIPE_IN,    /* the interpreter reads */
	PLAN_PIPE_OUT,   /* the interpreter writes */
	PLAN_PIPE_ASIDE, /* the interpreter writes, and gets EAGAIN rather than wait */
	PLAN_PACKETS,    /* a channel of wire.h */
	PLAN_DESCRIPTOR_KINDS
};

struct plan_descriptor {
	char name[PLAN_DESCRIPTOR_NAME_MAX];
	int number;
	enum plan_descriptor_kind kind;
};

/* How one interpreter is started. A parsed one borrows its strings from the plan's bytes. */
struct plan_start {
	char **argv; /* NULL-terminated, as envp; argv[0] is an absolute path */
	char **envp;
	const char *cwd; /* absolute; "" is the workspace */
	unsigned short rows;
	unsigned short columns;
	struct plan_descriptor descriptors[PLAN_DESCRIPTORS_MAX];
	size_t descriptor_count;
};

/* Makes an empty buffer that can hold any plan. */
void plan_buf_init(struct buf *buf);

/*
 * Both append the whole plan to `ret_plan`, which must be an empty buffer of plan_buf_init. They
 * return -1 and set *err (ERR_INVALID, ERR_LIMIT) when the readers below would refuse the plan.
 */
int plan_write_sandbox(struct buf *ret_plan, const struct policy *policy,
		       struct err *err) MUST_CHECK;
int plan_write_start(struct buf *ret_plan, const struct plan_start *start,
		     struct err *err) MUST_CHECK;

/*
 * Parses a policy. `data` must outlive *ret_policy, whose strings point into it. Every path is
 * absolute, below /, and has no empty, "." or ".." component. Only POLICY_UNCONFINED may have the
 * data_path "". Returns -1 and sets *err.
 */
int plan_parse_sandbox(const void *data, size_t len, struct policy *ret_policy,
		       struct err *err) MUST_CHECK;
/*
 * Parses a start. `data` must outlive *ret_start, which the caller gives to plan_start_release.
 * Returns -1 and sets *err.
 */
int plan_parse_start(const void *data, size_t len, struct plan_start *ret_start,
		     struct err *err) MUST_CHECK;
void plan_start_release(struct plan_start *start);

/*
 * Returns a close-on-exec descriptor of a sealed memfd with the bytes, or of its substitute
 * (fd_unnamed). The caller closes it. Returns -1 and sets *err.
 */
int plan_seal(const struct buf *plan, struct err *err) MUST_CHECK;
/*
 * Maps a descriptor of plan_seal for reading; the caller gives the result to plan_unmap. A
 * substitute for a memfd is copied. Returns NULL and sets *err for an unsealed memfd, and for any
 * other file.
 */
const void *plan_map(int fd, size_t *ret_len, struct err *err) MUST_CHECK;
void plan_unmap(const void *data, size_t len);

#endif
