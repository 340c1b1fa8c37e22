/* SPDX-License-Identifier: MIT */
/*
 * rules.c - checks the names of rules and writes them as lines. The checker itself is
 * runtime/python/rules.py, within the interpreter; it is advice for the model and no confinement,
 * because code within Python can avoid it.
 */
#include "policy/rules.h"

#include "base/buf.h"
#include "base/mem.h"
#include "policy/policyfile.h"
#include "text/sanitize.h"

enum { RULE_MAX = 200 };

static const char *const lists[] = {
	"imports", "builtins", "attributes", "dunders", "shell", "magics",
};
static const char *const kinds[] = {
	"import:", "builtin:", "attribute:", "dunder:", "shell:", "magic:",
};
static const char *const others[] = { "javascript", "r" };

/* Returns whether the name is one word, because each line for the driver consists of words. */
static bool is_name(const char *name)
{
	return name[0] != '\0' && strlen(name) <= RULE_MAX && strpbrk(name, " \t\r\n") == NULL;
}

static bool is_rule(const char *rule)
{
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (str_eq(rule, lists[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (strncmp(rule, kinds[i], strlen(kinds[i])) == 0)
			return is_name(rule + strlen(kinds[i]));
	return false;
}

static int refuse_rule(const struct policyfile *policy, const char *language, const char *rule,
		       const char *why, struct err *err)
{
	cleanup_free char *name = policyfile_quote_name(policyfile_path(policy));
	cleanup_free char *quoted = sanitize_quote(rule);

	return err_set(err, ERR_INVALID, "the policy file '%s': %s.rules.%s %s", name, language,
		       quoted, why);
}

int rules_check(const struct policyfile *policy, struct err *err)
{
	enum policyfile_mode mode;
	const char *rule;

	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		rule = policyfile_rule_at(policy, others[i], 0, &mode);
		if (rule != NULL)
			return refuse_rule(policy, others[i], rule,
					   "cannot be: only python has rules", err);
	}
	for (size_t i = 0; (rule = policyfile_rule_at(policy, "python", i, &mode)) != NULL; i++)
		if (!is_rule(rule))
			return refuse_rule(
				policy, "python", rule,
				"is none of imports, builtins, attributes, dunders, shell, "
				"magics, import:NAME ...",
				err);
	return 0;
}

char *rules_lines(const struct policyfile *policy)
{
	static const char *const words[] = { "off", "warn", "enforce" };
	cleanup_buf struct buf lines = BUF_INIT(BUF_UNBOUNDED);
	enum policyfile_mode mode;
	bool any = false;
	const char *rule;

	for (size_t i = 0; (rule = policyfile_rule_at(policy, "python", i, &mode)) != NULL; i++) {
		buf_putf(&lines, "%s %s\n", rule, words[mode]);
		any = any || mode != POLICYFILE_OFF;
	}
	return any ? buf_steal(&lines) : NULL;
}
