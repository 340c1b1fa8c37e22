/* SPDX-License-Identifier: MIT */
/*
 * installs.h - an MCP call that waits for packages: install_packages, and exec_code's dependencies.
 *
 * It is answered at the latest when the settings' call budget is over; the installation goes on,
 * and the same request finds it again. A cancelled call is answered here.
 */
#ifndef TOOLS_INSTALLS_H
#define TOOLS_INSTALLS_H

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "install/broker.h"
#include "mcp/server.h"

struct installs_call;
struct service;

struct installs_request {
	struct mcp_call *call;
	struct service *service;
	struct session *session;
	const struct language *language;
	const json_t *packages;
	json_t *arguments; /* kept for `done`; or NULL */
	uint64_t wait_ms;  /* 0: the settings' call budget */
	/* One of the two comes, once; its data is the installs_call, valid for the call. */
	install_done_fn *done;
	void (*late)(struct installs_call *waiting);
};

/* -1: nothing comes. All is borrowed for the call but call and service. */
int installs_start(const struct installs_request *request, struct err *err) MUST_CHECK;
struct mcp_call *installs_call(const struct installs_call *waiting);
struct service *installs_service(const struct installs_call *waiting);
json_t *installs_arguments(const struct installs_call *waiting);
const struct language *installs_language(const struct installs_call *waiting);
const char *installs_session_id(const struct installs_call *waiting);

#endif
