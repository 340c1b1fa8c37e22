/* SPDX-License-Identifier: MIT */
/*
 * rules.h - the code rules of a policy, in the form that the driver judges cells by.
 *
 * A rule is one of imports, builtins, attributes, dunders, shell, magics, each with a built-in list
 * of names. A rule for a single name precedes the list: import:NAME builtin:NAME attribute:PATH
 * dunder:NAME shell:WORD magic:NAME. Only Python has rules.
 */
#ifndef POLICY_RULES_H
#define POLICY_RULES_H

#include "base/err.h"

struct policyfile;

/* Returns -1 and sets ERR_INVALID, which names an unknown rule and the known ones. */
int rules_check(const struct policyfile *policy, struct err *err) MUST_CHECK;
/*
 * Returns "RULE MODE" lines for the driver; the caller frees them. Returns NULL if every rule is
 * off.
 */
char *rules_lines(const struct policyfile *policy);

#endif
