/* SPDX-License-Identifier: MIT */
/* invocation.h - the words of a command about sessions, and what it needs of the settings. */
#ifndef SERVER_INVOCATION_H
#define SERVER_INVOCATION_H

#include <stdbool.h>
#include <sys/types.h>

struct remote;

/* The words that a command takes beside the flags of settings: bits. */
enum invocation_word {
	INVOCATION_SESSION = 1,
	INVOCATION_JSON = 2,
	INVOCATION_ALL = 4,
	INVOCATION_CELL = 8,
	INVOCATION_SERVER = 16,
	INVOCATION_FORMAT = 32,  /* of export */
	INVOCATION_SERVERS = 64, /* --server may have no number */
};

struct invocation {
	const char *session; /* NULL: none was named */
	const char *format;  /* "html", "ipynb" or "script"; or NULL */
	pid_t server;        /* 0: any */
	bool servers;        /* --server has no number */
	bool json;
	bool all;
	bool cell;
};

/*
 * Reads the arguments, finds the servers and sets *remote. `takes` has the words that the command
 * knows. Prints what is wrong and returns the exit code; returns 0 if the command goes on. Then the
 * caller must call remote_close.
 */
int invocation_begin(int argc, char **argv, unsigned takes, struct invocation *ret,
		     struct remote *remote);

#endif
