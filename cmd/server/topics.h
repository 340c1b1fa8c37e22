/* SPDX-License-Identifier: MIT */
/*
 * topics.h - `ptycell help [TOPIC]`: the pages of help/TOPIC.md, which are part of the program.
 */
#ifndef SERVER_TOPICS_H
#define SERVER_TOPICS_H

/*
 * Runs the command. argv[0] is "help". Without a topic it lists all. Returns 0, or 2 for an unknown
 * topic.
 */
int topics_main(int argc, char **argv);

#endif
