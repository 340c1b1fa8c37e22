/* SPDX-License-Identifier: MIT */
/*
 * host_config.h - `ptycell config`: prints or merges the entry with which a chat host starts this
 * program.
 *
 * The entry goes to stdout as JSON, the instructions for the user go to stderr.
 */
#ifndef SERVER_HOST_CONFIG_H
#define SERVER_HOST_CONFIG_H

/*
 * Runs the command. argv[0] is "config". Returns 0, 1 for a file that cannot be changed, 2 for
 * wrong usage.
 */
int host_config_main(int argc, char **argv);

#endif
