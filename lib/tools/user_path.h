/* SPDX-License-Identifier: MIT */
/*
 * hostpath.h - the path of a file of the person's, in the forms in which people give it.
 *
 * `/home/me/x`, `~/x`, `file:///home/me/x`; under WSL also `C:\Users\me\x`, `file:///C:/Users/me/x`
 * and `\\wsl.localhost\Ubuntu\home\me\x`. One pair of double quotes around it is passed over. Only
 * text is looked at: whether there is such a file, and whether it may be read, is another question.
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

/* Looks at this machine; `environment` is borrowed. */
void user_path_look(struct user_path_machine *ret_machine, char *const *environment);
void user_path_release(struct user_path_machine *machine);
/* `root` of [automount] in a wsl.conf, without a slash at its end; "/mnt" when it says nothing. */
char *user_path_drives(const char *conf);
/* An absolute path that the caller frees; NULL with ERR_INVALID, which says what to write. */
char *user_path_read(const struct user_path_machine *machine, const char *text,
		     struct err *err) MUST_CHECK;

#endif
