/* SPDX-License-Identifier: MIT */
/* sweeper.h - removes folders of ended sessions that are too old or too many, in ptycell-files. */
#ifndef WORKSPACE_SWEEPER_H
#define WORKSPACE_SWEEPER_H

#include <stdint.h>

#include "event/loop.h"
#include "workspace/workspace.h"

struct sweeper_spec {
	struct loop *loop;
	const struct home *home;
	const char *helper; /* path of ptycell-files */
	uint64_t age_s;     /* unused for longer: removed */
	uint64_t bytes_max; /* of those that stay */
};

/*
 * Starts a sweep (cmd/files/sweep.h). The log names each folder that is removed. `done`, which may
 * be NULL, is called once, from the loop, unless home_close() comes first: the helper then goes on
 * by itself. Everything in `spec` but `loop` and `home` is borrowed for the call.
 */
void sweeper_start(const struct sweeper_spec *spec, void (*done)(void *data), void *data);

#endif
