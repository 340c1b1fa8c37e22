/* SPDX-License-Identifier: MIT */
/* plan_internal.h - headers and records, for the two kinds of plan in plan.c and plan_policy.c. */
#ifndef SANDBOX_WIRE_PLAN_INTERNAL_H
#define SANDBOX_WIRE_PLAN_INTERNAL_H

#include "sandbox/wire/plan.h"

enum plan_kind { PLAN_KIND_SANDBOX = 1, PLAN_KIND_START = 2 };

enum plan_tag {
	TAG_POLICY = 1,
	TAG_ARGUMENT,
	TAG_VARIABLE,
	TAG_CWD,
	TAG_TERMINAL,
	TAG_DESCRIPTOR,
	TAG_DATA_PATH,
	TAG_SPOOL_PATH,
	TAG_PACKAGES_PATH,
	TAG_SHARE_READ,
	TAG_SHARE_WRITE,
	TAG_RUNTIME,
};

/* plan_add_header begins a plan; plan_close_header ends it by writing the length. */
int plan_add_header(struct buf *plan, enum plan_kind kind, struct err *err) MUST_CHECK;
void plan_close_header(struct buf *plan);
/* Appends one record. Returns -1 and sets *err (ERR_LIMIT) when the plan becomes too large. */
int plan_add_record(struct buf *plan, enum plan_tag tag, const void *data, size_t len,
		    struct err *err) MUST_CHECK;

struct plan_reader {
	const char *at;
	const char *end;
};

struct plan_record {
	uint32_t tag;
	uint32_t len;
	const char *data;
};

/*
 * Checks the header and sets *reader to the first record. `data` must outlive the reader. Returns
 * -1 and sets *err (ERR_INVALID).
 */
int plan_open(struct plan_reader *reader, const void *data, size_t len, enum plan_kind kind,
	      struct err *err) MUST_CHECK;
/* Returns 1 with the next record, 0 at the end, or -1 and sets *err. */
int plan_next(struct plan_reader *reader, struct plan_record *ret_record,
	      struct err *err) MUST_CHECK;
/* Returns whether the only NUL is the last byte. */
bool plan_is_string(const char *data, size_t len);

#endif
