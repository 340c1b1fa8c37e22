/* SPDX-License-Identifier: MIT */
/*
 * seccomp.c - compiles the table of rules into a BPF program, and loads it.
 *
 * The program searches the call's number in a binary tree. The kernel runs a new filter once for
 * every call number, to cache which are always allowed. A linear list would cost 0.1 ms there. It
 * is compiled after the memory limit is set: fixed arrays are used, and a sort that does not
 * allocate.
 */
#include "sandbox/restrict/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/ioprio.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	SPANS_MAX = 256,
	JUMP_MAX = 255,        /* the furthest that a condition can jump */
	REQUEST_TYPE = 0xff00, /* of an ioctl request */
	FCNTL_UNKNOWN = 1039,  /* F_GETDELEG, the first request that Linux 6.19 added */
};

#define NAMESPACE_FLAGS                                                                            \
	(CLONE_NEWTIME | CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |             \
	 CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define SET_ID_BITS (S_ISUID | S_ISGID)
/* O_TMPFILE's own bit. It includes O_DIRECTORY, whose value differs between architectures. */
#define CREATE_BITS (O_CREAT | 020000000)
#define SOCKET_TYPE_BITS 0xf

/* Numbers from `first` to before the next span; the last one ends at the highest number. */
struct span {
	uint32_t first;
	enum seccomp_verdict verdict;
};

/* For seccomp_options.inet_sockets. */
static const uint32_t inet_families[] = { AF_INET, AF_INET6, AF_NETLINK };

struct builder {
	struct bpf *program;
	const struct seccomp_options *options;
	struct span spans[SPANS_MAX];
	size_t span_count;
	bool overflow;
};

/* ---- one verdict ---- */

static void put_if_any_bit(struct builder *builder, uint32_t bits)
{
	bpf_put(builder->program, BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
}

static void refuse_bits(struct builder *builder, size_t argument, uint32_t bits)
{
	bpf_load_argument(builder->program, argument);
	put_if_any_bit(builder, bits);
	bpf_errno(builder->program, EPERM);
	bpf_allow(builder->program);
}

static void refuse_value(struct builder *builder, size_t argument, uint32_t value)
{
	bpf_load_argument(builder->program, argument);
	bpf_if_equal(builder->program, value);
	bpf_errno(builder->program, EPERM);
}

static void allow_zero(struct builder *builder, size_t argument)
{
	bpf_load_argument(builder->program, argument);
	bpf_if_equal(builder->program, 0);
	bpf_allow(builder->program);
	bpf_errno(builder->program, EPERM);
}

/* Without such a flag the mode argument is undefined. */
static void put_create(struct builder *builder, size_t mode)
{
	bpf_load_argument(builder->program, mode - 1);
	bpf_put(builder->program, BPF_JMP | BPF_JSET | BPF_K, CREATE_BITS, 1, 0);
	bpf_allow(builder->program);
	refuse_bits(builder, mode, SET_ID_BITS);
}

static void refuse_requests(struct builder *builder, const uint32_t *requests, size_t count)
{
	bpf_load_argument(builder->program, 1);
	for (size_t i = 0; i < count; i++) {
		bpf_if_equal(builder->program, requests[i]);
		bpf_errno(builder->program, EPERM);
	}
}

static void allow_requests(struct builder *builder, const uint32_t *requests, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bpf_if_equal(builder->program, requests[i]);
		bpf_allow(builder->program);
	}
}

/*
 * Allows requests of terminals and sockets, and those that change a file only through a descriptor
 * for writing. File systems have others that make a file unchangeable, or a folder unusable,
 * through one for reading. ENOTTY is the answer of a file system without a request.
 */
static void put_file_requests(struct builder *builder)
{
	static const uint32_t requests[] = { FICLONE,         FICLONERANGE,      FIDEDUPERANGE,
					     FS_IOC_GETFLAGS, FS_IOC_FSGETXATTR, FS_IOC_FIEMAP };
	static const uint32_t types[] = { TCGETS & REQUEST_TYPE, SIOCATMARK & REQUEST_TYPE };

	allow_requests(builder, requests, ARRAY_SIZE(requests));
	bpf_put(builder->program, BPF_ALU | BPF_AND | BPF_K, REQUEST_TYPE, 0, 0);
	allow_requests(builder, types, ARRAY_SIZE(types));
	bpf_errno(builder->program, ENOTTY);
}

static void put_ioctl(struct builder *builder)
{
	/* TIOCSTI: CVE-2017-5226; TIOCLINUX: CVE-2023-28100; TIOCSETD loads modules. */
	static const uint32_t requests[] = { TIOCSTI, TIOCLINUX, TIOCSETD };

	refuse_requests(builder, requests, ARRAY_SIZE(requests));
	if (builder->options->host_files)
		put_file_requests(builder);
	else
		bpf_allow(builder->program);
}

/*
 * Opening a leased file blocks until the holder releases it, for up to 45 s by default. Requests
 * that are newer than this list fail as on a kernel without them; F_SETDELEG is one, and a lease.
 */
static void put_fcntl(struct builder *builder)
{
	static const uint32_t requests[] = { F_SETLEASE, F_NOTIFY };

	refuse_requests(builder, requests, ARRAY_SIZE(requests));
	bpf_put(builder->program, BPF_JMP | BPF_JGE | BPF_K, FCNTL_UNKNOWN, 0, 1);
	bpf_errno(builder->program, EINVAL);
	bpf_allow(builder->program);
}

/* A watch needs only a file's name and read permission. */
static void put_watched(struct builder *builder)
{
	if (builder->options->host_files)
		bpf_errno(builder->program, ENOSYS);
	else if (builder->options->own_inodes)
		bpf_allow(builder->program);
	else
		refuse_bits(builder, 2, IN_ACCESS | IN_OPEN | IN_CLOSE_NOWRITE);
}

static void put_unless_host(struct builder *builder, int error)
{
	if (builder->options->host_files)
		bpf_errno(builder->program, error);
	else
		bpf_allow(builder->program);
}

static void put_load_type(struct builder *builder)
{
	bpf_load_argument(builder->program, 1);
	bpf_put(builder->program, BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE_BITS, 0, 0);
}

static void put_only(struct builder *builder, const uint32_t *values, size_t count, int error)
{
	for (size_t i = 0; i < count; i++)
		bpf_skip_if_equal(builder->program, values[i], (uint8_t)(count - i));
	bpf_errno(builder->program, error);
}

/*
 * Allows only common internet protocols, and of netlink only the one for interfaces. For others the
 * kernel may load a module (SCTP, DCCP, L2TP, netfilter).
 */
static void put_protocols(struct builder *builder)
{
	static const uint32_t types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW };
	static const uint32_t protocols[] = { IPPROTO_IP, IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP,
					      IPPROTO_ICMPV6 };

	put_load_type(builder);
	put_only(builder, types, ARRAY_SIZE(types), ESOCKTNOSUPPORT);
	bpf_load_argument(builder->program, 2);
	put_only(builder, protocols, ARRAY_SIZE(protocols), EPROTONOSUPPORT);
	bpf_allow(builder->program);
}

static void put_netlink(struct builder *builder)
{
	bpf_load_argument(builder->program, 2);
	bpf_if_equal(builder->program, NETLINK_ROUTE);
	bpf_allow(builder->program);
	bpf_errno(builder->program, EPROTONOSUPPORT);
}

static void put_socket(struct builder *builder)
{
	const struct seccomp_options *options = builder->options;

	bpf_load_argument(builder->program, 0);
	bpf_if_equal(builder->program, AF_UNIX);
	if (options->unix_sockets)
		bpf_allow(builder->program);
	else
		bpf_errno(builder->program, EACCES);
	if (options->inet_sockets) {
		/* The block for netlink has four instructions. */
		bpf_put(builder->program, BPF_JMP | BPF_JEQ | BPF_K, AF_NETLINK, 0, 4);
		put_netlink(builder);
		bpf_skip_if_equal(builder->program, AF_INET, 2);
		bpf_skip_if_equal(builder->program, AF_INET6, 1);
		bpf_errno(builder->program, EAFNOSUPPORT);
		put_protocols(builder);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(inet_families); i++) {
		bpf_if_equal(builder->program, inet_families[i]);
		bpf_errno(builder->program, EACCES);
	}
	bpf_errno(builder->program, EAFNOSUPPORT);
}

/*
 * A datagram socket of a pair can send to any address later, so pairs would replace the sockets
 * that are refused. SOCK_RAW is the same type under another name.
 */
static void put_socketpair(struct builder *builder)
{
	bpf_load_argument(builder->program, 0);
	bpf_skip_if_equal(builder->program, AF_UNIX, 1);
	bpf_errno(builder->program, EAFNOSUPPORT);
	if (!builder->options->unix_sockets) {
		put_load_type(builder);
		bpf_if_equal(builder->program, SOCK_DGRAM);
		bpf_errno(builder->program, EACCES);
		bpf_if_equal(builder->program, SOCK_RAW);
		bpf_errno(builder->program, EACCES);
	}
	bpf_allow(builder->program);
}

static void put_personality(struct builder *builder)
{
	bpf_load_argument(builder->program, 0);
	bpf_if_equal(builder->program, PER_LINUX);
	bpf_allow(builder->program);
	bpf_if_equal(builder->program, UINT32_MAX); /* only reads the limit */
	bpf_allow(builder->program);
	bpf_errno(builder->program, EPERM);
}

static void put_own(struct builder *builder, enum seccomp_verdict verdict)
{
	if (!builder->options->host_pids) {
		bpf_allow(builder->program);
		return;
	}
	/* For setpriority, 0 with PRIO_USER means all processes of the user. */
	if (verdict == SECCOMP_OWN_PRIORITY)
		refuse_value(builder, 0, PRIO_USER);
	if (verdict == SECCOMP_OWN_IO_PRIORITY)
		refuse_value(builder, 0, IOPRIO_WHO_USER);
	allow_zero(builder, verdict == SECCOMP_OWN_PID ? 0 : 1);
}

/*
 * The core dump limit stays at 1 (sandbox/restrict/payload.c). A call that sets it returns success
 * without doing so, because many programs forbid their own dumps and exit when they cannot.
 */
static void put_core_limit(struct builder *builder, size_t resource)
{
	bpf_load_argument(builder->program, resource);
	bpf_put(builder->program, BPF_JMP | BPF_JEQ | BPF_K, RLIMIT_CORE, 1, 0);
	bpf_allow(builder->program);
}

/* Compares both halves of a pointer. */
static void put_if_null(struct builder *builder, size_t argument, bool allowed)
{
	bpf_load_argument(builder->program, argument);
	bpf_put(builder->program, BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3);
	bpf_load(builder->program, offsetof(struct seccomp_data, args) +
					   argument * sizeof(uint64_t) + sizeof(uint32_t));
	bpf_if_equal(builder->program, 0);
	if (allowed)
		bpf_allow(builder->program);
	else
		bpf_errno(builder->program, 0);
}

static void put_prlimit(struct builder *builder)
{
	if (!builder->options->host_pids)
		put_if_null(builder, 2, true);
	bpf_load_argument(builder->program, 0);
	bpf_put(builder->program, BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0);
	bpf_errno(builder->program, EPERM);
	if (builder->options->host_pids)
		put_if_null(builder, 2, true);
	put_core_limit(builder, 1);
	/* The old limit would not be filled in. */
	put_if_null(builder, 3, false);
	bpf_errno(builder->program, EPERM);
}

static void put_verdict(struct builder *builder, enum seccomp_verdict verdict)
{
	switch (verdict) {
	case SECCOMP_ALLOW:
		bpf_allow(builder->program);
		break;
	case SECCOMP_REFUSE:
		bpf_errno(builder->program, EPERM);
		break;
	case SECCOMP_ABSENT:
		bpf_errno(builder->program, ENOSYS);
		break;
	case SECCOMP_NO_NAMESPACES:
		refuse_bits(builder, 0, NAMESPACE_FLAGS);
		break;
	case SECCOMP_NO_INJECTION:
		put_ioctl(builder);
		break;
	case SECCOMP_NO_LEASES:
		put_fcntl(builder);
		break;
	case SECCOMP_WATCHED:
		put_watched(builder);
		break;
	case SECCOMP_NO_WATCHES:
		put_unless_host(builder, ENOSYS);
		break;
	case SECCOMP_NO_ATTRIBUTES:
		put_unless_host(builder, EOPNOTSUPP);
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
		bpf_errno(builder->program, 0);
		break;
	case SECCOMP_VERDICTS:
		builder->overflow = true;
	}
}

/* ---- the search for a number ---- */

/*
 * Searches by halves. The kernel runs the filter once for every number when it is loaded, to learn
 * which calls are always allowed; a list would cost 0.1 ms there.
 */
static void put_spans(struct builder *builder, const struct span *spans, size_t count)
{
	struct bpf *program = builder->program;
	unsigned short at = program->len;
	size_t half = count / 2;
	int skip;

	if (count == 1) {
		put_verdict(builder, spans[0].verdict);
		return;
	}
	bpf_put(builder->program, BPF_JMP | BPF_JGE | BPF_K, spans[half].first, 0, 0);
	put_spans(builder, spans, half);
	skip = program->len - at - 1;
	if (skip > JUMP_MAX)
		builder->overflow = true;
	program->code[at].jt = (uint8_t)skip;
	put_spans(builder, spans + half, count - half);
}

static void add_span(struct builder *builder, uint32_t first, enum seccomp_verdict verdict)
{
	if (builder->span_count == SPANS_MAX) {
		builder->overflow = true;
		return;
	}
	builder->spans[builder->span_count++] = (struct span){ first, verdict };
}

/*
 * Returns the architecture's rules, sorted by number. qsort() may allocate, and the memory limit is
 * in force.
 */
static size_t collect_rules(struct span *ret_rules, enum seccomp_arch arch)
{
	size_t count = 0;

	for (size_t i = 0; i < seccomp_rule_count && count < SPANS_MAX; i++) {
		const struct seccomp_rule *rule = &seccomp_rules[i];
		size_t at = count;

		if (rule->numbers[arch] == SECCOMP_NONE)
			continue;
		for (; at > 0 && ret_rules[at - 1].first > (uint32_t)rule->numbers[arch]; at--)
			ret_rules[at] = ret_rules[at - 1];
		ret_rules[at] = (struct span){ (uint32_t)rule->numbers[arch], rule->verdict };
		count++;
	}
	return count;
}

/* Merges neighbours with the same plain verdict into spans; numbers between rules are allowed. */
static int make_spans(struct builder *builder, enum seccomp_arch arch, struct err *err)
{
	struct span rules[SPANS_MAX];
	size_t count = collect_rules(rules, arch);
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

int seccomp_build(struct bpf *ret_program, enum seccomp_arch arch,
		  const struct seccomp_options *options, struct err *err)
{
	static const uint32_t audit_arches[] = {
		[SECCOMP_X86_64] = AUDIT_ARCH_X86_64,
		[SECCOMP_AARCH64] = AUDIT_ARCH_AARCH64,
	};
	struct builder builder = { .program = ret_program, .options = options };

	if (make_spans(&builder, arch, err) < 0)
		return -1;
	bpf_begin(ret_program, audit_arches[arch]);
	put_spans(&builder, builder.spans, builder.span_count);
	if (builder.overflow || ret_program->overflow)
		return err_set(err, ERR_INTERNAL, "the filter of system calls is too long");
	return 0;
}

int seccomp_enter(const struct seccomp_options *options, struct err *err)
{
	struct bpf program;

	if (seccomp_native() == SECCOMP_ARCHES)
		return err_set(err, ERR_UNSUPPORTED,
			       "there is no filter of system calls for this processor");
	if (seccomp_build(&program, seccomp_native(), options, err) < 0)
		return -1;
	return bpf_enter(&program, err);
}
