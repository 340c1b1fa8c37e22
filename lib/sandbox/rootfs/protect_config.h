/* SPDX-License-Identifier: MIT */
/*
 * protect_config.h - which further names must be held with a protected name.
 *
 * A held name may be a link, or a folder with links in it: their targets must be held as well. The
 * configs of repositories name more files: further configs, hooks folders, and files of commands
 * that git runs by itself. A relative value in a config counts from the folder where git is called,
 * which for worktrees and submodules another config decides. It is therefore looked up in all
 * folders that git may be called in. If such a folder is itself a hooks folder, only the hooks in
 * it are reported.
 */
#ifndef SANDBOX_ROOTFS_PROTECT_CONFIG_H
#define SANDBOX_ROOTFS_PROTECT_CONFIG_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

enum { PROTECT_CONFIG_MAX = 256 << 10 /* bytes of a config; git writes none of that length */ };

struct protect_config {
	const char *top;       /* the share's path */
	struct buf hooks;      /* paths, each NUL-terminated */
	struct buf commands;   /* words of commands, each NUL-terminated */
	struct buf names;      /* paths, each NUL-terminated */
	struct buf workplaces; /* paths, each NUL-terminated */
	struct err problem;    /* why not all is reported; ERR_NONE: all is */
	size_t reads_left;
	size_t follows_left;
	void (*fn)(void *data, const char *path);
	void *data;
};

/*
 * Begins. `fn` gets the path, without links, of each existing file or hooks folder of the share
 * that must be held; links are reported as well. `top` and `data` are borrowed until
 * protect_config_end.
 */
void protect_config_begin(struct protect_config *config, const char *top,
			  void (*fn)(void *data, const char *path), void *data);
/* Adds a folder in which git may be called. */
void protect_config_add_workplace(struct protect_config *config, const char *folder);
/* Adds a held name, which may be a link, or a folder with links in it. */
void protect_config_add_name(struct protect_config *config, const char *path);
/* Adds a name that is held if it is a file, or a link to one. */
void protect_config_add_file(struct protect_config *config, const char *path);
/* Reads a config, if the path is a file. */
void protect_config_read(struct protect_config *config, const char *path);
/* Has protect_config_end() fail with errno: the folder could not be read. */
void protect_config_fail(struct protect_config *config, const char *folder);
/*
 * Reports what depends on all folders and names, and frees the members. Returns -1 and sets
 * ERR_LIMIT when something cannot be reported: a config is too long, or configs name too much.
 * ERR_SYSTEM is set when a folder could not be read.
 */
int protect_config_end(struct protect_config *config, struct err *err) MUST_CHECK;

#endif
