/* SPDX-License-Identifier: MIT */
/* hosted.h - what sessions tell their server: cells and events go to history, audit and notices. */
#ifndef TOOLS_HOSTED_H
#define TOOLS_HOSTED_H

struct broker_event;
struct service;
struct session_host;

/* Sets what `host` is told by. Its owner is the service. */
void hosted_listen(struct session_host *host, struct service *service);
/* An installation is over: broker_over_fn. `data` is the service. */
void hosted_installed(void *data, const struct broker_event *event);

#endif
