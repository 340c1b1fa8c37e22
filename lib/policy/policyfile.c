/* SPDX-License-Identifier: MIT */
/*
 * policyfile.c - reads and checks the policy. check_sections checks it; then missing members are
 * filled in, so that readers never have to handle an absent one. An invalid file is an error, never
 * a weaker policy.
 */
#include "policy/policyfile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/chars.h"
#include "base/mem.h"
#include "base/util.h"
#include "json/get.h"
#include "json/make.h"
#include "json/parse.h"
#include "text/sanitize.h"

struct policyfile {
	char *path; /* or NULL */
	json_t *sections;
};

enum { AGE_DIGITS_MAX = 5 };

static const char *const languages[] = { "python", "javascript", "r" };
static const char *const keys[] = { "allow", "block", "minimum", "rules", "minimum_age" };
static const char *const modes[] = {
	[POLICYFILE_OFF] = "off",
	[POLICYFILE_WARN] = "warn",
	[POLICYFILE_ENFORCE] = "enforce",
};

/* The oldest releases without holes that were known when these minimums were chosen. */
static const char no_file[] =
	"{\"python\": {\"minimum\": {\"numpy\": \"1.22.2\", \"pandas\": \"1.4.0\", "
	"\"pillow\": \"9.0.0\", \"requests\": \"2.31.0\", \"scipy\": \"1.10.0\", "
	"\"tensorflow\": \"2.11.1\", \"torch\": \"1.13.1\", \"urllib3\": \"1.26.5\"}}}";

/* Returns -1 if there is no such mode. */
static int find_mode(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (str_eq(modes[i], word))
			return (int)i;
	return -1;
}

static int refuse_member(const char *where, const char *key, const char *what, struct err *err)
{
	cleanup_free char *quoted = sanitize_quote(key);

	return err_set(err, ERR_INVALID, "%s.%s %s", where, quoted, what);
}

/*
 * Returns whether packages of the language can have this name. An entry that is no name would be
 * compared with all of them and mean none, so that a list with "six<2" would hold nothing back.
 */
static bool is_name(const char *name, size_t len, const char *language)
{
	bool npm = str_eq(language, "javascript");
	const char *marks = npm ? "._-~!'()" : "._-";
	bool scope = npm && len > 0 && name[0] == '@';

	for (size_t i = scope ? 1 : 0; i < len; i++) {
		if (scope && name[i] == '/')
			scope = false;
		else if (!char_is_letter(name[i]) && !char_is_digit(name[i]) &&
			 strchr(marks, name[i]) == NULL)
			return false;
	}
	return len > 0;
}

static int check_names(const json_t *list, const char *language, const char *key, struct err *err)
{
	cleanup_free char *where = xasprintf("%s.%s", language, key);
	const json_t *entry;
	size_t i;

	json_array_foreach (list, i, entry) {
		const char *name = json_string_value(entry);
		size_t len = strlen(name);

		if (!str_eq(name, "*") &&
		    !is_name(name, len - (len > 0 && name[len - 1] == '*'), language))
			return refuse_member(
				where, name,
				"is no package's name, so the entry would match nothing: write a name without a version; a * may end it",
				err);
	}
	return 0;
}

/* Returns whether all installers read it as a version. A range would be one that is never met. */
static bool is_version(const char *version)
{
	version += version[0] == 'v';
	if (!char_is_digit(version[0]))
		return false;
	while (char_is_letter(*version) || char_is_digit(*version) ||
	       (*version != '\0' && strchr(".-+_!", *version) != NULL))
		version++;
	return *version == '\0';
}

static int check_minimum(json_t *minimum, const char *language, struct err *err)
{
	cleanup_free char *where = xasprintf("%s.minimum", language);
	const char *name;
	json_t *version;

	json_object_foreach (minimum, name, version) {
		if (!is_name(name, strlen(name), language))
			return refuse_member(where, name, "is no package's name", err);
		if (!json_is_string(version) || !is_version(json_string_value(version)))
			return refuse_member(where, name,
					     "must be a version in quotes, as \"1.2.3\"", err);
	}
	return 0;
}

static int check_rules(json_t *rules, const char *where, struct err *err)
{
	const char *rule;
	json_t *mode;

	json_object_foreach (rules, rule, mode)
		if (!json_is_string(mode) || find_mode(json_string_value(mode)) < 0)
			return refuse_member(where, rule, "must be off, warn or enforce", err);
	return 0;
}

/* An age is a number and h, d or w. R's repositories do not say when a package came. */
static int check_age(const json_t *section, const char *language, struct err *err)
{
	const char *age = NULL;
	size_t digits;

	if (json_get_text(section, language, "minimum_age", &age, NULL, err) < 0)
		return -1;
	if (age == NULL)
		return 0;
	digits = strspn(age, "0123456789");
	if (str_eq(language, "r"))
		return err_set(err, ERR_INVALID,
			       "r.minimum_age cannot be kept: R's repositories do not say when a "
			       "package was uploaded. Take it from the file, and name a repository "
			       "as it was on a day (PTYCELL_R_REPOS), if there is one");
	if (digits == 0 || digits > AGE_DIGITS_MAX || strlen(age) != digits + 1 ||
	    strchr("hdw", age[digits]) == NULL)
		return err_set(err, ERR_INVALID,
			       "%s.minimum_age must be a number and h, d or w, as in \"7d\"",
			       language);
	return 0;
}

static int check_section(json_t *section, const char *language, struct err *err)
{
	cleanup_free char *rules_name = xasprintf("%s.rules", language);
	json_t *allow = NULL;
	json_t *block = NULL;
	json_t *minimum = NULL;
	json_t *rules = NULL;

	if (json_get_only(section, language, keys, ARRAY_SIZE(keys), err) < 0 ||
	    json_get_texts(section, language, "allow", &allow, err) < 0 ||
	    json_get_texts(section, language, "block", &block, err) < 0 ||
	    json_get_object(section, language, "minimum", &minimum, err) < 0 ||
	    json_get_object(section, language, "rules", &rules, err) < 0 ||
	    check_age(section, language, err) < 0)
		return -1;
	return check_names(allow, language, "allow", err) < 0 ||
			       check_names(block, language, "block", err) < 0 ||
			       check_minimum(minimum, language, err) < 0 ||
			       check_rules(rules, rules_name, err) < 0
		       ? -1
		       : 0;
}

static int check_sections(json_t *sections, struct err *err)
{
	if (!json_is_object(sections))
		return err_set(err, ERR_INVALID, "it must be an object, not %s",
			       json_get_type_name(sections));
	if (json_get_only(sections, "policy", languages, ARRAY_SIZE(languages), err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		json_t *section = NULL;

		if (json_get_object(sections, "policy", languages[i], &section, err) < 0 ||
		    (section != NULL && check_section(section, languages[i], err) < 0))
			return -1;
	}
	return 0;
}

/* Fills in every member that was left out. */
static void complete_sections(json_t *sections)
{
	cleanup_json json_t *fallback = json_parse_const(no_file);

	for (size_t i = 0; i < ARRAY_SIZE(languages); i++) {
		const json_t *known = json_object_get(fallback, languages[i]);
		json_t *section = json_object_get(sections, languages[i]);
		json_t *minimum = json_object_get(known, "minimum");

		if (!json_is_object(section)) {
			section = json_object();
			json_put(sections, languages[i], section);
		}
		for (size_t k = 0; k < 2; k++)
			if (!json_is_array(json_object_get(section, keys[k])))
				json_put(section, keys[k], json_array());
		if (!json_is_object(json_object_get(section, "minimum")))
			json_put(section, "minimum",
				 minimum != NULL ? json_incref(minimum) : json_object());
		if (!json_is_object(json_object_get(section, "rules")))
			json_put(section, "rules", json_object());
	}
}

static json_t *read_sections(const char *path, struct err *err)
{
	json_t *sections = json_parse_file(AT_FDCWD, path, POLICYFILE_SIZE_MAX, err);

	if (sections == NULL)
		return NULL;
	if (check_sections(sections, err) == 0)
		return sections;
	json_decref(sections);
	return NULL;
}

char *policyfile_quote_name(const char *path)
{
	return sanitize_quote(path_base(path));
}

struct policyfile *policyfile_load(const char *path, struct err *err)
{
	json_t *sections = path != NULL ? read_sections(path, err) : json_object();
	struct policyfile *policy;

	if (sections == NULL) {
		cleanup_free char *name = policyfile_quote_name(path != NULL ? path : "");

		if (err->code == ERR_SYSTEM) /* names the file */
			(void)err_wrap(err, "the policy file");
		else
			(void)err_wrap(err, "the policy file '%s'", name);
		return NULL;
	}
	complete_sections(sections);
	policy = xcalloc(1, sizeof(*policy));
	policy->path = path != NULL ? xstrdup(path) : NULL;
	policy->sections = sections;
	return policy;
}

void policyfile_free(struct policyfile *policy)
{
	if (policy == NULL)
		return;
	json_decref(policy->sections);
	free(policy->path);
	free(policy);
}

const char *policyfile_path(const struct policyfile *policy)
{
	return policy->path;
}

const json_t *policyfile_packages(const struct policyfile *policy, const char *language)
{
	return json_object_get(policy->sections, language);
}

static json_t *rules_of(const struct policyfile *policy, const char *language)
{
	return json_object_get(json_object_get(policy->sections, language), "rules");
}

const char *policyfile_rule_at(const struct policyfile *policy, const char *language, size_t index,
			       enum policyfile_mode *ret_mode)
{
	const char *rule;
	json_t *mode;

	json_object_foreach (rules_of(policy, language), rule, mode) {
		if (index-- > 0)
			continue;
		*ret_mode = (enum policyfile_mode)find_mode(json_string_value(mode));
		return rule;
	}
	return NULL;
}
