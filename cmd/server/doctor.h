/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - `ptycell doctor`: reports in plain words on stdout what works on this machine.
 *
 * It reads files, asks the kernel and starts each interpreter once in a sandbox. It changes
 * nothing.
 */
#ifndef SERVER_DOCTOR_H
#define SERVER_DOCTOR_H

#include <stdbool.h>

struct loop;

/*
 * Runs the checks. argv[0] is "doctor"; the server's flags follow. Returns 0 when ptycell works
 * here, and 1 when something is missing.
 */
int doctor_main(int argc, char **argv);

/* Callback that sets the bool at `data`, for doctor_turn_until. */
void doctor_note_end(void *data);
/* Runs turns of the loop until a callback sets `over`. There is no time limit. */
void doctor_turn_until(struct loop *loop, const bool *over);

#endif
