/* SPDX-License-Identifier: MIT */
/* confinement_text.h - words for tiers and layers, for models and people. */
#ifndef CONFINEMENT_CONFINEMENT_TEXT_H
#define CONFINEMENT_CONFINEMENT_TEXT_H

#include "base/buf.h"
#include "sandbox/report.h"

struct confinement;

/* "user namespace", "landlock" ... */
const char *confinement_layer_name(enum report_layer layer);
/* What the tier means for code, in sentences. */
const char *confinement_tier_text(enum policy_tier tier);
/* "limits memory and processes, ends sessions", or "none: " and why; a line without end. */
void confinement_groups_text(struct buf *out, const struct confinement *confinement);
/* What a person's first answers say of a tier below the strongest; NULL for that. */
const char *confinement_tier_notice(enum policy_tier tier);
/* What code sees of other processes because a sandbox cannot have a /proc of its own; NULL:
 * nothing. */
const char *confinement_proc_notice(const struct sandbox_report *report);

#endif
