/* SPDX-License-Identifier: MIT */
/* installed.h - what became of an installation (install/broker.h), as texts. */
#ifndef TOOLS_INSTALLED_H
#define TOOLS_INSTALLED_H

#include <jansson.h>

/* ["NAME VERSION"] of rows; a new reference. */
json_t *installed_names(const json_t *rows);
/* One sentence or two; the caller frees it. */
char *installed_sentence(const json_t *result);
/* `packages` as runtime/frame.h has them: lines NAME TAB VERSION TAB MODULE. The caller frees them.
 */
char *installed_lines(const json_t *result);

#endif
