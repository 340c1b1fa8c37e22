/* SPDX-License-Identifier: MIT */
/*
 * intake.h - a text from a driver on its way into a cell, some KB at a time.
 *
 * Secrets are redacted, the text is sanitized, and secrets are redacted once more, because
 * sanitizing can join the parts of a value. The result needs neither any more.
 */
#ifndef RUNNER_INTAKE_H
#define RUNNER_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct intake;
struct redact;

/*
 * Makes an intake of `text` up to its first NUL. `text` and `redact` are borrowed until free;
 * `redact` may be NULL.
 */
struct intake *intake_new(const struct redact *redact, const char *text, size_t len);
/* Frees it. May be NULL. */
void intake_free(struct intake *intake);
/* Processes at most *room bytes and subtracts them from *room. Returns true when it is finished. */
bool intake_go_on(struct intake *intake, size_t *room);
/*
 * Returns the text of a finished intake, of at most CELL_TEXT_CHARS_MAX characters. The caller
 * frees the result.
 */
char *intake_take(struct intake *intake);
/* Returns how many bytes it holds. */
size_t intake_held(const struct intake *intake);

#endif
