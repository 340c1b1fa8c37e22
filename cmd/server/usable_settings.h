/* SPDX-License-Identifier: MIT */
/*
 * usable_settings.h - loads the settings and replaces the folder for sessions where the default
 * cannot be used.
 */
#ifndef SERVER_USABLE_SETTINGS_H
#define SERVER_USABLE_SETTINGS_H

struct settings;

/*
 * Loads settings from flags (`argv`, whose first member is skipped) and the environment. Another
 * folder for sessions replaces the default only when the user named none; a notice reports it.
 * Creates no folder. The caller frees the result with settings_free().
 *
 * Our own soft limits (ulimit) become as high as the hard ones, that of descriptors up to
 * OPEN_FILES. Limits of sessions that are above those become as low; a notice reports that.
 */
struct settings *usable_settings_load(int argc, char **argv);

#endif
