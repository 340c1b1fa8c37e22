/* SPDX-License-Identifier: MIT */
/*
 * main.c - ptycell: runs a command of the command line, or else the server.
 *
 * The order matters. Inherited state is reset first. A command returns before the process gets
 * private and large. Settings are loaded before stdin and stdout are moved away (mcp/stdio). A
 * problem in the settings does not end the server: every tool then reports it.
 */
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
#include "front.h"
#include "help.h"
#include "journal/audit.h"
#include "mcp/stdio.h"
#include "options.h"
#include "policy/policyfile.h"
#include "redact/redact.h"
#include "serve.h"
#include "usable_settings.h"

enum { MAPPED_FROM = 1 << 20, STACK_MIN = 256 << 10 };

/*
 * Resets what a parent may pass on: an ignored SIGCHLD, with which no child can be waited for, and
 * a umask that closes our own files to us. Without a PATH, programs are searched where a shell
 * would.
 */
static void forget_inherited(void)
{
	(void)sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	(void)umask(umask(0) & (S_IRWXG | S_IRWXO));
	(void)setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 0);
}

/* Returns false and says so if the stack has too little room: helpers would die half-way. */
static bool has_stack(void)
{
	struct rlimit stack;

	if (getrlimit(RLIMIT_STACK, &stack) < 0 || stack.rlim_cur >= STACK_MIN)
		return true;
	(void)fprintf(
		stderr,
		"ptycell: the stack may have %llu KB here, and ptycell needs %d KB: raise that "
		"limit (ulimit -s %d) and start ptycell again\n",
		(unsigned long long)stack.rlim_cur >> 10, STACK_MIN >> 10, STACK_MIN >> 10);
	return false;
}

/*
 * Protects the secrets in memory and environment: no core file, no ptrace, no /proc/PID for others.
 */
static void be_private(void)
{
	/*
	 * Sessions inherit the maximum of 1 (sandbox/restrict/payload.c), which also stops core
	 * files.
	 */
	const struct rlimit none = { .rlim_cur = 0, .rlim_max = 1 };

	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

static void filter_log(const void *context, char **text)
{
	redact_string(context, text);
}

static void report_problems(const struct settings *settings)
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

/* Reports an audit that cannot be written. Every tool checks that again, and then does nothing. */
static void check_audit(const struct settings *settings)
{
	cleanup_free char *refusal = settings->audit != NULL && settings->problem == NULL
					     ? audit_refusal(settings->audit)
					     : NULL;

	if (refusal != NULL)
		(void)fprintf(stderr, "ptycell: %s\n", refusal);
}

/*
 * Makes each request wait for its cell when requests come from a file: then no host gives up
 * waiting.
 */
static void wait_for_cells(struct settings *settings)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) == 0 && S_ISREG(st.st_mode))
		settings->drain = true;
	if (settings->drain)
		settings->call_budget = settings->exec_timeout_max;
}

/* Only a host comes again: the one behind a file or a terminal does not. */
static bool may_linger(const struct settings *settings, int in_fd)
{
	struct stat st;

	return settings->linger > 0 && settings->problem == NULL && fstat(in_fd, &st) == 0 &&
	       !S_ISREG(st.st_mode) && isatty(in_fd) == 0;
}

static int serve(const struct settings *settings, const struct policyfile *policy,
		 char *const argv[])
{
	int fds[] = { -1, -1, STDERR_FILENO };
	struct err err;

	if (mcp_stdio_take(&fds[HANDOVER_IN], &fds[HANDOVER_OUT], &err) < 0) {
		(void)fprintf(stderr, "ptycell: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	if (may_linger(settings, fds[HANDOVER_IN]))
		return front_run(settings, policy, argv, fds);
	return serve_run(settings, policy, NULL, fds);
}

/* Returns the exit code of a command. It fails if its output could not be written whole. */
static int check_output(int code)
{
	bool whole = fflush(stdout) == 0 && ferror(stdout) == 0;

	if (whole || code != EXIT_SUCCESS)
		return code;
	(void)fputs("ptycell: not all of the output could be written. Is the disk full?\n", stderr);
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct settings *settings;
	struct policyfile *policy;
	int code;

	/* Otherwise malloc would keep the memory of one long request, up to 32 MB, for the next. */
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED_FROM);
	forget_inherited();
	if (!has_stack())
		return EXIT_FAILURE;
	code = options_run(argc, argv);
	if (code != OPTIONS_SERVE)
		return check_output(code);
	be_private();
	settings = usable_settings_load(argc, argv);
	policy = usable_policy_load(settings);
	if (isatty(STDIN_FILENO))
		help_on_terminal(settings);
	report_problems(settings);
	check_audit(settings);
	wait_for_cells(settings);
	code = serve(settings, policy, argv);
	policyfile_free(policy);
	log_set_filter(NULL, NULL);
	settings_free(settings);
	return code;
}
