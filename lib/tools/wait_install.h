/* SPDX-License-Identifier: MIT */
/*
 * wait_install.h - an MCP call that waits for packages: install_packages, and exec_code with
 * dependencies.
 *
 * While the call waits, the client gets the progress of the installation. The call is answered at
 * the latest when its time is over. The installation continues then, and the same request finds it
 * again. A cancelled call is answered here.
 */
#ifndef TOOLS_WAIT_INSTALL_H
#define TOOLS_WAIT_INSTALL_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "install/broker.h"
#include "mcp/server.h"

struct service;

enum { WAIT_INSTALL_PROGRESS_MS = 1000 };

/* A waiting call, as its callbacks see it: valid while they run. */
struct wait_install {
	struct mcp_call *call;
	struct service *service;
	const char *session_id;
	const struct language *language;
	const void *data; /* a copy of the request's, or NULL */
};

/* Answers the call, or lets it continue. One of `result` and `problem` is NULL. */
typedef void wait_install_done_fn(const struct wait_install *wait, const json_t *result,
				  const char *problem);
/* Answers the call, whose time is over. */
typedef void wait_install_late_fn(const struct wait_install *wait);

struct wait_install_request {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	const struct language *language;
	const json_t *packages;
	json_t *arguments; /* referenced while the call waits, because `data` points into it; or
			      NULL */
	const void *data;  /* copied; or NULL */
	size_t data_size;
	uint64_t wait_ms; /* 0: the settings' call budget */
	/* One of the two is called, once, unless the call is cancelled. */
	wait_install_done_fn *done;
	wait_install_late_fn *late;
};

/*
 * Starts the installation, or joins it. Returns -1 and sets *err when neither is possible: no
 * callback follows, and the caller answers. The request is borrowed until the function returns.
 */
int wait_install_start(const struct wait_install_request *request, struct err *err) MUST_CHECK;

#endif
