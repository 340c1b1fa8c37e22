/* SPDX-License-Identifier: MIT */
/*
 * wire.h - messages between the server, the launcher, a session's init and its supervisors.
 *
 * Each channel is a SOCK_SEQPACKET pair: one message is one packet, with its descriptors. The type
 * determines the payload's size and the number of descriptors; the receiver checks both. The server
 * makes the channels of init and supervisor and hands one end down. A reply therefore needs no
 * address, and end-of-file means that the process is gone.
 */
#ifndef SANDBOX_WIRE_WIRE_H
#define SANDBOX_WIRE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "sandbox/report.h"
#include "sandbox/wire/plan.h"

enum wire_type {
	WIRE_SANDBOX = 1, /* server to launcher: plan, init's channel, folders (see below) */
	WIRE_OPENED,      /* launcher to server, on init's channel: init's pidfd */
	WIRE_LISTENER,    /* init to server, with policy.proxy, once, before any WIRE_STARTED: a
			     listening socket on 127.0.0.1:3128 of the session */
	WIRE_ZYGOTE_NAMESPACES, /* init of a zygote sandbox to server, once:
				   ZYGOTE_NAMESPACES_NAMESPACES descriptors */
	WIRE_START,  /* server to init: int32_t, 1 if a failed allocation is an error of the code;
			plan, the supervisor's channel; a zygote's channel when it may be forked */
	WIRE_FORK,   /* init to zygote: int32_t policy.own_inodes; WIRE_FORK_FDS descriptors */
	WIRE_FAILED, /* struct err: last message of init or supervisor to server; from a zygote: why
			it did not fork */
	WIRE_STARTED, /* supervisor to server: int32_t, 1 if forked from a zygote; pty master, then
			 the plan's descriptors in order */
	WIRE_EXITED,  /* supervisor to server: int32_t wait status of the interpreter, or with
			 WIRE_OUT_OF_TIME */
	WIRE_GONE,    /* supervisor to server, its last message: no process of the tree is left */
	WIRE_SIGNAL,  /* server to supervisor: int32_t, a signal for every process of the tree */
	WIRE_SIGNAL_ONE,  /* server to supervisor: int32_t, a signal for the interpreter alone */
	WIRE_KILL,        /* server to supervisor: SIGKILL for the tree until no process is left */
	WIRE_COUNT,       /* server to supervisor: request for WIRE_COUNTED */
	WIRE_COUNTED,     /* int32_t live processes below the interpreter */
	WIRE_INPUT,       /* server to supervisor: request for WIRE_INPUT_STATE */
	WIRE_INPUT_STATE, /* struct ttywait_result */
	WIRE_PROBE,       /* server to launcher: the channel for the reply */
	WIRE_REPORT,   /* struct sandbox_report, or WIRE_FAILED instead: the last message there */
	WIRE_MEASURE,  /* server to init: int32_t, 1 if exact; request for WIRE_MEASURED */
	WIRE_MEASURED, /* struct usage of all interpreters and what they started */
	WIRE_KILL_VICTIMS, /* server to init: struct usage_kill_request, whose `busy` are numbers of
			      WIRE_START from 1; request for WIRE_VICTIMS_KILLED */
	WIRE_VICTIMS_KILLED, /* struct usage_killed */
	WIRE_FILE_MAX,       /* server to init: uint64_t bytes, the new maximum size of files */
	WIRE_SEAL,    /* server to init: int32_t, 1 if writable shares become read-only, 0 if they
			 become writable again; request for WIRE_SEALED */
	WIRE_SEALED,  /* no payload; WIRE_FAILED instead if that is not possible */
	WIRE_SCRATCH, /* server to init: request for WIRE_SCRATCH_OPENED */
	WIRE_SCRATCH_OPENED, /* the session's /tmp and /dev/shm; none if it has none of its own */
	WIRE_TYPES
};

enum { WIRE_SCRATCH_FDS = 2 };

/*
 * Set in a wait status of SIGKILL: session code had set itself a processor time limit and reached
 * it.
 */
#define WIRE_OUT_OF_TIME 0x10000

/*
 * The descriptors of a WIRE_SANDBOX in order. Optional ones are present if the policy names them.
 */
enum {
	WIRE_SANDBOX_PLAN,
	WIRE_SANDBOX_CHANNEL,
	WIRE_SANDBOX_DATA, /* always; then spool, packages, shares in the policy's order, the
			      namespaces of a zygote sandbox, the control group */
	WIRE_SANDBOX_FDS_MIN,
	WIRE_SANDBOX_FDS_MAX = WIRE_SANDBOX_FDS_MIN + 5 + POLICY_SHARES_MAX + 1,
};

/* The descriptors of a WIRE_FORK in order. */
enum {
	WIRE_FORK_PLAN,
	WIRE_FORK_CHANNEL, /* the supervisor's */
	WIRE_FORK_POLICY,  /* the plan of the sandbox */
	WIRE_FORK_REPORT, /* a stream: the supervisor's pid as int32_t; then init's byte releases it
			   */
	WIRE_FORK_USER_NS, /* the second user namespace, which the interpreter joins last */
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

/* Closes the descriptors that were not taken out of `fds`. */
void wire_message_release(struct wire_message *message);
#define cleanup_wire __attribute__((cleanup(wire_message_release)))

/*
 * Makes a connected pair of close-on-exec sockets, which the caller closes. Returns -1 and sets
 * *err.
 */
int wire_pair(int ret_pair[2], struct err *err) MUST_CHECK;
/*
 * Sends one message and never blocks. Returns -1 and sets *err: ERR_BUSY when the other side does
 * not read, or when the user has more descriptors in flight than RLIMIT_NOFILE allows. The
 * descriptors stay the caller's.
 */
int wire_send(int channel, enum wire_type type, const void *payload, const int *fds,
	      size_t fd_count, struct err *err) MUST_CHECK;
/*
 * Sends one message without descriptors, for callers that cannot report errors. The receiver
 * notices a broken channel by its end.
 */
void wire_notify(int channel, enum wire_type type, const void *payload);
/*
 * Receives one message and never blocks. Returns 1 with a message, which the caller releases; 0 at
 * the channel's end; -1 and sets *err: ERR_BUSY when there is none, ERR_INVALID when it is
 * malformed.
 */
int wire_receive(int channel, struct wire_message *ret_message, struct err *err) MUST_CHECK;
/* Returns the error of a WIRE_FAILED, with its code and text made valid. */
void wire_get_err(const struct wire_message *message, struct err *ret_err);
/* Returns the report of a WIRE_REPORT, checked. Returns -1 and sets *err (ERR_INVALID). */
int wire_get_report(const struct wire_message *message, struct sandbox_report *ret_report,
		    struct err *err) MUST_CHECK;
/* Returns the number of a message that carries one. */
int32_t wire_get_number(const struct wire_message *message);

#endif
