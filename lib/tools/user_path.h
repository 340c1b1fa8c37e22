/* SPDX-License-Identifier: MIT */
/*
 * user_path.h - reads the path of a user's file in the forms in which users write it.
 *
 * `/home/me/x`, `~/x`, `file:///home/me/x`; under WSL also `C:\Users\me\x`, `file:///C:/Users/me/x`
 * and `\\wsl.localhost\Ubuntu\home\me\x`. One pair of double quotes around a path is ignored.
 * Only the text is read: callers check whether the file exists and may be read.
 */
#ifndef TOOLS_USER_PATH_H
#define TOOLS_USER_PATH_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

struct user_path_machine {
	char *const *environment;
	uid_t uid;
	bool wsl;
	char *drives; /* where WSL mounts C: and the others: "/mnt" */
};

/* Reads the facts of this machine. `environment` is borrowed. */
void user_path_inspect(struct user_path_machine *ret_machine, char *const *environment);
/* Frees what user_path_inspect allocated. */
void user_path_release(struct user_path_machine *machine);
/*
 * Returns `root` of [automount] in the text of a wsl.conf, without a slash at its end, or "/mnt".
 * The caller frees the result.
 */
char *user_path_drives(const char *conf);
/*
 * Returns an absolute path that the caller frees. Returns NULL and sets *err to ERR_INVALID, which
 * says what to write.
 */
char *user_path_read(const struct user_path_machine *machine, const char *text,
		     struct err *err) MUST_CHECK;

#endif
