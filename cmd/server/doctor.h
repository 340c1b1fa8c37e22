/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - `ptycell doctor`: what works on this machine, in plain words on stdout.
 *
 * Looks at files, asks the kernel and starts each interpreter once, confined; changes nothing.
 */
#ifndef SERVER_DOCTOR_H
#define SERVER_DOCTOR_H

/* argv[0] is "doctor", then flags as for the server. 0 when it works, 1 when something is missing.
 */
int doctor_main(int argc, char **argv);

#endif
