/* SPDX-License-Identifier: MIT */
/*
 * installer.h - one step of an installer: a program in a sandbox of its own, an order in, one
 * answer.
 *
 * The program is ours (install/python.py, install/node.cjs) and runs in the interpreter for which
 * it installs. It reads the order as a line of JSON and writes its answer, on descriptor 3 or those
 * of its own (install/program.h): an
 * object with `ok`: true, or false and a `text` for whoever asked. `done` comes when nothing of the
 * step lives any more, so that the next one finds its folder as it was left. What it says is data
 * of a program that reads foreign bytes (install/response.h). Its folder is looked at while it
 * works: one that takes more room or files than settings->install_max says is its end, ERR_LIMIT.
 */
#ifndef INSTALL_INSTALLER_H
#define INSTALL_INSTALLER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "confinement/confinement.h"
#include "event/loop.h"
#include "runtime/language.h"

struct installer;
struct sandbox;
struct settings;
struct workspace;

struct installer_spec {
	struct loop *loop;
	const struct confinement *confinement;
	const struct settings *settings;
	const struct workspace *workspace; /* of its own; `data` is where it works */
	const struct language *language;
	const char *proxy_helper; /* path of ptycell-proxy; NULL: no network */
	const char *hosts;        /* that it may reach, as net/host_list.h; NULL: no network */
	bool allow_private;
	size_t index_count; /* when none of so many is reached, that is its end, ERR_NOT_FOUND; 0:
			       not so */
	const char *const *folders; /* with packages in them, to read */
	const int *folder_fds;
	size_t folder_count;
	uint64_t deadline_ms; /* of the loop's clock: by then it has answered */
	const json_t *order;
};

/* Either is NULL; `answer` has a boolean `ok`, and a `text` where that is false. */
typedef void installer_done_fn(void *data, const json_t *answer, const struct err *err);

/* All is borrowed for the call but loop, settings and workspace. NULL: it could not be started. */
struct installer *installer_start(const struct installer_spec *spec, installer_done_fn *done,
				  void *data, struct err *err) MUST_CHECK;
/*
 * Ends it without `done` and frees it: returns its sandbox, which is the caller's to close. NULL
 * when that is closing already, and `done` is still to come. NULL is allowed.
 */
struct sandbox *installer_abandon(struct installer *installer);
/* When `done` has not come, after launcher_free, which closed its sandbox. NULL is allowed. */
void installer_free(struct installer *installer);

#endif
