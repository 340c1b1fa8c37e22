/* SPDX-License-Identifier: MIT */
/*
 * rules.h - the code rules of a policy, for the driver that judges cells by them.
 *
 * A rule is one of imports, builtins, attributes, dunders, shell, magics, each with its own list of
 * names, or speaks of one name and goes before the list: import:NAME builtin:NAME attribute:PATH
 * dunder:NAME shell:WORD magic:NAME. Only Python has rules.
 */
#ifndef POLICY_RULES_H
#define POLICY_RULES_H

#include "base/err.h"

struct policyfile;

/* ERR_INVALID names a rule that there is not, and those there are. */
int rules_check(const struct policyfile *policy, struct err *err) MUST_CHECK;
/* "RULE MODE" lines for the driver, which the caller frees; NULL: every rule is off. */
char *rules_lines(const struct policyfile *policy);

#endif
