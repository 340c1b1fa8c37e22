/* SPDX-License-Identifier: MIT */
/*
 * wire.h - messages between the server, the launcher, a session's init and its supervisors.
 *
 * Each link is a SOCK_SEQPACKET pair: one message, one packet, with its descriptors. A message
 * is a header and a payload whose size and number of descriptors follow from the type; the
 * receiver checks all of it again. The channels of init and supervisor are made by the server and
 * handed down, so an answer needs no address, and end-of-file means that the process is gone.
 */
#ifndef SANDBOX_WIRE_WIRE_H
#define SANDBOX_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/report.h"
#include "sandbox/wire/plan.h"

enum wire_type {
	WIRE_SANDBOX = 1, /* server to launcher; plan, init's channel, the folders: below */
	WIRE_OPENED,      /* launcher to server, on init's channel; init's pidfd */
	WIRE_LISTENER,    /* init to server; with policy.proxy, once, before any WIRE_STARTED: a
			     listening stream socket on 127.0.0.1:3128 of the session */
	WIRE_ZYGOTE_NAMESPACES, /* init of a nursery to server, once; its
				   ZYGOTE_NAMESPACES_NAMESPACES */
	WIRE_START,      /* server to init; plan, the supervisor's channel; and when the interpreter
			    may be forked from it, that of a parent */
	WIRE_FORK,       /* init to parent; int32_t, its policy.own_inodes; WIRE_FORK_FDS below */
	WIRE_FAILED,     /* struct err: init or supervisor to server, its last message; parent to
			    server, why there is no copy */
	WIRE_STARTED,    /* supervisor to server; int32_t, not 0: a copy of a parent; pty master,
			    then the plan's descriptors in order */
	WIRE_EXITED,     /* int32_t wait status of the interpreter, WIRE_OUT_OF_TIME */
	WIRE_GONE,       /* nothing of the tree is left; the supervisor's last message */
	WIRE_SIGNAL,     /* server to supervisor; int32_t, to every process of the tree */
	WIRE_SIGNAL_ONE, /* int32_t, to the interpreter alone */
	WIRE_KILL,       /* SIGKILL until none is left */
	WIRE_COUNT,      /* answered by WIRE_COUNTED */
	WIRE_COUNTED,    /* int32_t live processes beside the interpreter */
	WIRE_INPUT,      /* answered by WIRE_INPUT_STATE */
	WIRE_INPUT_STATE,  /* struct ttywait_result */
	WIRE_PROBE,        /* server to launcher; the channel of the answer */
	WIRE_REPORT,       /* struct sandbox_report, or WIRE_FAILED; the last message there */
	WIRE_MEASURE,      /* server to init; int32_t, not 0: exact; answered by WIRE_MEASURED */
	WIRE_MEASURED,     /* struct usage, of all interpreters and what they started */
	WIRE_KILL_LARGEST, /* struct usage_kill_request, whose `busy` are numbers of WIRE_START, the
			 first is 1; answered by WIRE_LARGEST_KILLED */
	WIRE_LARGEST_KILLED, /* struct usage_killed: which ones */
	WIRE_FILE_MAX, /* server to init; uint64_t bytes that files of processes may have now */
	WIRE_TYPES
};

/* Beside a wait status of SIGKILL: a limit of processor time that code had set itself was reached.
 */
#define WIRE_OUT_OF_TIME 0x10000

/* The descriptors of a WIRE_SANDBOX, in this order, each when the policy names it. */
enum {
	WIRE_SANDBOX_PLAN,
	WIRE_SANDBOX_CHANNEL,
	WIRE_SANDBOX_DATA, /* always, then spool, packages, the shares in the policy's order, then
			      ZYGOTE_NAMESPACES_NAMESPACES of a nested one, the control group */
	WIRE_SANDBOX_FDS_MIN,
	WIRE_SANDBOX_FDS_MAX = WIRE_SANDBOX_FDS_MIN + 5 + POLICY_SHARES_MAX + 1,
};

/* The descriptors of a WIRE_FORK, in this order. */
enum {
	WIRE_FORK_PLAN,
	WIRE_FORK_CHANNEL, /* the supervisor's */
	WIRE_FORK_POLICY,  /* the plan of the sandbox */
	WIRE_FORK_REPORT,  /* a stream: int32_t the supervisor's pid; then a byte lets it go on */
	WIRE_FORK_USER_NS, /* that the interpreter joins at last */
	WIRE_FORK_NAMESPACES,
	WIRE_FORK_FDS = WIRE_FORK_NAMESPACES + 7, /* NAMESPACES_ALL */
};

enum {
	WIRE_PAYLOAD_MAX = 1024,
	WIRE_FDS_MAX = WIRE_SANDBOX_FDS_MAX,
};
_Static_assert(1 + PLAN_DESCRIPTORS_MAX <= WIRE_FDS_MAX, "a started interpreter's fit");

struct wire_message {
	enum wire_type type;
	size_t len;
	_Alignas(8) unsigned char payload[WIRE_PAYLOAD_MAX];
	int fds[WIRE_FDS_MAX]; /* owned; -1 once taken */
	size_t fd_count;
};

/* Closes what was not taken out of `fds`. */
void wire_message_release(struct wire_message *message);
#define cleanup_wire __attribute__((cleanup(wire_message_release)))

/* A connected close-on-exec pair. */
int wire_pair(int ret_pair[2], struct err *err) MUST_CHECK;
/*
 * Never blocks: ERR_BUSY when the other side does not read, or when more descriptors of the user
 * are on their way than RLIMIT_NOFILE allows. The descriptors stay the caller's.
 */
int wire_send(int channel, enum wire_type type, const void *payload, const int *fds,
	      size_t fd_count, struct err *err) MUST_CHECK;
/* The same without descriptors, for who has nobody to complain to: the channel's end tells. */
void wire_notify(int channel, enum wire_type type, const void *payload);
/*
 * Never blocks. 1 with a message (the caller releases it), 0 at the end of the channel, -1 with
 * ERR_BUSY when nothing is there, with ERR_INVALID when what came is no message.
 */
int wire_receive(int channel, struct wire_message *ret_message, struct err *err) MUST_CHECK;
/* The payload of a WIRE_FAILED, made fit to print. */
void wire_get_err(const struct wire_message *message, struct err *ret_err);
/* The payload of a WIRE_REPORT: checked and fit to print, or ERR_INVALID. */
int wire_get_report(const struct wire_message *message, struct sandbox_report *ret_report,
		    struct err *err) MUST_CHECK;
/* The payload of the types that carry one number. */
int32_t wire_get_number(const struct wire_message *message);

#endif
