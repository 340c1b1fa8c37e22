/* SPDX-License-Identifier: MIT */
/*
 * program_install.h - packages that a program of a session asks for (runtime/programs.h).
 *
 *   request   {"language": NAME, "command": "install" or "uninstall", "packages": [TEXT, ...]}
 *   answer    {"ok": BOOL, "text": SENTENCES, "code": WORD of an error}
 *
 * A third command, "report", only notes for the audit what was installed from the session's own
 * files: "packages" as they were asked for, "installed": [NAME VERSION], "files": lines in the
 * form of sha256sum.
 *
 * The program's end ends the installation, unless another caller waits for it, too.
 */
#ifndef TOOLS_PROGRAM_INSTALL_H
#define TOOLS_PROGRAM_INSTALL_H

#include <stddef.h>

struct ask;
struct service;
struct session;

/* Starts what the program asks for, or answers why not. `text` is untrusted. */
void program_install_start(struct service *service, struct session *session, struct ask *ask,
			   const char *text, size_t len);
/* Ends what a program waits for, which has ended. */
void program_install_gone(struct service *service, const struct ask *ask);

#endif
