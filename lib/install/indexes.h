/* SPDX-License-Identifier: MIT */
/*
 * indexes.h - where packages come from, and which hosts an installer must reach for that.
 *
 * Python: PTYCELL_PIP_INDEX, words that are URLs or absolute paths of folders with wheels; else
 * the indexes and folders of the person's own pip configuration (install/pipconf.h). JavaScript:
 * the registry of the person's own npm configuration (install/npmrc.h). R: PTYCELL_R_REPOS, URLs
 * and folders of repositories in CRAN's form. Who names none gets what pip, npm and R themselves
 * take, which they are asked for in a sandbox without network, before any package is near.
 * Certificates go along from either configuration, and pip's trusted hosts.
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
	json_t *urls;       /* strings, in pip's order */
	json_t *trusted;    /* hosts that need no certificate that is valid: strings; or NULL */
	char *certificates; /* of authorities, as the file has them; or NULL */
	json_t *options;    /* {"NAME": "VALUE"} of npm's configuration that go along; or NULL */
	char *folders[INDEXES_FOLDERS_MAX]; /* real paths */
	int folder_fds[INDEXES_FOLDERS_MAX];
	size_t folder_count;
	char *hosts;                 /* as net/host_list.h; NULL for no network */
	const struct shares *shares; /* borrowed, or NULL: personal.h */
	bool wants_default;          /* before those that are named */
	bool allow_private;          /* the person named an index: it may be on a private network */
};

/*
 * `shares` is borrowed until release; NULL: there are none. ERR_DENIED when the person turned it
 * off; ERR_INVALID names the word, or the file of certificates, that is wrong, or says that all
 * together are more hosts than HOST_LIST_MAX.
 */
int indexes_read(const struct settings *settings, const struct shares *shares,
		 const struct language *language, struct indexes *ret_indexes,
		 struct err *err) MUST_CHECK;
/*
 * Adds, in front, {"url": URL, "hosts": [HOST]}, as a program of installer.h answers to "where".
 * ERR_INVALID when it is none, or too many hosts with those there are.
 */
int indexes_take_default(struct indexes *indexes, const json_t *told, struct err *err) MUST_CHECK;
/* Hosts and folders, without credentials; the caller frees it. */
char *indexes_describe(const struct indexes *indexes);
void indexes_release(struct indexes *indexes);
#define cleanup_indexes __attribute__((cleanup(indexes_release)))

#endif
