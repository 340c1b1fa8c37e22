/* SPDX-License-Identifier: MIT */
/* apparmor.h - `ptycell config apparmor`: the profile that lets ptycell-launcher make namespaces.
 */
#ifndef SERVER_APPARMOR_H
#define SERVER_APPARMOR_H

/* Returns the exit code. */
int apparmor_main(void);

#endif
