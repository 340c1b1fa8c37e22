/* SPDX-License-Identifier: MIT */
/* keepname.h - what the folder is called that a session's results are kept in. */
#ifndef WORKSPACE_KEEPNAME_H
#define WORKSPACE_KEEPNAME_H

/* DATE-ID-xxxx, another one each time; what is no letter, digit or ._- of the id is a "-". */
char *keepname_new(const char *session_id);
/* "~/ptycell/x" for what lies in the person's own folder. */
char *keepname_show(const char *root, const char *folder);

#endif
