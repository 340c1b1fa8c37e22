/* SPDX-License-Identifier: MIT */
/*
 * installs.h - the commands of a cell that install packages: `pip install`, `npm install`.
 *
 * A session has no network, so that these ask the server instead: a word of the driver's is put
 * before them, which is a function there (__ptycell_install in driver.bash). Found are only simple
 * commands whose words stand there as they are, anywhere that bash would begin a command: behind
 * `&&`, in a loop, in a pipeline; nothing in quotes, comments, here-documents, arrays or what `$(`
 * holds. From the first thing on that this cannot follow (`case`, `((`) a cell stays as it is.
 */
#ifndef RUNTIME_BASH_INSTALLS_H
#define RUNTIME_BASH_INSTALLS_H

#include <stddef.h>

#include "base/buf.h"

#define INSTALLS_WORD "__ptycell_install "

/* Appends `code` with the word before each of them. */
void installs_mark(const char *code, size_t len, struct buf *out);

#endif
