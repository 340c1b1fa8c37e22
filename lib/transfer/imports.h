/* SPDX-License-Identifier: MIT */
/*
 * intakes.h - files on their way into sessions: downloads and copies of the person's files.
 *
 * Each is one process, of ptycell-fetch or ptycell-files, that gets an empty file out of the
 * session's reach and nothing else of the session. When it is whole the server gives it its name;
 * whatever ends it before leaves nothing. What a program says is data that a stranger may have
 * written: names are made safe here once more.
 *
 * Both programs say {"head": {"name", "type", "total"}} once, {"bytes"} now and then, and {"size",
 * "from"} as their result.
 */
#ifndef TRANSFER_IMPORTS_H
#define TRANSFER_IMPORTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"

struct intake;
struct imports;
struct workspace;

enum {
	IMPORTS_MAX = 16,        /* at the same time */
	IMPORTS_GRACE_MS = 3000, /* a program that does not end when it should is killed then */
};

struct intake_spec {
	const char *program;
	const json_t *order;  /* of one of the functions below */
	const char *argument; /* what failures are about, "arguments.url"; static */
	int source_fd;        /* handed over as descriptor 4; -1: none */
	const struct workspace *workspace;
	const char *filename; /* below input/; NULL: the one that comes with it */
	bool overwrite;
	uint64_t deadline_ms; /* from now */
};

struct intake_result {
	const char *path; /* relative to the session's folder */
	uint64_t size;
	const char *type; /* as the server said, one line; NULL: it did not */
	const char *from; /* for people, one line; NULL: nobody said */
};

struct intake_handlers {
	/* `total` is -1 when nobody knows. */
	void (*progress)(void *data, uint64_t bytes, int64_t total);
	/* Once, last, from the loop or from imports_end_folder; one of the two is NULL. */
	void (*done)(void *data, const struct intake_result *result, const struct err *err);
};

struct intake_web {
	const char *url;
	const char *hosts; /* of net/host_list.h; NULL: any */
	bool allow_private;
	char *const *environment; /* for proxies */
	uint64_t size_max;
	const char *size_name; /* what people call that limit */
	uint64_t deadline_ms;
};

/* An order to ptycell-fetch. It may hold a secret. */
json_t *imports_download_order(const struct intake_web *web);
/* An order to ptycell-files: descriptor 4 is what is copied, `name` what it is called there. */
json_t *imports_copy_order(const char *name, uint64_t size_max, const char *size_name);

struct imports *imports_new(struct loop *loop);
/* All must be over. NULL is allowed. */
void imports_free(struct imports *intakes);
/*
 * All is borrowed for the call but `handlers`. NULL: it does not begin; ERR_BUSY when the name is
 * taken, ERR_LIMIT when there are too many.
 */
struct intake *imports_start(struct imports *intakes, const struct intake_spec *spec,
			     const struct intake_handlers *handlers, void *data,
			     struct err *err) MUST_CHECK;
/* Puts what is wrong with this path below input/ into a sentence for who gave it. Always -1. */
int imports_explain_name(const char *path, struct err *err);
/* Kills the transfer; `done` follows with ERR_CANCELLED, unless it was over. */
void imports_cancel(struct intake *intake);
/* Where it will lie, relative to the session's folder; NULL while that is not known. */
const char *imports_path(const struct intake *intake);
/* The session of this folder (workspace_name) ends: its files fail now. NULL is allowed. */
void imports_end_folder(struct imports *intakes, const char *folder);

#endif
