/* SPDX-License-Identifier: MIT */
/*
 * main.c - ptycell-launcher. The server starts it with an empty environment and its channel as
 * descriptor 3. In tier bwrap it also runs inside each sandbox, as init.
 *
 * Every process of a session is forked from this one, so it drops what it inherited and holds
 * nothing but the program.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fd.h"
#include "sandbox/launcher/launch.h"

/*
 * Resets what a server inherits from nohup, a shell or a host, and would pass on to every session.
 */
static void forget_inherited(void)
{
	const struct rlimit none = { 0, 1 }; /* see sandbox/restrict/payload.c */

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		(void)sigaction(signo, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)umask(S_IWGRP | S_IWOTH);
	(void)setsid();
	(void)!chdir("/");
	(void)!fd_close_from(LAUNCH_CHANNEL + 1);
	(void)fcntl(LAUNCH_CHANNEL, F_SETFD, FD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct stat st;
	struct err err;

	if (argc > 1)
		return launch_inside(argc, argv, &privdrop_whole);
	if (fstat(LAUNCH_CHANNEL, &st) < 0 || !S_ISSOCK(st.st_mode)) {
		(void)fputs("ptycell-launcher: started by ptycell, not by hand\n", stderr);
		return EXIT_FAILURE;
	}
	forget_inherited();
	if (launch_run(LAUNCH_CHANNEL, &privdrop_whole, &err) < 0) {
		(void)fprintf(stderr, "ptycell-launcher: %s\n", err.msg);
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
