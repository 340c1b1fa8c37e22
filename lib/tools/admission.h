/* SPDX-License-Identifier: MIT */
/*
 * admission.h - queues the calls that need a session until their session can begin.
 *
 * A call is queued while the server finds out how code is confined. That takes some milliseconds,
 * must not happen before a call needs it, and must be over before a session begins. exec_code is
 * also queued for as long as admission_policy.h says. Queued calls run in the order they came.
 */
#ifndef TOOLS_ADMISSION_H
#define TOOLS_ADMISSION_H

struct admission;
struct mcp_features;
struct service;

/*
 * Puts itself before every tool of `features`, whose context must be the service: replaces ->tools
 * by rows that call the queue. Everything is borrowed.
 */
struct admission *admission_new(struct service *service, struct mcp_features *features);
/* Releases the queued calls: what they waited for is ready, or failed. */
void admission_release(struct admission *admission);
/* Frees it; no call may be queued any more. `admission` may be NULL. */
void admission_free(struct admission *admission);

#endif
