/* SPDX-License-Identifier: MIT */
/*
 * indexes.h - where packages come from, and which hosts an installer must reach for that.
 *
 * Python: PTYCELL_PIP_INDEX, words that are URLs or absolute paths of folders with wheels; else
 * PIP_INDEX_URL of the person's environment. JavaScript: the registry of the person's own npm
 * configuration (npm_config_registry, .npmrc). Who names none gets what pip and npm themselves
 * take, which they are asked for in a sandbox without network, before any package is near.
 */
#ifndef INSTALL_INDEXES_H
#define INSTALL_INDEXES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "runtime/language.h"

struct settings;

enum { INDEXES_FOLDERS_MAX = 8 };

struct indexes {
	json_t *urls;    /* strings */
	json_t *options; /* {"NAME": "VALUE"} of npm's configuration that go along; or NULL */
	char *folders[INDEXES_FOLDERS_MAX]; /* real paths */
	int folder_fds[INDEXES_FOLDERS_MAX];
	size_t folder_count;
	char *hosts;        /* as net/hosts.h; NULL for no network */
	bool allow_private; /* the person named an index: it may be on a private network */
};

/* ERR_DENIED when the person turned it off; ERR_INVALID names the word that is wrong. */
int indexes_read(const struct settings *settings, const struct language *language,
		 struct indexes *ret_indexes, struct err *err) MUST_CHECK;
/* The person names none: the tool has to tell. */
bool indexes_unnamed(const struct indexes *indexes);
/* Adds {"url": URL, "hosts": [HOST]}, as a program of installer.h answers to "where". */
int indexes_take_default(struct indexes *indexes, const json_t *told, struct err *err) MUST_CHECK;
/* Hosts and folders, without credentials; the caller frees it. */
char *indexes_describe(const struct indexes *indexes);
void indexes_release(struct indexes *indexes);
#define cleanup_indexes __attribute__((cleanup(indexes_release)))

#endif
