/* SPDX-License-Identifier: MIT */
/*
 * hostile.c - runs a command on a machine that gives less than this one. A simulation: it shows
 * what such a machine answers, not that machine.
 *
 * hostile KIND -- COMMAND [ARG...]
 *
 *   docker      Docker's default profile: no namespaces, no mounts, clone3 is ENOSYS, and of root's
 *               capabilities those that Docker leaves.
 *
 *   apparmor    Ubuntu's rule for user namespaces: they can be made, but only /usr/bin/bwrap mounts
 *               in them.
 *
 *   no-userns   The limit user.max_user_namespaces is 0.
 *
 * Exits 77 when this machine cannot even do that, 2 when called wrongly.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#define NATIVE_ARCH 0
#endif

enum { SKIPPED = 77, CODE_MAX = 64, BWRAP_MAX = 64 };

#define NAMESPACE_FLAGS                                                                            \
	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
	 CLONE_NEWPID | CLONE_NEWNET)

static const uint32_t mount_calls[] = {
	SYS_mount,  SYS_umount2,  SYS_pivot_root, SYS_open_tree,     SYS_move_mount,
	SYS_fsopen, SYS_fsconfig, SYS_fsmount,    SYS_mount_setattr,
};
static const uint32_t docker_calls[] = {
	SYS_unshare, SYS_setns,           SYS_keyctl,         SYS_add_key,        SYS_request_key,
	SYS_bpf,     SYS_perf_event_open, SYS_io_uring_setup, SYS_io_uring_enter, SYS_userfaultfd,
};
static const int docker_capabilities[] = {
	CAP_CHOWN,   CAP_DAC_OVERRIDE, CAP_FSETID,           CAP_FOWNER,      CAP_MKNOD,
	CAP_NET_RAW, CAP_SETGID,       CAP_SETUID,           CAP_SETFCAP,     CAP_SETPCAP,
	CAP_KILL,    CAP_SYS_CHROOT,   CAP_NET_BIND_SERVICE, CAP_AUDIT_WRITE,
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct filter {
	struct sock_filter code[CODE_MAX];
	unsigned short len;
};

static void fail(const char *what)
{
	perror(what);
	exit(SKIPPED);
}

static void put(struct filter *filter, uint16_t code, uint32_t k, uint8_t jt, uint8_t jf)
{
	if (filter->len == CODE_MAX)
		abort();
	filter->code[filter->len++] = (struct sock_filter){ code, jt, jf, k };
}

static void begin(struct filter *filter)
{
	filter->len = 0;
	put(filter, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch), 0, 0);
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	put(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	put(filter, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
}

static void answer(struct filter *filter, uint32_t nr, uint32_t action)
{
	put(filter, BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1);
	put(filter, BPF_RET | BPF_K, action, 0, 0);
}

/* Returns the listener, when there is one. */
static int load(struct filter *filter, unsigned int flags)
{
	struct sock_fprog program = { .filter = filter->code };
	int fd;

	put(filter, BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	program.len = filter->len;
	if (NATIVE_ARCH == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		fail("no filters here");
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	if (fd < 0)
		fail("loading a filter");
	return fd;
}

/* ---- docker ---- */

static void keep_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[2] = { 0 };
	uint64_t kept = 0;

	for (size_t i = 0; i < COUNT(docker_capabilities); i++)
		kept |= UINT64_C(1) << docker_capabilities[i];
	for (unsigned long i = 0; prctl(PR_CAPBSET_READ, i, 0, 0, 0) >= 0; i++)
		if ((kept >> i & 1) == 0 && prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0)
			fail("dropping capabilities");
	for (int i = 0; i < 2; i++)
		sets[i].permitted = sets[i].effective = (uint32_t)(kept >> (32 * i));
	if (syscall(SYS_capset, &header, sets) < 0)
		fail("dropping capabilities");
}

static void be_docker(void)
{
	struct filter filter;

	if (geteuid() == 0)
		keep_capabilities();
	begin(&filter);
	for (size_t i = 0; i < COUNT(mount_calls); i++)
		answer(&filter, mount_calls[i], SECCOMP_RET_ERRNO | EPERM);
	for (size_t i = 0; i < COUNT(docker_calls); i++)
		answer(&filter, docker_calls[i], SECCOMP_RET_ERRNO | EPERM);
	answer(&filter, SYS_clone3, SECCOMP_RET_ERRNO | ENOSYS);
	put(&filter, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 3);
	put(&filter, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0]), 0, 0);
	put(&filter, BPF_JMP | BPF_JSET | BPF_K, NAMESPACE_FLAGS, 0, 1);
	put(&filter, BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM, 0, 0);
	(void)load(&filter, 0);
}

/* ---- apparmor ---- */

/* As the kernel does, by the program; it is out of sight for who hides from us, as ours do. */
static int is_bwrap(uint32_t pid)
{
	char name[64];
	char program[BWRAP_MAX] = "";

	(void)snprintf(name, sizeof(name), "/proc/%u/exe", pid);
	return readlink(name, program, sizeof(program) - 1) > 0 &&
	       strcmp(program, "/usr/bin/bwrap") == 0;
}

static void decide(int listener)
{
	struct seccomp_notif question = { 0 };
	struct seccomp_notif_resp decision = { 0 };

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0)
		return;
	decision.id = question.id;
	if (is_bwrap(question.pid))
		decision.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	else
		decision.error = -EACCES;
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &decision);
}

/* Ends with the last process under the filter. */
static void serve(int listener)
{
	struct pollfd fd = { .fd = listener, .events = POLLIN };

	(void)setsid();
	while (poll(&fd, 1, -1) >= 0 || errno == EINTR) {
		if ((fd.revents & POLLIN) != 0)
			decide(listener);
		else if (fd.revents != 0)
			break;
	}
	_exit(0);
}

static void give(int channel, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	char text = 0;
	struct iovec byte = { .iov_base = &text, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(channel, &message, 0) != 1)
		fail("handing over a filter");
}

static int take(int channel)
{
	char room[CMSG_SPACE(sizeof(int))];
	char text;
	struct iovec byte = { .iov_base = &text, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &byte,
				  .msg_iovlen = 1,
				  .msg_control = room,
				  .msg_controllen = sizeof(room) };
	int fd;

	if (recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1 || CMSG_FIRSTHDR(&message) == NULL)
		_exit(1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Forked before the filter, so that it is not under it; twice, so that no process waits for it. */
static void fork_decider(const int pair[2])
{
	pid_t pid = fork();

	if (pid == 0) {
		if (fork() != 0)
			_exit(0);
		(void)close(pair[1]);
		serve(take(pair[0]));
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		fail("fork");
}

static void be_apparmor(void)
{
	struct filter filter;
	int pair[2];
	int listener;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		fail("socketpair");
	fork_decider(pair);
	begin(&filter);
	for (size_t i = 0; i < COUNT(mount_calls); i++)
		answer(&filter, mount_calls[i], SECCOMP_RET_USER_NOTIF);
	listener = load(&filter, SECCOMP_FILTER_FLAG_NEW_LISTENER);
	give(pair[1], listener);
	(void)close(listener);
	(void)close(pair[0]);
	(void)close(pair[1]);
}

/* ---- no-userns ---- */

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	(void)close(fd);
}

/* In a namespace where this user is who they were, since the limit is a namespace's. */
static void be_without_user_namespaces(void)
{
	unsigned int uid = geteuid();
	unsigned int gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWUSER) < 0)
		fail("unshare");
	write_text("/proc/self/setgroups", "deny");
	(void)snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	write_text("/proc/self/uid_map", map);
	(void)snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	write_text("/proc/self/gid_map", map);
	write_text("/proc/sys/user/max_user_namespaces", "0");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*be)(void);
	} kinds[] = {
		{ "docker", be_docker },
		{ "apparmor", be_apparmor },
		{ "no-userns", be_without_user_namespaces },
	};

	for (size_t i = 0; argc >= 4 && strcmp(argv[2], "--") == 0 && i < COUNT(kinds); i++)
		if (strcmp(argv[1], kinds[i].name) == 0) {
			kinds[i].be();
			(void)execvp(argv[3], argv + 3);
			perror(argv[3]);
			return 127;
		}
	fprintf(stderr, "usage: hostile docker|apparmor|no-userns -- COMMAND [ARG...]\n");
	return 2;
}
