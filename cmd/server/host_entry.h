/* SPDX-License-Identifier: MIT */
/* host_entry.h - one server's entry in the form of a host. */
#ifndef SERVER_HOST_ENTRY_H
#define SERVER_HOST_ENTRY_H

#include <stdbool.h>

#include "hosts.h"
#include "json/make.h"

extern const char host_entry_server[]; /* the entry's name */

struct host_entry {
	const struct host *host;
	const char *ssh;    /* where the host reaches this machine by ssh; or NULL */
	const char *python; /* that of --python; NULL adds none */
	char **flags;       /* for the server; borrowed strings */
	int flag_count;
	bool wsl; /* the host is on Windows, this machine in WSL */
};

/* Returns the path of this program. The caller frees it. */
char *host_entry_program(void);
/* Returns the members of the entry: command, args, and the host's own. A new reference. */
json_t *host_entry_make(const struct host_entry *entry);
/* Returns command and args as a line for a shell. The caller frees it. */
char *host_entry_command(const json_t *made);
/* Prints it to stdout, in the form of the host's whole file. */
void host_entry_print(const struct host *host, json_t *made);

#endif
