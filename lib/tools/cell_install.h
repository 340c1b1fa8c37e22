/* SPDX-License-Identifier: MIT */
/* cell_install.h - packages that a running cell asks for: `install` of runtime/frame.h. */
#ifndef TOOLS_CELL_INSTALL_H
#define TOOLS_CELL_INSTALL_H

#include <stdint.h>

struct language;
struct service;
struct session;

struct cell_install {
	struct session *session;
	const struct language *language; /* the cell's */
	uint64_t cell;
	const char *of;       /* the packages' language; foreign, as they are */
	const char *packages; /* lines */
};

/* session_installed follows, later. All is borrowed for the call but the session, which outlives
 * it. */
void cell_install_start(struct service *service, const struct cell_install *request);

#endif
