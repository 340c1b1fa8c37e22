/* SPDX-License-Identifier: MIT */
/*
 * fake_interpreter: shows faults that real interpreters cannot be made to show. Each argument is
 * one step, VERB or VERB=VALUE, done in order; after the last it exits with status 0.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "fake_steps.h"

static void tell(const char *value)
{
	put(CONTROL, value, strlen(value));
}

/* Waits for one byte on the control channel; its end ends us. */
static void hear(const char *value)
{
	char byte;

	(void)value;
	while (read(CONTROL, &byte, 1) < 0)
		if (errno != EINTR)
			_exit(98);
}

static void crash(const char *value)
{
	(void)raise(number(value));
}

/* Lines of 100 bytes, each with its number. */
static void flood(const char *value)
{
	long lines = number(value) / 100;
	char line[101];

	for (long i = 0; i < lines; i++) {
		(void)snprintf(line, sizeof(line), "%098ld\r\n", i);
		put(STDOUT_FILENO, line, 100);
	}
}

static void ignore(const char *value)
{
	int only = number(value);

	for (int signo = 1; signo <= SIGRTMAX; signo++)
		if (only == 0 || only == signo)
			(void)sigaction(signo, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
}

static void on_signal(int signo)
{
	char text[] = "<signal 00>";

	text[8] = (char)('0' + signo / 10);
	text[9] = (char)('0' + signo % 10);
	put(CONTROL, text, sizeof(text) - 1);
}

static void catch_signal(const char *value)
{
	(void)sigaction(number(value), &(struct sigaction){ .sa_handler = on_signal }, NULL);
}

/* A child in our process group, with the terminal open. */
static void grandchild(const char *value)
{
	if (fork() == 0)
		hang(value);
}

/* So many processes that have left the session and ignore what can be ignored. */
static void daemons(const char *value)
{
	for (int i = number(value); i > 0; i--) {
		if (fork() != 0) {
			(void)wait(NULL);
			continue;
		}
		(void)setsid();
		ignore("0");
		if (fork() == 0)
			hang(value);
		_exit(0);
	}
}

/* Forks without end: each lives for a moment and leaves a child. */
static void runaway(const char *value)
{
	ignore("0");
	for (;;) {
		if (fork() != 0) {
			(void)usleep((useconds_t)number(value));
			_exit(0);
		}
		(void)setsid();
	}
}

/* Passes a descriptor so many times, one with each byte. */
static void send_descriptors(const char *value)
{
	for (int i = number(value); i > 0; i--) {
		union {
			char bytes[CMSG_SPACE(sizeof(int))];
			struct cmsghdr header;
		} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
		char byte = '.';
		struct iovec part = { &byte, 1 };
		struct msghdr packet = { .msg_iov = &part,
					 .msg_iovlen = 1,
					 .msg_control = control.bytes,
					 .msg_controllen = sizeof(control.bytes) };
		int fd = STDIN_FILENO;

		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		if (sendmsg(CONTROL, &packet, 0) < 0)
			_exit(97);
	}
}

static void show_environment(const char *value)
{
	(void)value;
	for (char **variable = environ; *variable != NULL; variable++) {
		tell(*variable);
		tell("\n");
	}
}

static void show_descriptors(const char *value)
{
	(void)value;
	for (int fd = 0; fd < 1024; fd++) {
		char text[16];

		if (fcntl(fd, F_GETFD) < 0)
			continue;
		(void)snprintf(text, sizeof(text), "%d ", fd);
		tell(text);
	}
}

/* Shows the signals that an exec passes on; it passes on no handlers. */
static void show_signals(const char *value)
{
	sigset_t blocked;

	(void)value;
	(void)sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int signo = 1; signo <= SIGRTMAX; signo++) {
		struct sigaction action;
		char text[32];

		if (sigaction(signo, NULL, &action) < 0 ||
		    (action.sa_handler != SIG_IGN && sigismember(&blocked, signo) == 0))
			continue;
		(void)snprintf(text, sizeof(text), "%d ignored or blocked ", signo);
		tell(text);
	}
	tell("checked");
}

static void show_terminal(const char *value)
{
	struct winsize size = { 0 };
	struct termios settings;
	char text[128];

	(void)value;
	(void)ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	(void)tcgetattr(STDIN_FILENO, &settings);
	(void)snprintf(text, sizeof(text), "%ux%u tty %d%d%d echo %d icanon %d opost %d leader %d",
		       size.ws_col, size.ws_row, isatty(0), isatty(1), isatty(2),
		       (settings.c_lflag & ECHO) != 0, (settings.c_lflag & ICANON) != 0,
		       (settings.c_oflag & OPOST) != 0,
		       getsid(0) == getpid() && tcgetpgrp(0) == getpgrp());
	tell(text);
}

static void make_raw(const char *value)
{
	struct termios settings;

	(void)value;
	(void)tcgetattr(STDIN_FILENO, &settings);
	cfmakeraw(&settings);
	(void)tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

static void show_folder(const char *value)
{
	char path[4096];

	(void)value;
	tell(getcwd(path, sizeof(path)) != NULL ? path : "none");
}

static void show_limits(const char *value)
{
	const __rlimit_resource_t resources[] = { RLIMIT_CORE, RLIMIT_NOFILE, RLIMIT_DATA };

	(void)value;
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		struct rlimit limit;
		char text[64];

		(void)getrlimit(resources[i], &limit);
		(void)snprintf(text, sizeof(text), "%llu-%llu ", (unsigned long long)limit.rlim_cur,
			       (unsigned long long)limit.rlim_max);
		tell(text);
	}
}

/* Forbids processes of the same user to look into this one. */
static void hide(const char *value)
{
	(void)value;
	(void)prctl(PR_SET_DUMPABLE, 0);
}

static const struct verb verbs[] = {
	{ "print", print },
	{ "tell", tell },
	{ "hear", hear },
	{ "exit", leave },
	{ "crash", crash },
	{ "wait", hang },
	{ "flood", flood },
	{ "ignore", ignore },
	{ "catch", catch_signal },
	{ "grandchild", grandchild },
	{ "daemons", daemons },
	{ "runaway", runaway },
	{ "close-control", close_control },
	{ "send-descriptors", send_descriptors },
	{ "environment", show_environment },
	{ "descriptors", show_descriptors },
	{ "signals", show_signals },
	{ "terminal", show_terminal },
	{ "raw", make_raw },
	{ "folder", show_folder },
	{ "limits", show_limits },
	{ "read", read_line },
	{ "hide", hide },
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run_step(verbs, ARRAY_SIZE(verbs), argv[i]);
	return 0;
}
