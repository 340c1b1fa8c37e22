/* SPDX-License-Identifier: MIT */
/* doctor_languages.h - starts each installed interpreter once, confined as in a session. */
#ifndef SERVER_DOCTOR_LANGUAGES_H
#define SERVER_DOCTOR_LANGUAGES_H

struct settings;

/*
 * The result of starting one interpreter. Both members are NULL where none was tried. The texts
 * have no control characters.
 */
struct doctor_trial {
	char *version;
	char *problem; /* why the interpreter does not work */
};

struct doctor_trials {
	struct doctor_trial *languages; /* one for each row of language_at */
	char *home_problem; /* why the folder of live sessions cannot be used; may be NULL */
};

/*
 * Starts each interpreter and sets *ret_trials. Tries none where the machine cannot confine code:
 * the doctor reports that elsewhere. Leaves no session behind. Changes `settings`, which the caller
 * must not use for sessions afterwards. doctor_languages_release() frees the result.
 */
void doctor_languages(struct settings *settings, struct doctor_trials *ret_trials);
void doctor_languages_release(struct doctor_trials *trials);

#endif
