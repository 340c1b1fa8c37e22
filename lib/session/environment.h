/* SPDX-License-Identifier: MIT */
/* environment.h - what an interpreter is started with: arguments and a constructed environment. */
#ifndef SESSION_ENVIRONMENT_H
#define SESSION_ENVIRONMENT_H

struct language;
struct passed;
struct workspace;

/* What there is of a network: a proxy that is the only way out, nothing, or the machine's own. */
enum environment_network { ENVIRONMENT_PROXY, ENVIRONMENT_NONE, ENVIRONMENT_HOST };

/* NULL-terminated arrays of strings; environment_free() frees both kinds. */
char **environment_argv(const struct language *language, const char *path);
/*
 * Nothing of the server's own environment goes in but what is `passed`, which goes before all
 * else (NULL: nothing). Programs are told of the session's proxy; without any network pip and npm
 * are told not to try for minutes.
 */
char **environment_new(const struct language *language, const struct workspace *workspace,
		       const char *path, enum environment_network network,
		       const struct passed *passed);
void environment_free(char **strings);
/* The output folder as the session sees it: the caller frees it. */
char *environment_output_folder(const struct workspace *workspace);

#endif
