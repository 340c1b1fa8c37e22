/* SPDX-License-Identifier: MIT */
/*
 * doctor_languages.h - starts each interpreter that is here once, confined as in a session.
 */
#ifndef SERVER_DOCTOR_LANGUAGES_H
#define SERVER_DOCTOR_LANGUAGES_H

struct settings;

/* What starting one told; both NULL where none was tried. Cleaned. */
struct doctor_trial {
	char *version;
	char *problem; /* why it does not work */
};

struct doctor_trials {
	struct doctor_trial *languages; /* one for each row of language_at */
	char *home_problem; /* why the folder of live sessions cannot be used; or NULL */
};

/*
 * None is tried where no code may run: what doctor says of that is enough. Leaves nothing behind,
 * and changes `settings`, which is good for nothing else afterwards.
 */
void doctor_languages(struct settings *settings, struct doctor_trials *ret_trials);
void doctor_languages_release(struct doctor_trials *trials);

#endif
