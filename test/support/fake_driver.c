/* SPDX-License-Identifier: MIT */
/*
 * fake_driver: speaks the control protocol (runtime/frame.h) well and badly, step by step.
 *
 * Each argument is one step, VERB or VERB=VALUE, done in order before the first cell. The code of
 * every cell is a list of steps, one a line; so is the name of a module to be imported ahead.
 * "\n" in a value is a line break. A cell ends with a `done` step, or not at all.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_steps.h"

enum { TEXT_MAX = 1 << 16, NAME_MAX_LEN = 80 };

struct message {
	char type[NAME_MAX_LEN];
	unsigned long long id;
	char nonce[NAME_MAX_LEN];
	char code[TEXT_MAX];
};

static struct message message; /* the last one that came */
static unsigned long long id;  /* of what is sent */
static bool mute;              /* leaves questions unanswered */
static char *save;             /* step that answers `save`, VERB=VALUE */
static char *vars;             /* the same for `vars`; NULL: it has a name */
static char *last;             /* step before the end that `quit` asks for; or NULL */
static volatile sig_atomic_t interrupted;

/* ---- reading ---- */

static void take(char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = read(CONTROL, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			_exit(n == 0 ? 0 : 98);
		data += n;
		len -= (size_t)n;
	}
}

static void take_line(char line[NAME_MAX_LEN])
{
	size_t len = 0;

	do {
		if (len + 1 == NAME_MAX_LEN)
			_exit(97);
		take(line + len, 1);
	} while (line[len++] != '\n');
	line[len - 1] = '\0';
}

static void take_message(void)
{
	char line[NAME_MAX_LEN];
	unsigned parts = 0;

	take_line(line);
	if (sscanf(line, "%79s %llu %u", message.type, &message.id, &parts) != 3)
		_exit(96);
	message.code[0] = '\0';
	while (parts-- > 0) {
		char name[NAME_MAX_LEN];
		static char data[TEXT_MAX];
		size_t len;

		take_line(line);
		if (sscanf(line, "%79s %zu", name, &len) != 2 || len >= sizeof(data))
			_exit(95);
		take(data, len);
		data[len] = '\0';
		if (str_eq(name, "code") || str_eq(name, "module") || str_eq(name, "file"))
			memcpy(message.code, data, len + 1);
		if (str_eq(name, "nonce"))
			memcpy(message.nonce, data, size_min(len + 1, NAME_MAX_LEN - 1));
	}
}

/* ---- sending ---- */

static void send_frame(const char *type, const char *name, const char *value)
{
	static char text[TEXT_MAX + 256];
	int len = snprintf(text, sizeof(text), "%s %llu 1\n%s %zu\n%s", type, id, name,
			   strlen(value), value);

	put(CONTROL, text, (size_t)len);
}

static void send_ready(const char *nonce, const char *proto)
{
	char text[512];
	int len;

	while (!str_eq(message.type, "hello"))
		take_message();
	if (*nonce == '\0')
		nonce = message.nonce;
	len = snprintf(text, sizeof(text), "ready 0 3\nproto %zu\n%snonce %zu\n%sversion 3\n1.2",
		       strlen(proto), proto, strlen(nonce), nonce);
	put(CONTROL, text, (size_t)len);
}

/* ---- steps ---- */

static void ready(const char *value)
{
	send_ready(value, "1");
}

static void ready_proto(const char *value)
{
	send_ready("", value);
}

static void raw(const char *value)
{
	put(CONTROL, value, strlen(value));
}

static void done(const char *value)
{
	send_frame("done", "status", *value != '\0' ? value : "ok");
}

static void result(const char *value)
{
	send_frame("result", "text/plain", value);
}

static void display(const char *value)
{
	send_frame("display", "text/plain", value);
}

/* Many, and no acknowledgement is read. */
static void fill_control(int bytes) /* whole blocks of it */
{
	static char block[4096];

	memset(block, 'r', sizeof(block));
	for (; bytes > 0; bytes -= (int)sizeof(block))
		put(CONTROL, block, sizeof(block));
}

static void long_frame(const char *type, const char *value)
{
	char header[NAME_MAX_LEN];
	int len = snprintf(header, sizeof(header), "%s %llu 1\ntext/plain %d\n", type, id,
			   number(value));

	put(CONTROL, header, (size_t)len);
	fill_control(number(value));
}

/* The first half of it. */
static void half_result(const char *value)
{
	char header[NAME_MAX_LEN];
	int len = snprintf(header, sizeof(header), "result %llu 1\ntext/plain %d\n", id,
			   2 * number(value));

	put(CONTROL, header, (size_t)len);
	fill_control(number(value));
}

static void fill_more(const char *value)
{
	fill_control(number(value));
}

static void long_result(const char *value)
{
	long_frame("result", value);
}

static void long_display(const char *value)
{
	long_frame("display", value);
}

static void displays(const char *value)
{
	for (int i = number(value); i > 0; i--)
		send_frame("display", "text/plain", "x");
}

/* Waits for an acknowledgement. */
static void take_ack(const char *value)
{
	(void)value;
	do
		take_message();
	while (!str_eq(message.type, "ack"));
}

static void set_id(const char *value)
{
	id = strtoull(value, NULL, 10);
}

static void set_action(int signo, void (*handler)(int))
{
	const struct sigaction action = { .sa_handler = handler };

	(void)sigaction(signo, &action, NULL);
}

static void crash(const char *value)
{
	set_action(number(value), SIG_DFL);
	(void)raise(number(value));
}

static void await_interrupt(void)
{
	sigset_t set;
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	while (!interrupted)
		(void)sigsuspend(&none);
	interrupted = 0;
	(void)sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Until the first interrupt, which ends the cell as a driver does. */
static void wait_for_interrupt(const char *value)
{
	(void)value;
	await_interrupt();
	done("interrupted");
}

static void ignore(const char *value)
{
	set_action(number(value), SIG_IGN);
}

static void on_caught(int signo)
{
	char text[] = "<00>";

	text[1] = (char)('0' + signo / 10);
	text[2] = (char)('0' + signo % 10);
	(void)!write(STDOUT_FILENO, text, 4);
}

/* Says so and goes on. */
static void catch_signal(const char *value)
{
	const struct sigaction action = { .sa_handler = on_caught, .sa_flags = SA_RESTART };

	(void)sigaction(number(value), &action, NULL);
}

static void flood(const char *value)
{
	static char block[4096];
	long left = strtol(value, NULL, 10);

	memset(block, 'x', sizeof(block) - 1);
	block[sizeof(block) - 1] = '\n';
	for (; left > 0; left -= (long)sizeof(block))
		put(STDOUT_FILENO, block, sizeof(block));
}

/* Writes as much as the terminal holds while it is not read, then how much that was. */
static void fill(const char *value)
{
	char block[512];
	long total = 0;
	ssize_t n;

	(void)value;
	memset(block, 'f', sizeof(block));
	(void)fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
	while ((n = write(STDOUT_FILENO, block, sizeof(block))) > 0)
		total += n;
	(void)fcntl(STDOUT_FILENO, F_SETFL, 0);
	(void)snprintf(block, sizeof(block), "%ld", total);
	result(block);
}

static void child(const char *value)
{
	if (fork() == 0) {
		(void)close(CONTROL);
		hang(value);
	}
}

static void stop_supervisor(const char *value)
{
	(void)value;
	if (kill(getppid(), SIGSTOP) < 0)
		_exit(97);
}

/* Takes much memory, reports that by making this file, and gives it back at SIGUSR2. */
static void hold(const char *value)
{
	const size_t len = (size_t)96 << 20;
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sigset_t set;
	int signo;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGUSR2);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	if (memory == MAP_FAILED)
		_exit(93);
	memset(memory, 1, len);
	(void)close(open(value, O_WRONLY | O_CREAT, 0600));
	(void)sigwait(&set, &signo);
	(void)munmap(memory, len);
}

static void be_mute(const char *value)
{
	(void)value;
	mute = true;
}

/* ---- saved variables ---- */

static void save_by(const char *value)
{
	free(save);
	save = strdup(value);
}

static void name_by(const char *value)
{
	free(vars);
	vars = strdup(value);
}

static void end_by(const char *value)
{
	free(last);
	last = strdup(value);
}

/* Saves the value as the file. */
static void saved(const char *value)
{
	char text[1024];
	int len = snprintf(text, sizeof(text),
			   "values %llu 1\ndata %zu\n%ssaved %llu 2\nnames 1\n3ms 2\n70", id,
			   strlen(value), value, id);

	send_frame("done", "status", "ok");
	put(VALUES, text, (size_t)len);
}

/* Says that it saves, and writes this. */
static void saves_raw(const char *value)
{
	send_frame("done", "status", "ok");
	put(VALUES, value, strlen(value));
}

static void save_failed(const char *value)
{
	char text[256];
	int len = snprintf(text, sizeof(text), "failed %llu 1\nwhy %zu\n%s", id, strlen(value),
			   value);

	send_frame("done", "status", "ok");
	put(VALUES, text, (size_t)len);
}

static void refuse(const char *value)
{
	char text[256];
	int len = snprintf(text, sizeof(text), "done %llu 2\nstatus 2\nnotext %zu\n%s", id,
			   strlen(value), value);

	put(CONTROL, text, (size_t)len);
}

/* Saves by itself, without an end before an interrupt. */
static void saves_here(const char *value)
{
	await_interrupt();
	refuse(value);
}

/* The file has the lists of names. */
static void restore(void)
{
	char lists[1024];
	char text[2048];
	int fd = open(message.code, O_RDONLY);
	ssize_t n = fd < 0 ? -1 : read(fd, lists, sizeof(lists));
	int len;

	if (n < 0 || (n > 0 && lists[0] == '!')) {
		send_frame("done", "status", "error");
		return;
	}
	len = snprintf(text, sizeof(text), "done %llu 2\nstatus 2\nokrestored %zd\n%.*s", id, n,
		       (int)n, lists);
	put(CONTROL, text, (size_t)len);
}

static const struct verb verbs[] = {
	{ "ready", ready },
	{ "ready-proto", ready_proto },
	{ "print", print },
	{ "raw", raw },
	{ "done", done },
	{ "result", result },
	{ "half-result", half_result },
	{ "fill-control", fill_more },
	{ "long-result", long_result },
	{ "long-display", long_display },
	{ "display", display },
	{ "displays", displays },
	{ "ack", take_ack },
	{ "id", set_id },
	{ "exit", leave },
	{ "crash", crash },
	{ "hang", hang },
	{ "wait", wait_for_interrupt },
	{ "ignore", ignore },
	{ "catch", catch_signal },
	{ "close-control", close_control },
	{ "flood", flood },
	{ "fill", fill },
	{ "read", read_line },
	{ "child", child },
	{ "hold", hold },
	{ "mute", be_mute },
	{ "save", save_by },
	{ "vars", name_by },
	{ "last", end_by },
	{ "saved", saved },
	{ "saves-raw", saves_raw },
	{ "saves-here", saves_here },
	{ "save-failed", save_failed },
	{ "refuse", refuse },
	{ "stop-supervisor", stop_supervisor },
};

static void run_cell(void)
{
	static char code[TEXT_MAX];
	char *rest = code;
	char *step;

	memcpy(code, message.code, sizeof(code));
	id = message.id;
	while ((step = strsep(&rest, "\n")) != NULL)
		if (*step != '\0')
			run_step(verbs, ARRAY_SIZE(verbs), step);
}

static void run_kept(const char *kept)
{
	char step[TEXT_MAX];

	(void)snprintf(step, sizeof(step), "%s", kept);
	run_step(verbs, ARRAY_SIZE(verbs), step);
}

static void end(void)
{
	if (last != NULL)
		run_kept(last);
	_exit(0);
}

static void on_interrupt(int signo)
{
	(void)signo;
	interrupted = 1;
}

int main(int argc, char **argv)
{
	set_action(SIGINT, on_interrupt);
	for (int i = 1; i < argc; i++)
		run_step(verbs, ARRAY_SIZE(verbs), argv[i]);
	for (;;) {
		take_message();
		id = message.id;
		if (str_eq(message.type, "preload") && message.code[0] == '\0')
			send_frame("done", "compiled", "the driver");
		else if (str_eq(message.type, "exec") || str_eq(message.type, "preload"))
			run_cell();
		else if (str_eq(message.type, "save") && save != NULL)
			run_kept(save);
		else if (str_eq(message.type, "quit"))
			end();
		else if (str_eq(message.type, "restore"))
			restore();
		else if (str_eq(message.type, "vars") && vars != NULL)
			run_kept(vars);
		else if (str_eq(message.type, "vars") && !mute)
			send_frame("done", "vars", "x\tint\t\t28\t1\n");
	}
}
