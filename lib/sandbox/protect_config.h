/* SPDX-License-Identifier: MIT */
/*
 * protect_config.h - what the configs of a share's repositories name in it: further configs, and
 * folders of hooks, from which git runs programs as it does from the repository's own.
 *
 * A relative folder of hooks counts from where git is called, which another config decides for
 * worktrees and submodules: it is looked for in all folders that git may be called in.
 */
#ifndef SANDBOX_PROTECT_CONFIG_H
#define SANDBOX_PROTECT_CONFIG_H

#include "base/buf.h"

struct protect_config {
	const char *top;       /* the share's path */
	struct buf hooks;      /* paths with a NUL behind each */
	struct buf workplaces; /* likewise */
	size_t reads_left;
	void (*fn)(void *data, const char *path);
	void *data;
};

/* `fn` gets the path, through no link, of all that is there and lies in the share. */
void protect_config_begin(struct protect_config *config, const char *top,
			  void (*fn)(void *data, const char *path), void *data);
/* Git may be called in this folder. */
void protect_config_add_workplace(struct protect_config *config, const char *folder);
/* A file, which need not be one. */
void protect_config_read(struct protect_config *config, const char *path);
/* Gives what is relative, and frees. */
void protect_config_end(struct protect_config *config);

#endif
