/* SPDX-License-Identifier: MIT */
/*
 * interpreter.c - the channel to an interpreter's supervisor, and the pty that the supervisor made.
 *
 * Requests to a supervisor are answered in order, so open questions form a queue. The end of the
 * channel means that the supervisor is dead. Callbacks that are still due then (open questions,
 * failed or exited, gone) are made one per turn of the loop. Each of them may free the interpreter.
 */
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/list.h"
#include "base/mem.h"
#include "proc/proc_internal.h"
#include "sandbox/process/terminal.h"
#include "sandbox/process/ttywait.h"

enum { DEFAULT_ROWS = 40, DEFAULT_COLUMNS = 120 };

enum state {
	STARTING,
	RUNNING,
	EXITED, /* children may live on */
	OVER,   /* `failed` or `gone` has been called */
};

/* A request to the supervisor that is not answered yet; answers come in order. */
struct question {
	struct list node;
	void (*count)(struct interpreter *interpreter, int count);
	void (*input)(struct interpreter *interpreter, const struct input_state *look);
};

struct interpreter {
	struct loop *loop;
	struct sandbox *sandbox;
	const struct interpreter_handlers *handlers;
	void *data;
	enum state state;
	int number;
	int supervisor; /* the channel; -1 once it ended */
	struct loop_io io;
	struct loop_defer
		report_defer; /* makes the callbacks that are due after the channel's end */
	struct list questions;
	struct err err; /* the reason for `failed` */
	bool forked;
	bool lost_supervisor;
	int pty;
	int slave;
	int ends[PLAN_DESCRIPTORS_MAX];
	struct plan_start spec; /* only the terminal's size and the descriptors */
};

/* ---- questions ---- */

static struct question *take_question(struct interpreter *interpreter)
{
	struct question *question;

	if (list_empty(&interpreter->questions))
		return NULL;
	question = list_entry(interpreter->questions.next, struct question, node);
	list_remove(&question->node);
	return question;
}

/* Frees the question and calls its callback, which may free the interpreter. */
static void answer_question(struct interpreter *interpreter, struct question *query_own, int count,
			    const struct input_state *look)
{
	struct question question = *query_own;

	free(query_own);
	if (question.count != NULL)
		question.count(interpreter, count);
	else
		question.input(interpreter, look);
}

/* ---- the end ---- */

/*
 * Makes the next callback that is due. One a turn, because each may free the interpreter (guarantee
 * 1 of event/loop.h).
 */
static void on_report_defer(struct loop_defer *defer)
{
	struct interpreter *interpreter = container_of(defer, struct interpreter, report_defer);
	const struct interpreter_handlers *handlers = interpreter->handlers;
	struct question *question = take_question(interpreter);

	if (question != NULL || interpreter->state == RUNNING)
		loop_defer_start(interpreter->loop, defer, on_report_defer);
	if (question != NULL) {
		answer_question(interpreter, question, 0, &(struct input_state){ .thread = 0 });
	} else if (interpreter->state == STARTING) {
		interpreter->state = OVER;
		handlers->failed(interpreter, &interpreter->err);
	} else if (interpreter->state == RUNNING) {
		/* The supervisor was killed, and the kernel killed the interpreter with it. */
		interpreter->state = EXITED;
		interpreter->lost_supervisor = true;
		handlers->exited(interpreter, SIGKILL);
	} else if (interpreter->state == EXITED) {
		interpreter->state = OVER;
		handlers->gone(interpreter);
	}
}

static void end_channel(struct interpreter *interpreter)
{
	loop_io_stop(&interpreter->io);
	fd_close(&interpreter->supervisor);
	loop_defer_start(interpreter->loop, &interpreter->report_defer, on_report_defer);
}

static void end_by_eof(struct interpreter *interpreter)
{
	if (interpreter->state == STARTING &&
	    !sandbox_get_err(interpreter->sandbox, &interpreter->err)) {
		interpreter->lost_supervisor = true;
		(void)err_set(&interpreter->err, ERR_SYSTEM,
			      "the process that starts interpreters has died");
	}
	end_channel(interpreter);
}

/* ---- messages of the supervisor ---- */

static bool is_pipe(int fd, int access_mode)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) &&
	       (fcntl(fd, F_GETFL) & O_ACCMODE) == access_mode;
}

static bool is_socket(int fd, int expected)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == expected;
}

static bool is_end_of(enum plan_descriptor_kind kind, int fd)
{
	if (kind == PLAN_SOCKET)
		return is_socket(fd, SOCK_STREAM);
	if (kind == PLAN_PACKETS)
		return is_socket(fd, SOCK_SEQPACKET);
	return is_pipe(fd, kind == PLAN_PIPE_IN ? O_WRONLY : O_RDONLY);
}

static int take_pty(struct interpreter *interpreter, struct wire_message *message, struct err *err)
{
	unsigned int number;

	/* Only a pty master answers this. */
	if (ioctl(message->fds[0], TIOCGPTN, &number) < 0)
		return err_sys(err, "the launcher sent no terminal");
	interpreter->slave = terminal_open_slave(message->fds[0], err);
	if (interpreter->slave < 0 || fd_set_nonblock(message->fds[0], err) < 0)
		return -1;
	interpreter->pty = fd_steal(&message->fds[0]);
	return 0;
}

static int take_descriptors(struct interpreter *interpreter, struct wire_message *message,
			    struct err *err)
{
	const struct plan_start *spec = &interpreter->spec;

	if (message->fd_count != 1 + spec->descriptor_count)
		return err_set(err, ERR_INTERNAL, "the launcher sent %zu descriptors",
			       message->fd_count);
	if (take_pty(interpreter, message, err) < 0)
		return -1;
	for (size_t i = 0; i < spec->descriptor_count; i++) {
		int *fd = &message->fds[1 + i];

		if (!is_end_of(spec->descriptors[i].kind, *fd))
			return err_set(err, ERR_INTERNAL, "the launcher sent no fit '%s'",
				       spec->descriptors[i].name);
		if (fd_set_nonblock(*fd, err) < 0)
			return -1;
		interpreter->ends[i] = fd_steal(fd);
	}
	return 0;
}

static void on_started(struct interpreter *interpreter, struct wire_message *message)
{
	if (take_descriptors(interpreter, message, &interpreter->err) < 0) {
		end_channel(interpreter);
		return;
	}
	/*
	 * Messages of the sandbox's init from before this start may be unread in its own channel.
	 */
	sandbox_catch_up(interpreter->sandbox);
	interpreter->forked = wire_get_number(message) != 0;
	interpreter->state = RUNNING;
	interpreter->handlers->started(interpreter);
}

/*
 * Sets the flags that depend on the terminal's mode. With ICANON off as well, a line editor does
 * its own echo.
 */
static void read_mode(const struct interpreter *interpreter, struct input_state *look)
{
	struct termios settings;

	if (tcgetattr(interpreter->slave, &settings) < 0)
		return;
	look->secret = (settings.c_lflag & (ICANON | ECHO)) == ICANON;
	look->raw = (settings.c_lflag & ICANON) == 0;
}

static enum input_wait input_wait_of(int32_t state)
{
	switch (state) {
	case TTYWAIT_YES:
		return INPUT_AWAITED;
	case TTYWAIT_STOPPED:
		return INPUT_AWAITED_BACKGROUND;
	case TTYWAIT_GUESS:
		return INPUT_MAYBE_AWAITED;
	default:
		return INPUT_NOT_AWAITED;
	}
}

static struct input_state read_look(const struct interpreter *interpreter,
				    const struct wire_message *message)
{
	struct ttywait_result result;
	struct input_state look = { .thread = 0 };

	memcpy(&result, message->payload, sizeof(result));
	look.wait = input_wait_of(result.state);
	if (look.wait != INPUT_NOT_AWAITED)
		read_mode(interpreter, &look);
	look.watches = result.watches != 0;
	look.brief = result.brief != 0;
	look.child = result.child != 0;
	look.thread = result.thread;
	look.ran = result.ran;
	_Static_assert(sizeof(look.name) == sizeof(result.name), "names fit");
	memcpy(look.name, result.name, sizeof(look.name) - 1);
	return look;
}

static void on_reply(struct interpreter *interpreter, const struct wire_message *message)
{
	struct question *question = take_question(interpreter);

	if (question != NULL && question->count != NULL && message->type == WIRE_COUNTED) {
		answer_question(interpreter, question, wire_get_number(message), NULL);
	} else if (question != NULL && question->input != NULL &&
		   message->type == WIRE_INPUT_STATE) {
		struct input_state look = read_look(interpreter, message);

		answer_question(interpreter, question, 0, &look);
	} else {
		free(question);
		end_channel(interpreter);
	}
}

static void on_supervisor_event(struct interpreter *interpreter, struct wire_message *message)
{
	if (interpreter->state == STARTING && message->type == WIRE_STARTED) {
		on_started(interpreter, message);
	} else if (interpreter->state == STARTING && message->type == WIRE_FAILED) {
		wire_get_err(message, &interpreter->err);
		end_channel(interpreter);
	} else if (interpreter->state == RUNNING && message->type == WIRE_EXITED) {
		interpreter->state = EXITED;
		interpreter->handlers->exited(interpreter, wire_get_number(message));
	} else if (message->type == WIRE_COUNTED || message->type == WIRE_INPUT_STATE) {
		on_reply(interpreter, message);
	} else {
		/*
		 * WIRE_GONE, or a message that no real supervisor sends: the channel is used no
		 * more.
		 */
		end_by_eof(interpreter);
	}
}

static void on_supervisor_message(struct loop_io *io, uint32_t events)
{
	struct interpreter *interpreter = container_of(io, struct interpreter, io);
	cleanup_wire struct wire_message message = { 0 };
	struct err err;
	int got = wire_receive(interpreter->supervisor, &message, &err);

	(void)events;
	if (got == 1)
		on_supervisor_event(interpreter, &message);
	else if (got == 0 || err.code != ERR_BUSY)
		end_by_eof(interpreter);
}

/* ---- starting ---- */

static void fill_start(struct plan_start *ret_start, const struct interpreter_spec *spec)
{
	static const struct plan_descriptor control = { "control", 3, PLAN_SOCKET };
	const struct plan_descriptor *descriptors = spec->descriptors;
	size_t count = spec->descriptor_count;

	if (descriptors == NULL) {
		descriptors = &control;
		count = 1;
	}
	assert(count <= PLAN_DESCRIPTORS_MAX);
	*ret_start = (struct plan_start){
		.argv = (char **)(uintptr_t)spec->argv,
		.envp = (char **)(uintptr_t)spec->envp,
		.cwd = spec->cwd != NULL ? spec->cwd : "",
		.rows = spec->rows != 0 ? spec->rows : DEFAULT_ROWS,
		.columns = spec->columns != 0 ? spec->columns : DEFAULT_COLUMNS,
		.descriptor_count = count,
	};
	memcpy(ret_start->descriptors, descriptors, count * sizeof(*descriptors));
}

static int seal_start(const struct plan_start *start, struct err *err)
{
	cleanup_buf struct buf plan;

	plan_buf_init(&plan);
	if (plan_write_start(&plan, start, err) < 0)
		return -1;
	return plan_seal(&plan, err);
}

static int request_start(struct interpreter *interpreter, const struct interpreter_spec *spec,
			 struct err *err)
{
	cleanup_fd int plan = seal_start(&interpreter->spec, err);
	cleanup_fd int theirs = -1;
	const int fork_from =
		spec->zygote != NULL ? interpreter_descriptor(spec->zygote, "fork") : -1;
	int pair[2];

	if (plan < 0 || wire_pair(pair, err) < 0)
		return -1;
	interpreter->supervisor = pair[0];
	theirs = pair[1];
	interpreter->number =
		sandbox_request(interpreter->sandbox, spec->fails_softly,
				(int[]){ plan, theirs, fork_from }, fork_from >= 0 ? 3 : 2, err);
	if (interpreter->number < 0)
		return -1;
	return loop_io_start(interpreter->loop, &interpreter->io, interpreter->supervisor, EPOLLIN,
			     on_supervisor_message, err);
}

struct interpreter *interpreter_start(struct sandbox *sandbox, const struct interpreter_spec *spec,
				      const struct interpreter_handlers *handlers, void *data)
{
	struct interpreter *interpreter = xcalloc(1, sizeof(*interpreter));

	interpreter->loop = sandbox_loop(sandbox);
	interpreter->sandbox = sandbox;
	interpreter->handlers = handlers;
	interpreter->data = data;
	interpreter->supervisor = -1;
	interpreter->pty = -1;
	interpreter->slave = -1;
	for (size_t i = 0; i < PLAN_DESCRIPTORS_MAX; i++)
		interpreter->ends[i] = -1;
	list_init(&interpreter->questions);
	fill_start(&interpreter->spec, spec);
	if (request_start(interpreter, spec, &interpreter->err) < 0)
		end_channel(interpreter);
	/* These were borrowed for the call. */
	interpreter->spec.argv = NULL;
	interpreter->spec.envp = NULL;
	interpreter->spec.cwd = NULL;
	return interpreter;
}

void interpreter_free(struct interpreter *interpreter)
{
	struct question *question;

	if (interpreter == NULL)
		return;
	loop_defer_stop(&interpreter->report_defer);
	loop_io_stop(&interpreter->io);
	/* At the end of its channel the supervisor kills the tree. */
	fd_close(&interpreter->supervisor);
	fd_close(&interpreter->pty);
	fd_close(&interpreter->slave);
	for (size_t i = 0; i < PLAN_DESCRIPTORS_MAX; i++)
		fd_close(&interpreter->ends[i]);
	while ((question = take_question(interpreter)) != NULL)
		free(question);
	free(interpreter);
}

/* ---- public functions ---- */

void *interpreter_data(const struct interpreter *interpreter)
{
	return interpreter->data;
}

int interpreter_number(const struct interpreter *interpreter)
{
	return interpreter->number;
}

bool interpreter_is_forked(const struct interpreter *interpreter)
{
	return interpreter->forked;
}

bool interpreter_lost_supervisor(const struct interpreter *interpreter)
{
	return interpreter->lost_supervisor;
}

int interpreter_pty(const struct interpreter *interpreter)
{
	return interpreter->pty;
}

int interpreter_slave(const struct interpreter *interpreter)
{
	return interpreter->slave;
}

int interpreter_descriptor(const struct interpreter *interpreter, const char *name)
{
	const struct plan_start *spec = &interpreter->spec;

	for (size_t i = 0; i < spec->descriptor_count; i++)
		if (str_eq(spec->descriptors[i].name, name))
			return interpreter->ends[i];
	return -1;
}

int interpreter_control(const struct interpreter *interpreter)
{
	return interpreter_descriptor(interpreter, "control");
}

int interpreter_reset_terminal(struct interpreter *interpreter, struct err *err)
{
	return terminal_reset(interpreter->pty, interpreter->spec.rows, interpreter->spec.columns,
			      err);
}

bool interpreter_unread_input(const struct interpreter *interpreter)
{
	struct pollfd slave = { .fd = interpreter->slave, .events = POLLIN };
	int unread = 0;

	/*
	 * poll() first waits until written input has passed the line discipline; FIONREAD does not
	 * count input before that. FIONREAD alone sees input that is shorter than the reader's
	 * VMIN.
	 */
	if (poll(&slave, 1, 0) == 1 && (slave.revents & POLLIN) != 0)
		return true;
	return ioctl(interpreter->slave, FIONREAD, &unread) == 0 && unread > 0;
}

void interpreter_restart_output(struct interpreter *interpreter)
{
	/*
	 * On the slave: TCOON on the master would restart the other direction. There may be no
	 * output to restart.
	 */
	(void)tcflow(interpreter->slave, TCOON);
}

void interpreter_signal_foreground(struct interpreter *interpreter, int signo)
{
	/* Fails only when no terminal is left; there is nothing to signal then. */
	(void)ioctl(interpreter->pty, TIOCSIG, signo);
}

pid_t interpreter_foreground(const struct interpreter *interpreter)
{
	pid_t group = tcgetpgrp(interpreter->pty);

	return group > 0 ? group : 0;
}

void interpreter_signal(struct interpreter *interpreter, int signo)
{
	int32_t number = signo;

	wire_notify(interpreter->supervisor, WIRE_SIGNAL_ONE, &number);
}

void interpreter_signal_tree(struct interpreter *interpreter, int signo)
{
	int32_t number = signo;

	if (signo == SIGKILL)
		wire_notify(interpreter->supervisor, WIRE_KILL, NULL);
	else
		wire_notify(interpreter->supervisor, WIRE_SIGNAL, &number);
}

static void send_question(struct interpreter *interpreter, enum wire_type type,
			  const struct question *question)
{
	struct question *copy = xcalloc(1, sizeof(*copy));

	*copy = *question;
	list_init(&copy->node);
	list_append(&interpreter->questions, &copy->node);
	if (interpreter->supervisor >= 0)
		wire_notify(interpreter->supervisor, type, NULL);
	else
		loop_defer_start(interpreter->loop, &interpreter->report_defer, on_report_defer);
}

void interpreter_count_children(struct interpreter *interpreter,
				void (*done)(struct interpreter *interpreter, int count))
{
	send_question(interpreter, WIRE_COUNT, &(struct question){ .count = done });
}

void interpreter_check_input(struct interpreter *interpreter,
			     void (*done)(struct interpreter *interpreter,
					  const struct input_state *look))
{
	send_question(interpreter, WIRE_INPUT, &(struct question){ .input = done });
}
