/* SPDX-License-Identifier: MIT */
/* cell_install.h - packages that a running cell asks for: `install` of runtime/frame.h. */
#ifndef TOOLS_CELL_INSTALL_H
#define TOOLS_CELL_INSTALL_H

#include <stdint.h>

struct cell;
struct language;
struct service;
struct session;

struct cell_install {
	struct session *session;
	const struct language *language; /* the cell's */
	uint64_t cell;
	const char *of;       /* the packages' language; untrusted */
	const char *packages; /* lines; untrusted */
};

/*
 * Starts the installation: session_installed follows, from the loop or from this function. The
 * session must outlive it; the rest is borrowed until the function returns.
 */
void cell_install_start(struct service *service, const struct cell_install *request);
/* Ends what this cell waits for, which has ended: it was interrupted. */
void cell_install_end(struct service *service, const struct session *session,
		      const struct cell *cell);

#endif
