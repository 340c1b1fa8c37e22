/* SPDX-License-Identifier: MIT */
/*
 * installer.h - runs one step of an installation: a program in a sandbox of its own, one request,
 * one reply.
 *
 * The program is ours (install/python/, install/node.cjs, install/r.R) and runs in the
 * interpreter for which it installs. It reads the request as a line of JSON. It writes its reply to
 * descriptor 3, or to the descriptors of install/program.h: an object with `ok`: true, or false and
 * a `text` for the user. The reply is untrusted, because the program reads untrusted packages
 * (install/response.h).
 *
 * `done` is called when no process of the step lives any more, so that the next step finds its
 * folder unchanged. The folder's size is observed during the step: more bytes than
 * settings->install_max, or more files than install_files_max, end it with ERR_LIMIT.
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
struct progress;
struct sandbox;
struct settings;
struct workspace;

struct installer_spec {
	struct loop *loop;
	const struct confinement *confinement;
	const struct settings *settings;
	const struct workspace *workspace; /* of its own; the program works in `data` */
	const struct language *language;
	const char *proxy_helper; /* path of ptycell-proxy; NULL: no network */
	const char *hosts; /* reachable hosts, in the form of net/host_list.h; NULL: no network */
	bool allow_private;
	size_t index_count; /* of the indexes; if none that the step asks is reached, the result
			       is ERR_NOT_FOUND, and R and npm are ended; 0: not checked */
	const char *const *folders; /* folders with packages, readable */
	const int *folder_fds;
	size_t folder_count;
	uint64_t deadline_ms; /* on the loop's clock */
	const json_t *request;
};

/*
 * Reports the reply or the error; the other is NULL. `answer` has a boolean `ok`, and a `text` if
 * that is false.
 */
typedef void installer_done_fn(void *data, const json_t *answer, const struct err *err);

/*
 * Starts a step. Everything but loop, settings and workspace is borrowed for the call. Returns NULL
 * and sets *err if it could not be started.
 */
struct installer *installer_start(const struct installer_spec *spec, installer_done_fn *done,
				  void *data, struct err *err) MUST_CHECK;
/*
 * Sets *ret to the last progress of the program. If the program reported no bytes, these are the
 * bytes that the proxy received in this step.
 */
void installer_progress(const struct installer *installer, struct progress *ret);
/* Ends the step: `done` is called when its sandbox is closed. */
void installer_stop(struct installer *installer);
/*
 * Ends the step without `done` and frees it, if its sandbox is not closing yet. Returns the
 * sandbox, which the caller must close. Returns NULL if the sandbox is closing already: then `done`
 * is still called. `installer` may be NULL.
 */
struct sandbox *installer_abandon(struct installer *installer);
/*
 * Frees a step whose `done` was not called, after launcher_free, which closed its sandbox.
 * `installer` may be NULL.
 */
void installer_free(struct installer *installer);

#endif
