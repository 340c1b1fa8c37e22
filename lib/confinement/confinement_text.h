/* SPDX-License-Identifier: MIT */
/* confinement_text.h - names and descriptions of tiers and layers, for models and users. */
#ifndef CONFINEMENT_CONFINEMENT_TEXT_H
#define CONFINEMENT_CONFINEMENT_TEXT_H

#include "base/buf.h"
#include "sandbox/report.h"

struct confinement;

/* Returns "user namespace", "landlock", ... */
const char *confinement_layer_name(enum report_layer layer);
/* Returns what the tier means for code, in sentences. `report` may be NULL. */
const char *confinement_tier_text(enum policy_tier tier, const struct sandbox_report *report);
/*
 * Appends "limits memory and processes, ends sessions", or "none: " and why; without an end of
 * line.
 */
void confinement_groups_text(struct buf *out, const struct confinement *confinement);
/* Returns what the first answers say about a tier below the strongest; NULL for the strongest. */
const char *confinement_tier_notice(enum policy_tier tier, const struct sandbox_report *report);
/*
 * Returns what code sees of other processes if a sandbox cannot have a /proc of its own, and the
 * machine's does not hide them; else NULL.
 */
const char *confinement_proc_notice(const struct sandbox_report *report);

#endif
