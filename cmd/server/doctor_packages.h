/* SPDX-License-Identifier: MIT */
/*
 * doctor_packages.h - runs each language's installer as install_packages would, but installs
 * nothing.
 */
#ifndef SERVER_DOCTOR_PACKAGES_H
#define SERVER_DOCTOR_PACKAGES_H

#include <stdbool.h>

struct settings;

/*
 * Prints a line for each installer: its version and the indexes that replied, or the problem and
 * what to do. Returns false when an installer does not work although its interpreter is installed.
 * Changes the limits in `settings`.
 */
bool doctor_packages(struct settings *settings);

#endif
