/* SPDX-License-Identifier: MIT */
/*
 * install_sum.h - adds up the installations that the code of a cell asks for. Code can do so
 * without end: they become one event of the journal and one line of the audit.
 *
 * A sum has each requested package, installed or removed package, file and problem once.
 */
#ifndef ANSWER_INSTALL_SUM_H
#define ANSWER_INSTALL_SUM_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct install_sum;

enum { INSTALL_SUM_MAX = 1000 /* of all these together; a full sum makes way for another one */ };

/* Makes an empty sum for installations with the language and indexes of this one. */
struct install_sum *install_sum_new(uint64_t cell, const json_t *fields);
/* Frees it. `sum` may be NULL. */
void install_sum_free(struct install_sum *sum);
/* Returns true if an installation of this cell belongs to the sum. */
bool install_sum_takes(const struct install_sum *sum, uint64_t cell, const json_t *fields);
/*
 * Adds an installation: the fields of journal_events_installation(), or those of
 * audit_events_own_installation(). Returns true if the session has other packages than after the
 * one before.
 */
bool install_sum_add(struct install_sum *sum, const json_t *fields);
bool install_sum_is_full(const struct install_sum *sum);

/* Returns the fields of the line, a new reference. */
json_t *install_sum_line(const struct install_sum *sum);
/*
 * Returns these fields without packages and files, which the journal has with each installation
 * that changed them. A new reference.
 */
json_t *install_sum_event(const struct install_sum *sum);

#endif
