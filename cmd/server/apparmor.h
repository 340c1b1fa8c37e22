/* SPDX-License-Identifier: MIT */
/*
 * apparmor.h - `ptycell config apparmor`: prints the AppArmor profile that lets ptycell-launcher
 * create user namespaces, where the distribution restricts them.
 */
#ifndef SERVER_APPARMOR_H
#define SERVER_APPARMOR_H

/* Prints the profile to stdout and how to load it to stderr. Returns the exit code. */
int apparmor_main(void);

#endif
