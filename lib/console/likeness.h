/* SPDX-License-Identifier: MIT */
/*
 * likeness.h - says whether two servers would serve alike, by a digest of what they start from.
 *
 * It covers the program's file, the user, the working folder and the arguments. It also covers the
 * variables that ptycell reads or that the user's .npmrc names, the policy file and the files with
 * settings. A difference too many costs a takeover. A difference overlooked would serve a host by
 * settings that are not its own.
 */
#ifndef CONSOLE_LIKENESS_H
#define CONSOLE_LIKENESS_H

#include "config/settings.h"
#include "journal/digest.h"

enum { LIKENESS_LEN = DIGEST_LEN };

/*
 * Writes the digest of a server with these settings. `argv` has its arguments without the
 * program's name, and ends with NULL.
 */
void likeness_make(const struct settings *settings, char *const argv[],
		   char text[LIKENESS_LEN + 1]);

#endif
