/* SPDX-License-Identifier: MIT */
/*
 * hosts.h - `ptycell config`: the entry that makes a chat host start this program.
 *
 * The entry goes to stdout as JSON, what to do with it to stderr.
 */
#ifndef SERVER_HOST_CONFIG_H
#define SERVER_HOST_CONFIG_H

/* argv[0] is "config". Returns the exit code: 0, 1 for a file that cannot be changed, 2 for usage.
 */
int host_config_main(int argc, char **argv);

#endif
