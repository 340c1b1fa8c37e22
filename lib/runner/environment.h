/* SPDX-License-Identifier: MIT */
/* environment.h - what an interpreter is started with: arguments and a constructed environment. */
#ifndef RUNNER_ENVIRONMENT_H
#define RUNNER_ENVIRONMENT_H

#include <stdint.h>

struct language;
struct user_env;
struct workspace;

/* What there is of a network: a proxy that is the only way out, nothing, or the machine's own. */
enum environment_network { ENVIRONMENT_PROXY, ENVIRONMENT_NONE, ENVIRONMENT_HOST };

struct environment_spec {
	const struct language *language;
	const struct workspace *workspace;
	const char *path; /* the interpreter's */
	enum environment_network network;
	const struct user_env *user_env; /* NULL: nothing */
	uint64_t memory_max;             /* of one process; 0: as much as there is */
};

/* NULL-terminated arrays of strings; environment_free() frees both kinds. */
char **environment_argv(const struct language *language, const char *path);
/*
 * Nothing of the server's own environment goes in but what is `passed`, which goes before all
 * else. Programs are told of the session's proxy; Node of how much memory it may use; without any
 * network pip and npm are told not to try for minutes.
 */
char **environment_new(const struct environment_spec *spec);
void environment_free(char **strings);
/* The output folder as the session sees it: the caller frees it. */
char *environment_output_folder(const struct workspace *workspace);

#endif
