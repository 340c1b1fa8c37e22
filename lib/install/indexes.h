/* SPDX-License-Identifier: MIT */
/*
 * indexes.h - where packages come from, and which hosts an installer must reach for that.
 *
 * Python: PTYCELL_PIP_INDEX, a list of URLs or absolute paths of folders with wheels; otherwise the
 * indexes and folders of the user's pip configuration (install/pipconf.h). JavaScript: the registry
 * of the user's npm configuration (install/npmrc.h). R: PTYCELL_R_REPOS, URLs and folders of
 * repositories in CRAN's form.
 *
 * Without any of these, the defaults of pip, npm and R apply. The `where` step asks for them in a
 * sandbox without network, before any package code is there. Certificates of either configuration
 * are passed on, and pip's trusted hosts.
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
	json_t *urls;       /* strings, in the order of pip */
	json_t *trusted;    /* strings: hosts that need no valid certificate; may be NULL */
	char *certificates; /* certificates of authorities, the content of the file; may be NULL */
	json_t *options;    /* {"NAME": "VALUE"} of npm's configuration, passed on; may be NULL */
	char *folders[INDEXES_FOLDERS_MAX]; /* real paths */
	int folder_fds[INDEXES_FOLDERS_MAX];
	size_t folder_count;
	char *hosts;                 /* in the form of net/host_list.h; NULL for no network */
	const struct shares *shares; /* borrowed, may be NULL: trusted_config.h */
	bool wants_default;          /* the default index comes before the configured ones */
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
 * Adds the default index in front: {"url": URL, "hosts": [HOST]}, the reply of a program of
 * installer.h to "where". Returns -1 and sets *err: ERR_INVALID for a malformed reply, or for too
 * many hosts in total.
 */
int indexes_take_default(struct indexes *indexes, const json_t *reply, struct err *err) MUST_CHECK;
/* Returns the hosts and folders as text, without credentials. The caller frees it. */
char *indexes_describe(const struct indexes *indexes);
void indexes_release(struct indexes *indexes);
#define cleanup_indexes __attribute__((cleanup(indexes_release)))

#endif
