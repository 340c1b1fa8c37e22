/* SPDX-License-Identifier: MIT */
/*
 * settle.h - loads the settings and replaces the folder for sessions where the default cannot be
 * used.
 */
#ifndef SERVER_SETTLE_H
#define SERVER_SETTLE_H

struct settings;

/*
 * Loads settings from flags (`argv`, whose first member is skipped) and the environment. Another
 * folder for sessions replaces the default only when the user named none; a notice reports it.
 * Creates no folder. The caller frees the result with settings_free().
 */
struct settings *settle_settings(int argc, char **argv);

#endif
