/* SPDX-License-Identifier: MIT */
/* install_result.h - the result of an installation (install/broker.h), as texts. */
#ifndef ANSWER_INSTALL_RESULT_H
#define ANSWER_INSTALL_RESULT_H

#include <jansson.h>

/* Returns "NAME VERSION", as a new reference. */
json_t *install_result_name(const char *name, const char *version);
/* Returns a list of these of rows, as a new reference. */
json_t *install_result_names(const json_t *rows);
/* Returns one or two sentences, which the caller frees. */
char *install_result_sentence(const json_t *result);
/* Returns one or two sentences on packages that were removed, which the caller frees. */
char *install_result_removal(const json_t *result);
/*
 * Returns the packages as lines NAME TAB VERSION TAB MODULE (runtime/frame.h), which the caller
 * frees.
 */
char *install_result_lines(const json_t *result);

#endif
