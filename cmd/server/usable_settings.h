/* SPDX-License-Identifier: MIT */
/*
 * usable_settings.h - loads the settings and the policy file, and replaces the folder for sessions
 * where the default cannot be used.
 */
#ifndef SERVER_USABLE_SETTINGS_H
#define SERVER_USABLE_SETTINGS_H

struct policyfile;
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
/*
 * Loads the policy file. One that is unusable becomes the settings' problem, and then no code runs:
 * it is unknown what the file forbids. The caller frees the result with policyfile_free().
 */
struct policyfile *usable_policy_load(struct settings *settings);

#endif
