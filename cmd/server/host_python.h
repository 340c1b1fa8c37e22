/* SPDX-License-Identifier: MIT */
/* host_python.h - the Python that `ptycell config` pins in an entry. */
#ifndef SERVER_HOST_PYTHON_H
#define SERVER_HOST_PYTHON_H

/*
 * Returns the path of a Python with pandas and matplotlib, and prints to stderr why it is that one.
 * Prefers the one that a server started here would use. Returns NULL where there is none, or where
 * every PATH leads to it. The caller frees it.
 */
char *host_python_choose(char *const env[]);
/*
 * Returns the quoted path of the Python that host_python_choose() prefers to `python` because it
 * has pandas and matplotlib, NULL where there is none. The caller frees it.
 */
char *host_python_better(const char *python);

#endif
