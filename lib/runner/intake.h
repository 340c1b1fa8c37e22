/* SPDX-License-Identifier: MIT */
/*
 * intake.h - a text of a driver's on its way into a cell, some KB at a time.
 *
 * Secrets are taken out, then it is cleaned, then secrets are taken out once more, because cleaning
 * can put the parts of a value together. What comes out needs neither any more.
 */
#ifndef RUNNER_INTAKE_H
#define RUNNER_INTAKE_H

#include <stdbool.h>
#include <stddef.h>

struct intake;
struct redact;

/* `redact` is borrowed, or NULL; so is `text`, up to its first NUL, until the intake is freed. */
struct intake *intake_new(const struct redact *redact, const char *text, size_t len);
/* NULL is allowed. */
void intake_free(struct intake *intake);
/* Works off at most *room bytes, which become fewer; true when it is through. */
bool intake_go_on(struct intake *intake, size_t *room);
/* The text, for the caller to free, of one that is through: CELL_TEXT_CHARS_MAX of what came. */
char *intake_take(struct intake *intake);
/* Bytes that it holds. */
size_t intake_held(const struct intake *intake);

#endif
