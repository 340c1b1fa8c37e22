/* SPDX-License-Identifier: MIT */
/*
 * policyfile.h - what the person allows: packages and code rules, as the file of PTYCELL_POLICY
 * says.
 *
 *   {"python": {"allow": [NAME], "block": [NAME], "minimum": {NAME: VERSION},
 *               "rules": {RULE: "off" | "warn" | "enforce"}},
 *    "javascript": {...}, "r": {...}}
 *
 * Every member may be left out. An allow list with names allows nothing else; a name may end in *,
 * for all that begins so. `minimum` replaces the one that holds without a file. Names and versions
 * are compared where they are installed, by each ecosystem's own rules; this only reads them. A
 * rule that is not named is off. Never changes after it was read.
 */
#ifndef POLICY_POLICYFILE_H
#define POLICY_POLICYFILE_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

enum policyfile_mode { POLICYFILE_OFF, POLICYFILE_WARN, POLICYFILE_ENFORCE };

enum { POLICYFILE_SIZE_MAX = 1 << 20 };

struct policyfile;

/*
 * Reads `path`; NULL: the policy that holds without a file, which never fails. NULL with the file
 * and the place in it that is wrong.
 */
struct policyfile *policyfile_load(const char *path, struct err *err) MUST_CHECK;
/* NULL is allowed. */
void policyfile_free(struct policyfile *policy);
/* NULL when there is no file. */
const char *policyfile_path(const struct policyfile *policy);
/* Its name for a sentence, quoted and without its folders, which would crowd out the rest. To be
 * freed. */
char *policyfile_quote_name(const char *path);
/* {"allow": [], "block": [], "minimum": {}} of a language, all three there. Borrowed. */
const json_t *policyfile_packages(const struct policyfile *policy, const char *language);
/* What the file says of a code rule. */
enum policyfile_mode policyfile_rule(const struct policyfile *policy, const char *language,
				     const char *rule);
/* The rules that the file names for a language, in its order; NULL past the end. */
const char *policyfile_rule_at(const struct policyfile *policy, const char *language, size_t index,
			       enum policyfile_mode *ret_mode);

#endif
