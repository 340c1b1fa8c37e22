/* SPDX-License-Identifier: MIT */
/*
 * policyfile.h - the user's rules for packages and code, read from the file of PTYCELL_POLICY.
 *
 *   {"python": {"allow": [NAME], "block": [NAME], "minimum": {NAME: VERSION},
 *               "rules": {RULE: "off" | "warn" | "enforce"}, "minimum_age": "7d"},
 *    "javascript": {...}, "r": {...}}
 *
 * Every member is optional. An allow list with names allows nothing else; a name may end in * for
 * all names that begin so. Releases younger than `minimum_age` (h, d or w) are not taken; R has
 * none, because its repositories do not say when a package was uploaded. `minimum` replaces the
 * built-in one. The installers compare names and versions, by the rules of each ecosystem; this
 * module only reads them. A rule that is not named is off. A policy never changes after it was
 * read.
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
 * Reads `path`. A NULL path gives the built-in policy and never fails. Returns NULL and sets *err,
 * which names the file and the wrong place in it.
 */
struct policyfile *policyfile_load(const char *path, struct err *err) MUST_CHECK;
/* Frees it. May be NULL. */
void policyfile_free(struct policyfile *policy);
/* Returns the path, NULL for the built-in policy. Borrowed until policyfile_free. */
const char *policyfile_path(const struct policyfile *policy);
/*
 * Returns the file's name for a sentence, quoted and without its folders, which would crowd out the
 * rest. The caller frees it.
 */
char *policyfile_quote_name(const char *path);
/*
 * Returns {"allow": [], "block": [], "minimum": {}, "rules": {}} of a language, of which no member
 * is missing, and "minimum_age" if the file has it. Borrowed until policyfile_free.
 */
const json_t *policyfile_packages(const struct policyfile *policy, const char *language);
/*
 * Returns rule `index` that the file names for a language, in its order, and sets *ret_mode. NULL
 * past the end.
 */
const char *policyfile_rule_at(const struct policyfile *policy, const char *language, size_t index,
			       enum policyfile_mode *ret_mode);

#endif
