/* SPDX-License-Identifier: MIT */
#include "sandbox/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	SPANS_MAX = 256,
	JUMP_MAX = 255, /* what a condition can skip */
};

#define NAMESPACE_FLAGS                                                                            \
	(CLONE_NEWTIME | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |             \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define SET_ID_BITS (S_ISUID | S_ISGID)
/* O_TMPFILE's own bit: its other one, O_DIRECTORY, differs between architectures. */
#define CREATE_BITS (O_CREAT | 020000000)
#define SOCKET_TYPE_BITS 0xf

/* Numbers from `first` to the next span's; the last one ends at the highest there can be. */
struct span {
	uint32_t first;
	enum seccomp_verdict verdict;
};

/* Those of seccomp_options.inet_sockets. */
static const uint32_t inet_families[] = { AF_INET, AF_INET6, AF_NETLINK };

struct builder {
	struct seccomp_program *program;
	const struct seccomp_options *options;
	struct span spans[SPANS_MAX];
	size_t span_count;
	bool overflow;
};

/* ---- instructions ---- */

static void put(struct builder *builder, uint16_t code, uint32_t k, uint8_t if_true,
		uint8_t if_false)
{
	struct seccomp_program *program = builder->program;

	if (program->len == SECCOMP_CODE_MAX) {
		builder->overflow = true;
		return;
	}
	program->code[program->len++] = (struct sock_filter){ code, if_true, if_false, k };
}

static void put_allow(struct builder *builder)
{
	put(builder, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
}

static void put_errno(struct builder *builder, int error)
{
	put(builder, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error, 0, 0);
}

static void put_load(struct builder *builder, size_t offset)
{
	put(builder, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

/* The low half: both architectures are little-endian. */
static void put_load_argument(struct builder *builder, size_t argument)
{
	put_load(builder, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t));
}

/* Runs the next instruction when what was loaded is `value`, else the one after it. */
static void put_if_equal(struct builder *builder, uint32_t value)
{
	put(builder, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
}

static void put_if_any_bit(struct builder *builder, uint32_t bits)
{
	put(builder, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
}

/* ---- what happens to one call ---- */

static void refuse_bits(struct builder *builder, size_t argument, uint32_t bits)
{
	put_load_argument(builder, argument);
	put_if_any_bit(builder, bits);
	put_errno(builder, EPERM);
	put_allow(builder);
}

static void refuse_value(struct builder *builder, size_t argument, uint32_t value)
{
	put_load_argument(builder, argument);
	put_if_equal(builder, value);
	put_errno(builder, EPERM);
}

static void allow_zero(struct builder *builder, size_t argument)
{
	put_load_argument(builder, argument);
	put_if_equal(builder, 0);
	put_allow(builder);
	put_errno(builder, EPERM);
}

/* Without such a flag the mode is what happens to be in the register. */
static void put_create(struct builder *builder, size_t mode)
{
	put_load_argument(builder, mode - 1);
	put(builder, BPF_JMP | BPF_JSET | BPF_K, CREATE_BITS, 1, 0);
	put_allow(builder);
	refuse_bits(builder, mode, SET_ID_BITS);
}

static void put_ioctl(struct builder *builder)
{
	/* TIOCSTI CVE-2017-5226, TIOCLINUX CVE-2023-28100; a line discipline is a module. */
	static const uint32_t requests[] = { TIOCSTI, TIOCLINUX, TIOCSETD };

	put_load_argument(builder, 1);
	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		put_if_equal(builder, requests[i]);
		put_errno(builder, EPERM);
	}
	put_allow(builder);
}

/* Where a jump skips `steps` more instructions when what was loaded is `value`. */
static void skip_if_equal(struct builder *builder, uint32_t value, uint8_t steps)
{
	put(builder, BPF_JMP | BPF_JEQ | BPF_K, value, steps, 0);
}

static void put_load_type(struct builder *builder)
{
	put_load_argument(builder, 1);
	put(builder, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_BITS, 0, 0);
}

static void put_only(struct builder *builder, const uint32_t *values, size_t count, int error)
{
	for (size_t i = 0; i < count; i++)
		skip_if_equal(builder, values[i], (uint8_t)(count - i));
	put_errno(builder, error);
}

/*
 * Of the internet's protocols those that everybody uses, and of netlink what tells about
 * interfaces: for any other the kernel may load a module (SCTP, DCCP, L2TP, netfilter).
 */
static void put_protocols(struct builder *builder)
{
	static const uint32_t types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW };
	static const uint32_t protocols[] = { IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP,
					      IPPROTO_ICMPV6 };

	put_load_type(builder);
	put_only(builder, types, ARRAY_SIZE(types), ESOCKTNOSUPPORT);
	put_load_argument(builder, 2);
	put_only(builder, protocols, ARRAY_SIZE(protocols), EPROTONOSUPPORT);
	put_allow(builder);
}

static void put_netlink(struct builder *builder)
{
	put_load_argument(builder, 2);
	put_if_equal(builder, NETLINK_ROUTE);
	put_allow(builder);
	put_errno(builder, EPROTONOSUPPORT);
}

static void put_socket(struct builder *builder)
{
	const struct seccomp_options *options = builder->options;

	put_load_argument(builder, 0);
	put_if_equal(builder, AF_UNIX);
	if (options->unix_sockets)
		put_allow(builder);
	else
		put_errno(builder, EACCES);
	if (options->inet_sockets) {
		/* The block for netlink has four instructions. */
		put(builder, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4);
		put_netlink(builder);
		skip_if_equal(builder, AF_INET, 2);
		skip_if_equal(builder, AF_INET6, 1);
		put_errno(builder, EAFNOSUPPORT);
		put_protocols(builder);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(inet_families); i++) {
		put_if_equal(builder, inet_families[i]);
		put_errno(builder, EACCES);
	}
	put_errno(builder, EAFNOSUPPORT);
}

/*
 * A datagram end of a pair can send to any address later on, so that pairs would be sockets for
 * whoever may have none; SOCK_RAW is the same type under another name.
 */
static void put_socketpair(struct builder *builder)
{
	put_load_argument(builder, 0);
	skip_if_equal(builder, AF_UNIX, 1);
	put_errno(builder, EAFNOSUPPORT);
	if (!builder->options->unix_sockets) {
		put_load_type(builder);
		put_if_equal(builder, SOCK_DGRAM);
		put_errno(builder, EACCES);
		put_if_equal(builder, SOCK_RAW);
		put_errno(builder, EACCES);
	}
	put_allow(builder);
}

static void put_personality(struct builder *builder)
{
	put_load_argument(builder, 0);
	put_if_equal(builder, PER_LINUX);
	put_allow(builder);
	put_if_equal(builder, UINT32_MAX); /* asks */
	put_allow(builder);
	put_errno(builder, EPERM);
}

static void put_own(struct builder *builder, enum seccomp_verdict verdict)
{
	if (!builder->options->foreign_pids) {
		put_allow(builder);
		return;
	}
	/* "0" is the caller, but for a user it means all that the user has. */
	if (verdict == SECCOMP_OWN_PRIORITY)
		refuse_value(builder, 0, PRIO_USER);
	if (verdict == SECCOMP_OWN_IO_PRIORITY)
		refuse_value(builder, 0, IOPRIO_WHO_USER);
	allow_zero(builder, verdict == SECCOMP_OWN_PID ? 0 : 1);
}

/*
 * The limit of core dumps stays at 1 (sandbox/payload.c), and who sets it is told that it is done:
 * many programs forbid themselves dumps, and end when they cannot.
 */
static void put_core_limit(struct builder *builder, size_t resource)
{
	put_load_argument(builder, resource);
	put(builder, BPF_JMP | BPF_JEQ | BPF_K, RLIMIT_CORE, 1, 0);
	put_allow(builder);
}

/* Both halves of a pointer. */
static void put_if_null(struct builder *builder, size_t argument, bool allowed)
{
	put_load_argument(builder, argument);
	put(builder, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	put_load(builder, offsetof(struct seccomp_data, args) + argument * sizeof(uint64_t) +
				  sizeof(uint32_t));
	put_if_equal(builder, 0);
	if (allowed)
		put_allow(builder);
	else
		put_errno(builder, 0);
}

static void put_prlimit(struct builder *builder)
{
	if (!builder->options->foreign_pids)
		put_if_null(builder, 2, true);
	put_load_argument(builder, 0);
	put(builder, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	put_errno(builder, EPERM);
	if (builder->options->foreign_pids)
		put_if_null(builder, 2, true);
	put_core_limit(builder, 1);
	/* Nobody would fill in the old one. */
	put_if_null(builder, 3, false);
	put_errno(builder, EPERM);
}

static void put_verdict(struct builder *builder, enum seccomp_verdict verdict)
{
	switch (verdict) {
	case SECCOMP_ALLOW:
		put_allow(builder);
		break;
	case SECCOMP_REFUSE:
		put_errno(builder, EPERM);
		break;
	case SECCOMP_ABSENT:
		put_errno(builder, ENOSYS);
		break;
	case SECCOMP_NO_NAMESPACES:
		refuse_bits(builder, 0, NAMESPACE_FLAGS);
		break;
	case SECCOMP_NO_INJECTION:
		put_ioctl(builder);
		break;
	case SECCOMP_FAMILIES:
		put_socket(builder);
		break;
	case SECCOMP_PAIRS:
		put_socketpair(builder);
		break;
	case SECCOMP_MODE_1:
	case SECCOMP_MODE_2:
		refuse_bits(builder, verdict - SECCOMP_MODE_1 + 1, SET_ID_BITS);
		break;
	case SECCOMP_CREATE_MODE_2:
	case SECCOMP_CREATE_MODE_3:
		put_create(builder, verdict - SECCOMP_CREATE_MODE_2 + 2);
		break;
	case SECCOMP_PERSONALITY:
		put_personality(builder);
		break;
	case SECCOMP_OWN_PID:
	case SECCOMP_OWN_PRIORITY:
	case SECCOMP_OWN_IO_PRIORITY:
		put_own(builder, verdict);
		break;
	case SECCOMP_SET_LIMIT:
		put_prlimit(builder);
		break;
	case SECCOMP_OLD_SET_LIMIT:
		put_core_limit(builder, 0);
		put_errno(builder, 0);
		break;
	case SECCOMP_VERDICTS:
		builder->overflow = true;
	}
}

/* ---- the search for a number ---- */

/*
 * The number is searched by halves. The kernel runs the filter once for every number when it is
 * loaded, to learn which calls are always allowed: a list instead of a tree costs 0.1 ms there.
 */
static void put_spans(struct builder *builder, const struct span *spans, size_t count)
{
	struct seccomp_program *program = builder->program;
	unsigned short at = program->len;
	size_t half = count / 2;
	int skip;

	if (count == 1) {
		put_verdict(builder, spans[0].verdict);
		return;
	}
	put(builder, BPF_JMP | BPF_JGE | BPF_K, spans[half].first, 0, 0);
	put_spans(builder, spans, half);
	skip = program->len - at - 1;
	if (skip > JUMP_MAX)
		builder->overflow = true;
	program->code[at].jt = (uint8_t)skip;
	put_spans(builder, spans + half, count - half);
}

static int compare_spans(const void *a, const void *b)
{
	const struct span *one = a;
	const struct span *two = b;

	return (one->first > two->first) - (one->first < two->first);
}

static void add_span(struct builder *builder, uint32_t first, enum seccomp_verdict verdict)
{
	if (builder->span_count == SPANS_MAX) {
		builder->overflow = true;
		return;
	}
	builder->spans[builder->span_count++] = (struct span){ first, verdict };
}

/* Sorted numbers of the architecture's rules. */
static size_t collect(struct span *ret_rules, enum seccomp_arch arch)
{
	size_t count = 0;

	for (size_t i = 0; i < seccomp_rule_count && count < SPANS_MAX; i++)
		if (seccomp_rules[i].numbers[arch] != SECCOMP_NONE)
			ret_rules[count++] =
				(struct span){ (uint32_t)seccomp_rules[i].numbers[arch],
					       seccomp_rules[i].verdict };
	qsort(ret_rules, count, sizeof(ret_rules[0]), compare_spans);
	return count;
}

/* Neighbours with one plain answer become one span, what lies between rules is allowed. */
static int make_spans(struct builder *builder, enum seccomp_arch arch, struct err *err)
{
	struct span rules[SPANS_MAX];
	size_t count = collect(rules, arch);
	uint32_t next = 0;

	for (size_t i = 0; i < count; i++) {
		bool gap = rules[i].first > next;

		if (rules[i].first < next)
			return err_set(err, ERR_INTERNAL, "system call %u is filtered twice",
				       rules[i].first);
		if (gap)
			add_span(builder, next, SECCOMP_ALLOW);
		if (gap || i == 0 || rules[i].verdict != rules[i - 1].verdict)
			add_span(builder, rules[i].first, rules[i].verdict);
		next = rules[i].first + 1;
	}
	if (next <= SECCOMP_HIGHEST)
		add_span(builder, next, SECCOMP_ALLOW);
	add_span(builder, SECCOMP_HIGHEST + 1, SECCOMP_ABSENT);
	return 0;
}

enum seccomp_arch seccomp_native(void)
{
#if defined(__x86_64__)
	return SECCOMP_X86_64;
#elif defined(__aarch64__)
	return SECCOMP_AARCH64;
#else
	return SECCOMP_ARCHES;
#endif
}

int seccomp_build(struct seccomp_program *ret_program, enum seccomp_arch arch,
		  const struct seccomp_options *options, struct err *err)
{
	static const uint32_t audit_arches[] = {
		[SECCOMP_X86_64] = AUDIT_ARCH_X86_64,
		[SECCOMP_AARCH64] = AUDIT_ARCH_AARCH64,
	};
	struct builder builder = { .program = ret_program, .options = options };

	if (make_spans(&builder, arch, err) < 0)
		return -1;
	ret_program->len = 0;
	put_load(&builder, offsetof(struct seccomp_data, arch));
	put(&builder, BPF_JMP | BPF_JEQ | BPF_K, audit_arches[arch], 1, 0);
	put(&builder, BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS, 0, 0);
	put_load(&builder, offsetof(struct seccomp_data, nr));
	put_spans(&builder, builder.spans, builder.span_count);
	if (builder.overflow)
		return err_set(err, ERR_INTERNAL, "the filter of system calls is too long");
	return 0;
}

int seccomp_enter(const struct seccomp_options *options, struct err *err)
{
	struct seccomp_program program;
	struct sock_fprog raw = { .filter = program.code };

	if (seccomp_native() == SECCOMP_ARCHES)
		return err_set(err, ERR_UNSUPPORTED,
			       "there is no filter of system calls for this processor");
	if (seccomp_build(&program, seccomp_native(), options, err) < 0)
		return -1;
	raw.len = program.len;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &raw) < 0)
		return err_sys(err, "loading the filter of system calls");
	return 0;
}
