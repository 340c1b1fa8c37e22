/* SPDX-License-Identifier: MIT */
/*
 * hosted.h - what a session reports to its server: cells and events go to the journal, the audit
 * and the subscribers, and a folder that is no longer used goes to retirement.h.
 */
#ifndef TOOLS_HOSTED_H
#define TOOLS_HOSTED_H

struct broker_event;
struct service;
struct session_host;

/* Sets the callbacks of `host`, whose owner becomes the service. */
void hosted_listen(struct session_host *host, struct service *service);
/* Records an installation that is over (broker_over_fn). `data` is the service. */
void hosted_installed(void *data, const struct broker_event *event);
/* Reports that the list of sessions has changed. `data` is the service. */
void hosted_table_changed(void *data);

#endif
