/* SPDX-License-Identifier: MIT */
/* doctor_packages.h - runs each language's installer as install_packages would, and installs
 * nothing. */
#ifndef SERVER_DOCTOR_PACKAGES_H
#define SERVER_DOCTOR_PACKAGES_H

#include <stdbool.h>

struct settings;

/*
 * A line each: the tool, its version, and the indexes that answered; or why not, and what to do.
 * False when one of those whose interpreter is here does not work. Changes limits of `settings`.
 */
bool doctor_packages(struct settings *settings);

#endif
