/* SPDX-License-Identifier: MIT */
/*
 * resolver.c - asks the C library in short-lived children. getaddrinfo() blocks, and runs modules
 * of the name service that are not ours. Each lookup therefore runs in a child, which alarm() ends,
 * and SIGCHLD is ignored so that children need no wait. Messages are whole structs on a SEQPACKET
 * socket. The proxy judges every address of an answer itself (dial.c).
 */
#include "resolver.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <resolv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/fd.h"
#include "lockdown.h"
#include "net/upstream.h"

enum { QUESTION_HOST_MAX = UPSTREAM_HOST_MAX };

struct question {
	uint32_t id;
	uint16_t port;
	char host[QUESTION_HOST_MAX + 1];
};

/* ---- the process ---- */

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET)
		((struct sockaddr_in *)address)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
}

static void look_up(const struct question *question, struct resolver_answer *answer)
{
	const struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;

	(void)res_init();
	_res.options &= ~(unsigned long)(RES_DNSRCH | RES_DEFNAMES);
	if (getaddrinfo(question->host, NULL, &hints, &found) != 0)
		return;
	for (struct addrinfo *at = found; at != NULL; at = at->ai_next) {
		struct sockaddr_storage *address = &answer->addresses[answer->count];

		if ((at->ai_family != AF_INET && at->ai_family != AF_INET6) ||
		    answer->count == RESOLVER_ADDRESSES_MAX)
			continue;
		memcpy(address, at->ai_addr, at->ai_addrlen);
		set_port(address, question->port);
		answer->count++;
	}
	freeaddrinfo(found);
}

/* Runs in a child, so everything that the C library does ends with it. */
static void answer_one(int channel, struct question *question)
{
	struct resolver_answer answer = { .id = question->id };

	(void)alarm(RESOLVER_SECONDS);
	question->host[QUESTION_HOST_MAX] = '\0';
	look_up(question, &answer);
	(void)send(channel, &answer, sizeof(answer), MSG_NOSIGNAL);
}

static void answer_questions(int channel)
{
	for (;;) {
		struct question question;
		ssize_t n = recv(channel, &question, sizeof(question), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != sizeof(question))
			return;
		if (fork() == 0) {
			answer_one(channel, &question);
			_exit(EXIT_SUCCESS);
		}
	}
}

static void run_resolver(int channel)
{
	struct sigaction reap = { .sa_handler = SIG_IGN, .sa_flags = SA_NOCLDWAIT };
	struct err err;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)prctl(PR_SET_NAME, "ptycell-resolve");
	(void)sigaction(SIGCHLD, &reap, NULL);
	if (channel != STDIN_FILENO && dup2(channel, STDIN_FILENO) < 0)
		_exit(EXIT_FAILURE);
	/* Standard error stays open: it is the log. */
	(void)close(STDOUT_FILENO);
	(void)!fd_close_from(STDERR_FILENO + 1);
	if (lockdown_resolver(&err) < 0) {
		(void)fprintf(stderr, "ptycell-proxy: %s\n", err.msg);
		_exit(EXIT_FAILURE);
	}
	answer_questions(STDIN_FILENO);
	_exit(EXIT_SUCCESS);
}

int resolver_spawn(struct err *err)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_sys(err, "making a channel");
	pid = fork();
	if (pid == 0)
		run_resolver(pair[1]);
	fd_close(&pair[1]);
	if (pid < 0) {
		fd_close(&pair[0]);
		return err_sys(err, "starting the resolver");
	}
	return pair[0];
}

/* ---- asking it ---- */

int resolver_ask(int channel, uint32_t id, const char *host, uint16_t port, struct err *err)
{
	struct question question = { .id = id, .port = port };

	(void)snprintf(question.host, sizeof(question.host), "%s", host);
	if (send(channel, &question, sizeof(question), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		return err_set(err, ERR_BUSY, "the resolver does not take questions");
	return 0;
}

int resolver_take(int channel, struct resolver_answer *ret_answer)
{
	ssize_t n = recv(channel, ret_answer, sizeof(*ret_answer), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n != sizeof(*ret_answer) || ret_answer->count > RESOLVER_ADDRESSES_MAX)
		return -1;
	return 1;
}
