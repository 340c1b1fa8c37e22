/* SPDX-License-Identifier: MIT */
/* environment.h - arguments and environment of an interpreter. */
#ifndef RUNNER_ENVIRONMENT_H
#define RUNNER_ENVIRONMENT_H

#include <stdbool.h>
#include <stdint.h>

struct language;
struct user_env;
struct workspace;

/* The network of a session: a proxy that is the only way out, none, or the machine's own. */
enum environment_network { ENVIRONMENT_PROXY, ENVIRONMENT_NONE, ENVIRONMENT_HOST };

struct environment_spec {
	const struct language *language;
	const struct workspace *workspace;
	const char *path;   /* the interpreter's */
	const char *python; /* that of Python, which pip is for; or NULL */
	enum environment_network network;
	const struct user_env *user_env; /* or NULL */
	uint64_t memory_max;             /* of one process; 0: unlimited */
	bool runs_again;                 /* as in struct runner_context */
};

/* Returns the arguments, NULL-terminated. environment_free frees them. */
char **environment_argv(const struct language *language, const char *path);
/*
 * Returns the environment, NULL-terminated. environment_free frees it. Nothing of the server's own
 * is in it, except the user environment, which has precedence. It names the session's proxy, limits
 * Node's heap, and without any network keeps pip and npm from retrying for minutes.
 */
char **environment_new(const struct environment_spec *spec);
void environment_free(char **strings);
/* Returns the output folder as the session sees it. The caller frees the result. */
char *environment_output_folder(const struct workspace *workspace);

#endif
