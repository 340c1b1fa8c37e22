/* SPDX-License-Identifier: MIT */
/* hosts.h - the table of hosts that `ptycell config` knows: their files and the form of an entry.
 */
#ifndef SERVER_HOSTS_H
#define SERVER_HOSTS_H

#include <stddef.h>

enum host_place { HOST_CONFIG, HOST_HOME, HOST_PROJECT, HOST_NO_FILE };
enum host_form { HOST_JSON, HOST_TOML, HOST_YAML };

struct host {
	const char *name;    /* on the command line */
	const char *title;   /* for users */
	const char *servers; /* the member that holds the entries */
	const char *file;    /* below `place`; NULL for HOST_NO_FILE */
	const char *advice;  /* the next step for the user, and other ways */
	/* a member of each entry, and its value; may be NULL */
	const char *key;
	const char *value;
	enum host_place place;
	enum host_form form;
};

/* Returns host `index`, NULL past the end. */
const struct host *hosts_at(size_t index);
/* Returns the host of that name, NULL if there is none. */
const struct host *hosts_find(const char *name);
/* Returns the absolute path of the host's file, NULL where there is none. The caller frees it. */
char *hosts_file(const struct host *host);

#endif
