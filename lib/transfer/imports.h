/* SPDX-License-Identifier: MIT */
/*
 * imports.h - brings files into sessions: downloads, and copies of the user's files.
 *
 * Each import is one process of ptycell-fetch or ptycell-files. It gets an empty file that the
 * session cannot reach, and nothing else of the session. The server places the file when it is
 * complete; a failed import leaves nothing. Before that, ptycell-files copies it as the original.
 * Replies of the programs may contain text from untrusted servers: the server checks names once
 * more.
 *
 * Both programs send {"head": {"name", "type", "total"}} once, {"bytes"} from time to time, and
 * {"size", "from"} as their result.
 */
#ifndef TRANSFER_IMPORTS_H
#define TRANSFER_IMPORTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "event/loop.h"

struct import;
struct imports;
struct workspace;

enum {
	IMPORTS_MAX = 16,        /* at the same time */
	IMPORTS_GRACE_MS = 3000, /* time after which a program that does not end is killed */
};

struct import_spec {
	const char *program;
	const json_t *request; /* made by one of the functions below */
	const char *argument;  /* the argument that errors name, "arguments.url"; static */
	int source_fd;         /* handed over as descriptor 4; -1: none */
	const struct workspace *workspace;
	const char *filename; /* below input/; NULL: the name that the source reports */
	bool overwrite;
	uint64_t deadline_ms;  /* from now */
	const char *copier;    /* path of ptycell-files, which makes the original; borrowed */
	uint64_t original_max; /* a larger file gets no original (workspace/original.h) */
};

struct import_result {
	const char *path; /* relative to the session's folder */
	uint64_t size;
	const char *type;   /* as the server reported, one line; may be NULL */
	const char *from;   /* for the user, one line; may be NULL */
	const char *sha256; /* NULL: the file is too large */
	const char *missed; /* why its original could not be made, or NULL */
};

struct import_handlers {
	/* `total` is -1 if unknown. */
	void (*progress)(void *data, uint64_t bytes, int64_t total);
	/*
	 * Called once, last, from the loop or from imports_end_folder. One of `result` and `err` is
	 * NULL.
	 */
	void (*done)(void *data, const struct import_result *result, const struct err *err);
};

struct import_web {
	const char *url;
	const char *hosts; /* in the form of net/host_list.h; NULL: any host */
	bool allow_private;
	char *const *environment; /* for proxies */
	uint64_t size_max;
	const char *size_name; /* the name of that limit in messages */
	uint64_t deadline_ms;
};

/* Returns a request to ptycell-fetch. It may hold a secret. The caller frees it. */
json_t *imports_download_request(const struct import_web *web);
/*
 * Returns a request to ptycell-files to copy descriptor 4; `name` is its file name. The caller
 * frees it.
 */
json_t *imports_copy_request(const char *name, uint64_t size_max, const char *size_name);

struct imports *imports_new(struct loop *loop);
/* Frees `imports`, which may be NULL. No import may be running. */
void imports_free(struct imports *imports);
/*
 * Starts an import. Everything but `handlers` is borrowed for the call. Returns NULL and sets *err:
 * ERR_BUSY if the name is taken, ERR_LIMIT if too many imports run.
 */
struct import *imports_start(struct imports *imports, const struct import_spec *spec,
			     const struct import_handlers *handlers, void *data,
			     struct err *err) MUST_CHECK;
/*
 * Sets *err to a sentence that explains what is wrong with this path below input/. Always returns
 * -1.
 */
int imports_explain_name(const char *path, struct err *err);
/*
 * Stops the import. `done` is called later with ERR_CANCELLED, unless the import is already over.
 */
void imports_cancel(struct import *import);
/* Returns the target path, relative to the session's folder, or NULL while it is not known. */
const char *imports_path(const struct import *import);
/*
 * Aborts the imports of the session of this folder (workspace_name), which ends. `imports` may be
 * NULL.
 */
void imports_end_folder(struct imports *imports, const char *folder);

#endif
