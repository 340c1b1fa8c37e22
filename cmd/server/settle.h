/* SPDX-License-Identifier: MIT */
/* settle.h - settings, with another folder for sessions where the usual one cannot be used. */
#ifndef SERVER_SETTLE_H
#define SERVER_SETTLE_H

struct settings;

/*
 * From flags (`argv` with a name in front) and environment. Another folder takes the place of the
 * usual one only where the person named none; that is one of the notices. Makes nothing.
 */
struct settings *settle_settings(int argc, char **argv);

#endif
