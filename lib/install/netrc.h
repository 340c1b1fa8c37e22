/* SPDX-License-Identifier: MIT */
/*
 * netrc.h - reads the user's logins for hosts from ~/.netrc, or from the file that NETRC names.
 *
 * The form is that of ftp(1): words behind "machine", "login" and "password", also in quotes with
 * backslashes. "default" does not count, because it would give a password to every index, and
 * neither do "account" and macros. A file that sessions can change is ignored
 * (install/trusted_config.h).
 */
#ifndef INSTALL_NETRC_H
#define INSTALL_NETRC_H

struct shares;

/* Returns the file's text, or NULL if there is none. `shares` may be NULL. The caller frees it. */
char *netrc_read(char *const *environment, const struct shares *shares);
/*
 * Returns the login of a host as in a URL, "USER:PASSWORD" with percent encoding. Returns NULL if
 * the text has none; `text` may be NULL. The caller frees it.
 */
char *netrc_find(const char *text, const char *host);

#endif
