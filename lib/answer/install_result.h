/* SPDX-License-Identifier: MIT */
/* installed.h - what became of an installation (install/broker.h), as texts. */
#ifndef ANSWER_INSTALL_RESULT_H
#define ANSWER_INSTALL_RESULT_H

#include <jansson.h>

/* ["NAME VERSION"] of rows; a new reference. */
json_t *install_result_names(const json_t *rows);
/* One sentence or two; the caller frees it. */
char *install_result_sentence(const json_t *result);
/* `packages` as runtime/frame.h has them: lines NAME TAB VERSION TAB MODULE. The caller frees them.
 */
char *install_result_lines(const json_t *result);

#endif
