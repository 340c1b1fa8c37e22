/* SPDX-License-Identifier: MIT */
/*
 * protect_config.h - what decides with a name that is held in a share: where the name leads, if it
 * or what lies in it is a link, and what the configs of repositories name there: further configs,
 * folders of hooks, from which git runs programs as it does from the repository's own, and the
 * files of commands that git runs by itself.
 *
 * What is relative in a config counts from where git is called, which another config decides for
 * worktrees and submodules: it is looked for in all folders that git may be called in. Of such a
 * folder, when it is one of hooks as well, the hooks alone are named.
 */
#ifndef SANDBOX_ROOTFS_PROTECT_CONFIG_H
#define SANDBOX_ROOTFS_PROTECT_CONFIG_H

#include "base/buf.h"

struct protect_config {
	const char *top;       /* the share's path */
	struct buf hooks;      /* paths with a NUL behind each */
	struct buf commands;   /* likewise, words of them */
	struct buf names;      /* likewise */
	struct buf workplaces; /* likewise */
	size_t reads_left;
	size_t looks_left;
	void (*fn)(void *data, const char *path);
	void *data;
};

/* `fn` gets the path, through no link, of all that is there and lies in the share, links as well.
 */
void protect_config_begin(struct protect_config *config, const char *top,
			  void (*fn)(void *data, const char *path), void *data);
/* Git may be called in this folder. */
void protect_config_add_workplace(struct protect_config *config, const char *folder);
/* A name that is held, which may be a link, or a folder with links in it. */
void protect_config_add_name(struct protect_config *config, const char *path);
/* One that is held if it is a file; it may be a link, or behind one. */
void protect_config_add_file(struct protect_config *config, const char *path);
/* A file, which need not be one. */
void protect_config_read(struct protect_config *config, const char *path);
/* Gives what is relative, and where names lead, and frees. */
void protect_config_end(struct protect_config *config);

#endif
