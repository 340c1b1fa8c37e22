/* SPDX-License-Identifier: MIT */
/* main.c - ptycell: a command, or the server. */
#include <ctype.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "config/settings.h"
#include "help.h"
#include "journal/audit.h"
#include "mcp/stdio.h"
#include "options.h"
#include "policy/policyfile.h"
#include "policy/rules.h"
#include "redact/redact.h"
#include "serve.h"
#include "settle.h"

enum { OPEN_FILES = 131072, MAPPED_FROM = 1 << 20 };

/*
 * Whoever starts us may pass on SIGCHLD ignored, with which no child can be waited for, and a mask
 * that closes our own files to us. Without a PATH programs are looked for where a shell would.
 */
static void forget_inherited(void)
{
	(void)sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	(void)umask(umask(0) & (S_IRWXG | S_IRWXO));
	(void)setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 0);
}

/* Secrets in our memory and environment are for nobody: no core file, no ptrace, no /proc/PID. */
static void be_private(void)
{
	/* Sessions get the 1 (sandbox/restrict/payload.c), which is none as well. */
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = 1 };

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* A session takes about 24 descriptors, and what is usual is 1,024 for all. */
static void allow_many_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= OPEN_FILES)
		return;
	files.rlim_cur = files.rlim_max < OPEN_FILES ? files.rlim_max : OPEN_FILES;
	(void)setrlimit(RLIMIT_NOFILE, &files);
}

static void filter_log(const void *context, char **text)
{
	redact_string(context, text);
}

static void tell_problems(const struct settings *settings)
{
	int level = log_level_parse(settings->log_level);

	if (level >= 0)
		log_set_level((enum log_level)level);
	if (settings->redact != NULL)
		log_set_filter(filter_log, settings->redact);
	if (settings->notices != NULL)
		(void)fputs(settings->notices, stderr);
	if (settings->problem != NULL)
		(void)fprintf(stderr, "ptycell: %s\n", settings->problem);
}

/* With a file that cannot be used nothing runs: what it forbids is not known. */
static struct policyfile *load_policy(struct settings *settings)
{
	struct err err;
	struct policyfile *policy = policyfile_load(settings->policy, &err);

	if (policy != NULL && rules_check(policy, &err) == 0)
		return policy;
	policyfile_free(policy);
	if (settings->problem == NULL)
		settings->problem = xasprintf("%c%s. Correct it and start ptycell again.",
					      toupper((unsigned char)err.msg[0]), err.msg + 1);
	return policyfile_load(NULL, &err);
}

/* Who wants a record of all that runs wants nothing to run without it. */
static void check_audit(struct settings *settings)
{
	if (settings->audit != NULL && settings->problem == NULL)
		settings->problem = audit_refusal(settings->audit);
}

/* Where requests come from a file there is no host that gives up: each waits for its cell. */
static void wait_for_cells(struct settings *settings)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		settings->drain = true;
	if (settings->drain)
		settings->call_budget = settings->exec_timeout_max;
}

int main(int argc, char **argv)
{
	int in_fd = -1;
	int out_fd = -1;
	struct settings *settings;
	struct policyfile *policy;
	struct err err;
	int code;

	/* Without this what one long request took would be kept for the next, up to 32 MB at once.
	 */
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
	forget_inherited();
	code = options_run(argc, argv);
	if (code != OPTIONS_SERVE)
		return code;
	be_private();
	allow_many_files();
	settings = settle_settings(argc, argv);
	policy = load_policy(settings);
	check_audit(settings);
	if (isatty(STDIN_FILENO))
		help_on_terminal(settings);
	tell_problems(settings);
	wait_for_cells(settings);
	if (mcp_stdio_take(&in_fd, &out_fd, &err) < 0) {
		(void)fprintf(stderr, "ptycell: %s\n", err.msg);
		code = EXIT_FAILURE;
	} else {
		code = serve_run(settings, policy, in_fd, out_fd);
	}
	policyfile_free(policy);
	log_set_filter(NULL, NULL);
	settings_free(settings);
	return code;
}
