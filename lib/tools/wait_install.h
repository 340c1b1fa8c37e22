/* SPDX-License-Identifier: MIT */
/*
 * installs.h - an MCP call that waits for packages: install_packages, and exec_code's dependencies.
 *
 * It is answered at the latest when the settings' call budget is over; the installation goes on,
 * and the same request finds it again. A cancelled call is answered here.
 */
#ifndef TOOLS_WAIT_INSTALL_H
#define TOOLS_WAIT_INSTALL_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "install/broker.h"
#include "mcp/server.h"

struct wait_install_call;
struct service;

struct wait_install_request {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	const struct language *language;
	const json_t *packages;
	json_t *arguments; /* kept for `done`; or NULL */
	uint64_t wait_ms;  /* 0: the settings' call budget */
	/* One of the two comes, once; its data is the wait_install_call, valid for the call. */
	install_done_fn *done;
	void (*late)(struct wait_install_call *waiting);
};

/* -1: nothing comes. All is borrowed for the call but call and service. */
int wait_install_start(const struct wait_install_request *request, struct err *err) MUST_CHECK;
struct mcp_call *wait_install_call(const struct wait_install_call *waiting);
struct service *wait_install_service(const struct wait_install_call *waiting);
json_t *wait_install_arguments(const struct wait_install_call *waiting);
const struct language *wait_install_language(const struct wait_install_call *waiting);
const char *wait_install_session_id(const struct wait_install_call *waiting);

#endif
