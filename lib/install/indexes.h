/* SPDX-License-Identifier: MIT */
/*
 * indexes.h - where packages come from, and which hosts an installer must reach for that.
 *
 * Each language has a setting or a configuration of the user's that names its indexes:
 *
 *   - Python: PTYCELL_PIP_INDEX, URLs or absolute paths of folders with wheels. An entry like
 *     "torch*@URL" is for packages of that name only. If the setting is not there, or has such
 *     entries only, the user's pip configuration counts, too (pipconf.h). Logins are read from
 *     .netrc (netrc.h).
 *   - JavaScript: the registry of the user's npm configuration (npmrc.h).
 *   - R: PTYCELL_R_REPOS, URLs or folders of repositories in CRAN's form.
 *
 * Where nothing is named, pip, npm and R have a default. The `where` step asks them for it, in a
 * sandbox without network, before any package code is there. The installer also gets the
 * certificates that the user's configuration names, and pip's trusted hosts.
 */
#ifndef INSTALL_INDEXES_H
#define INSTALL_INDEXES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "runtime/language.h"

struct settings;
struct shares;

enum { INDEXES_FOLDERS_MAX = 8, INDEXES_CERTIFICATES_MAX = 1 << 20 };

struct indexes {
	json_t *urls;       /* strings with credentials: the first that has a package serves it; one
			       with "NAME*@" before its URL serves only packages of such names */
	json_t *trusted;    /* strings: hosts that need no valid certificate; may be NULL */
	char *certificates; /* certificates of authorities, the content of the file; may be NULL */
	char *netrc;        /* text of the user's .netrc, for Python's indexes; may be NULL */
	json_t *options;    /* {"NAME": "VALUE"} of npm's configuration, passed on; may be NULL */
	char *folders[INDEXES_FOLDERS_MAX]; /* real paths */
	int folder_fds[INDEXES_FOLDERS_MAX];
	size_t folder_count;
	char *hosts;                 /* in the form of net/host_list.h; NULL for no network */
	const struct shares *shares; /* borrowed, may be NULL: trusted_config.h */
	bool wants_default;          /* the default index is one of them */
	bool default_last;           /* it comes after the configured ones, else before */
	bool takes_patterns;         /* while the setting is read */
	bool allow_private; /* the user configured an index: it may be on a private network */
};

/*
 * Reads the settings and the user's configuration. `shares` is borrowed until indexes_release; it
 * may be NULL. Returns -1 and sets *err: ERR_DENIED if the user turned installation off,
 * ERR_INVALID for an invalid word or file of certificates (which it names), or for more hosts than
 * HOST_LIST_MAX.
 */
int indexes_read(const struct settings *settings, const struct shares *shares,
		 const struct language *language, struct indexes *ret_indexes,
		 struct err *err) MUST_CHECK;
/*
 * Adds the default index: {"url": URL, "hosts": [HOST]}, the reply of a program of installer.h to
 * "where". Returns -1 and sets *err: ERR_INVALID for a malformed reply, or for too many hosts in
 * total.
 */
int indexes_take_default(struct indexes *indexes, const json_t *reply, struct err *err) MUST_CHECK;
/* Returns the hosts and folders as text, without credentials. The caller frees it. */
char *indexes_describe(const struct indexes *indexes);
/*
 * Returns the URLs, and behind them "@SCOPE:registry=URL" for each scope of npm, without
 * credentials. The caller frees the list.
 */
json_t *indexes_public(const struct indexes *indexes);
void indexes_release(struct indexes *indexes);
#define cleanup_indexes __attribute__((cleanup(indexes_release)))

#endif
