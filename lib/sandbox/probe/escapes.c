/* SPDX-License-Identifier: MIT */
/*
 * escapes.c - the bait outside a sandbox, and the escape tests that are run against it inside.
 *
 * A test reports success only when the attempt worked, so a layer cannot count as active by
 * mistake. The victim's pid is read from the fdinfo of its pidfd, because in a pid namespace the
 * same number may belong to another process. The tests run in a fixed order, because the last ones
 * change the calling process.
 */
#include "sandbox/probe/escapes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fd.h"
#include "sandbox/process/proctree.h"
#include "sandbox/process/terminal.h"

enum {
	CONNECT_MS = 1000, /* a refusal comes at once, but a busy machine may be slow */
	FDINFO_MAX = 512,
	CAPABILITY_WORDS = 2,
	ROWS = 24,
	COLUMNS = 80,
	SECRET_MODE = 0600,
	SET_ID_MODE = 04700,
};

struct attempt {
	const struct escapes_bait *bait;
	const char *workspace;
	pid_t victim; /* its number inside; 0: it has none */
};

static const char secret_name[] = ESCAPES_FILE;
static const char socket_name[] = ESCAPES_SOCKET;

/* ---- the bait ---- */

/* Returns false when the path would be too long. */
static bool join_path(char *ret_path, size_t size, const char *folder, const char *name)
{
	int len = snprintf(ret_path, size, "%s/%s", folder, name);

	return len >= 0 && (size_t)len < size;
}

static int listen_at(const struct sockaddr *address, socklen_t len, struct err *err)
{
	cleanup_fd int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, address, len) < 0 || listen(fd, 1) < 0)
		return err_sys(err, "listening for the canary");
	return fd_steal(&fd);
}

static int lay_loopback(struct escapes_bait *bait, struct err *err)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);

	bait->loopback = listen_at((const struct sockaddr *)&address, len, err);
	if (bait->loopback < 0)
		return -1;
	if (getsockname(bait->loopback, (struct sockaddr *)&address, &len) < 0)
		return err_sys(err, "listening for the canary");
	bait->port = address.sin_port;
	return 0;
}

/* A folder's path may be longer than a socket's name; its end is what makes it unique. */
static struct sockaddr_un abstract_address(const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t max = sizeof(address.sun_path) - 1;
	size_t len = strlen(folder);
	size_t skip = len > max ? len - max : 0;

	memcpy(address.sun_path + 1, folder + skip, len - skip);
	return address;
}

/* Through /proc/self/fd, because the folder's own path may be too long for a socket. */
static struct sockaddr_un path_address(int folder_fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	(void)snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/%s", folder_fd,
		       socket_name);
	return address;
}

static int lay_sockets(struct escapes_bait *bait, int folder_fd, struct err *err)
{
	struct sockaddr_un abstract = abstract_address(bait->folder);
	struct sockaddr_un path = path_address(folder_fd);

	bait->abstract = listen_at((const struct sockaddr *)&abstract, sizeof(abstract), err);
	if (bait->abstract < 0)
		return -1;
	(void)unlinkat(folder_fd, socket_name, 0);
	bait->socket = listen_at((const struct sockaddr *)&path, sizeof(path), err);
	return bait->socket < 0 ? -1 : 0;
}

static int lay_secret(int folder_fd, struct err *err)
{
	cleanup_fd int fd =
		openat(folder_fd, secret_name, O_WRONLY | O_CREAT | O_CLOEXEC, SECRET_MODE);

	if (fd < 0)
		return err_sys(err, "laying out a file for the canary");
	return fd_write_all(fd, "secret", strlen("secret"), err);
}

static int lay_victim(struct escapes_bait *bait, struct err *err)
{
	/* Not pidfd_open(), which a seccomp filter around the server may forbid. */
	bait->victim =
		(pid_t)syscall(SYS_clone, CLONE_PIDFD | SIGCHLD, NULL, &bait->victim_fd, NULL, 0);
	if (bait->victim == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)prctl(PR_SET_DUMPABLE, 1);
		(void)prctl(PR_SET_PTRACER,
			    PR_SET_PTRACER_ANY); /* otherwise Yama would protect it */
		(void)!fd_close_from(0);
		for (;;)
			(void)pause();
	}
	if (bait->victim < 0)
		return err_sys(err, "forking a victim for the canary");
	return 0;
}

int escapes_lay(struct escapes_bait *ret_bait, const char *folder, struct err *err)
{
	struct escapes_bait bait = { .victim_fd = -1,
				     .loopback = -1,
				     .abstract = -1,
				     .socket = -1,
				     .master = -1,
				     .slave = -1 };
	cleanup_fd int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (folder_fd < 0)
		return err_sys(err, "opening '%s'", folder);
	if (snprintf(bait.folder, sizeof(bait.folder), "%s", folder) >= (int)sizeof(bait.folder))
		return err_set(err, ERR_LIMIT, "'%s' is too long a path", folder);
	if (lay_secret(folder_fd, err) < 0 || lay_loopback(&bait, err) < 0 ||
	    lay_sockets(&bait, folder_fd, err) < 0 || lay_victim(&bait, err) < 0 ||
	    terminal_open(ROWS, COLUMNS, &bait.master, &bait.slave, err) < 0) {
		escapes_release(&bait);
		return -1;
	}
	*ret_bait = bait;
	return 0;
}

void escapes_release(struct escapes_bait *bait)
{
	static const char *const names[] = { secret_name, socket_name };
	int *const fds[] = { &bait->victim_fd, &bait->loopback, &bait->abstract,
			     &bait->socket,    &bait->master,   &bait->slave };
	char path[PATH_MAX];

	if (bait->folder[0] == '\0')
		return;
	if (bait->victim > 0) {
		(void)kill(bait->victim, SIGKILL);
		(void)waitpid(bait->victim, NULL, 0);
		bait->victim = 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		fd_close(fds[i]);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (join_path(path, sizeof(path), bait->folder, names[i]))
			(void)unlink(path);
}

/* ---- the tests: each returns true when it escaped ---- */

static bool opens(const char *path, int flags)
{
	cleanup_fd int fd = open(path, flags | O_CLOEXEC | O_NOCTTY);

	return fd >= 0;
}

static bool opens_secret(const struct attempt *attempt, int flags)
{
	char path[PATH_MAX];

	return join_path(path, sizeof(path), attempt->bait->folder, secret_name) &&
	       opens(path, flags);
}

static bool try_read(const struct attempt *attempt)
{
	return opens_secret(attempt, O_RDONLY);
}

static bool try_write(const struct attempt *attempt)
{
	return opens_secret(attempt, O_WRONLY);
}

/* Has a timeout, because a firewall may swallow the attempt. */
static bool connects(const struct sockaddr *address, socklen_t len)
{
	cleanup_fd int fd =
		socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return false;
	if (connect(fd, address, len) == 0)
		return true;
	return errno == EINPROGRESS && poll(&wait, 1, CONNECT_MS) == 1 &&
	       getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
}

static bool try_loopback(const struct attempt *attempt)
{
	const struct sockaddr_in address = { .sin_family = AF_INET,
					     .sin_port = attempt->bait->port,
					     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return connects((const struct sockaddr *)&address, sizeof(address));
}

static bool try_abstract_socket(const struct attempt *attempt)
{
	const struct sockaddr_un address = abstract_address(attempt->bait->folder);

	return connects((const struct sockaddr *)&address, sizeof(address));
}

static bool try_file_socket(const struct attempt *attempt)
{
	cleanup_fd int folder_fd = open(attempt->bait->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	const struct sockaddr_un address = path_address(folder_fd);

	return folder_fd >= 0 && connects((const struct sockaddr *)&address, sizeof(address));
}

/* Tries the victim's number, and a pidfd, which no session would have. */
static bool try_signal(const struct attempt *attempt)
{
	return syscall(SYS_pidfd_send_signal, attempt->bait->victim_fd, 0, NULL, 0) == 0 ||
	       (attempt->victim > 0 && kill(attempt->victim, 0) == 0);
}

static bool try_trace(const struct attempt *attempt)
{
	return attempt->victim > 0 && ptrace(PTRACE_SEIZE, attempt->victim, NULL, NULL) == 0;
}

static bool try_environment(const struct attempt *attempt)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)attempt->victim);
	return attempt->victim > 0 && opens(path, O_RDONLY);
}

static bool try_limit(const struct attempt *attempt)
{
	struct rlimit now;

	return attempt->victim > 0 && prlimit(attempt->victim, RLIMIT_CPU, NULL, &now) == 0;
}

static bool try_capability(const struct attempt *attempt)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct sets[CAPABILITY_WORDS] = { 0 };
	uint32_t any = 0;

	(void)attempt;
	if (syscall(SYS_capget, &header, sets) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(sets); i++)
		any |= sets[i].effective | sets[i].permitted | sets[i].inheritable;
	return any != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1;
}

static bool try_keyring(const struct attempt *attempt)
{
	(void)attempt;
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0;
}

/* TIOCSTI works only on the caller's controlling terminal, so it takes the terminal first. */
static bool try_terminal(const struct attempt *attempt)
{
	(void)setsid();
	(void)ioctl(attempt->bait->slave, TIOCSCTTY, 0);
	return ioctl(attempt->bait->slave, TIOCSTI, "x") == 0;
}

static bool try_crypto(const struct attempt *attempt)
{
	cleanup_fd int fd = socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	(void)attempt;
	return fd >= 0;
}

static bool try_io_uring(const struct attempt *attempt)
{
	struct io_uring_params params = { 0 };
	cleanup_fd int fd = (int)syscall(SYS_io_uring_setup, 1, &params);

	(void)attempt;
	return fd >= 0;
}

static bool try_memfd(const struct attempt *attempt)
{
	cleanup_fd int fd = memfd_create("canary", MFD_CLOEXEC);

	(void)attempt;
	return fd >= 0;
}

static bool try_set_id(const struct attempt *attempt)
{
	char path[PATH_MAX];
	cleanup_fd int fd = -1;

	if (!join_path(path, sizeof(path), attempt->workspace, secret_name))
		return false;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, SECRET_MODE);
	if (fd < 0)
		return false;
	(void)unlink(path);
	return fchmod(fd, SET_ID_MODE) == 0;
}

static bool try_mount(const struct attempt *attempt)
{
	if (mount("canary", attempt->workspace, "tmpfs", 0, NULL) < 0)
		return false;
	/* The mount may be on the host. */
	(void)umount2(attempt->workspace, MNT_DETACH);
	return true;
}

static bool try_namespace(const struct attempt *attempt)
{
	(void)attempt;
	return unshare(CLONE_NEWUSER) == 0;
}

/* ---- all tests ---- */

/* In the order of running: the last ones change the process itself. */
static const struct {
	const char *name;
	bool (*try)(const struct attempt *attempt);
} tests[] = {
	[ESCAPES_READ] = { "reads a file outside", try_read },
	[ESCAPES_WRITE] = { "writes a file outside", try_write },
	[ESCAPES_LOOPBACK] = { "connects to a server on 127.0.0.1", try_loopback },
	[ESCAPES_ABSTRACT_SOCKET] = { "connects to an abstract socket", try_abstract_socket },
	[ESCAPES_FILE_SOCKET] = { "connects to a socket file outside", try_file_socket },
	[ESCAPES_SIGNAL] = { "signals a process outside", try_signal },
	[ESCAPES_TRACE] = { "traces a process outside", try_trace },
	[ESCAPES_ENVIRONMENT] = { "reads the environment of a process outside", try_environment },
	[ESCAPES_LIMIT] = { "reaches the limits of a process outside", try_limit },
	[ESCAPES_CAPABILITY] = { "has a capability, or can get one", try_capability },
	[ESCAPES_KEYRING] = { "reaches a keyring", try_keyring },
	[ESCAPES_TERMINAL] = { "types into its terminal", try_terminal },
	[ESCAPES_CRYPTO] = { "opens a socket of the kernel's crypto", try_crypto },
	[ESCAPES_IO_URING] = { "opens an io_uring", try_io_uring },
	[ESCAPES_MEMFD] = { "makes memory that no limit counts", try_memfd },
	[ESCAPES_SET_ID] = { "makes a set-user-id file", try_set_id },
	[ESCAPES_MOUNT] = { "mounts", try_mount },
	[ESCAPES_NAMESPACE] = { "makes a namespace", try_namespace },
};
_Static_assert(ARRAY_SIZE(tests) == ESCAPES_COUNT, "every test has a name");

/* Returns the victim's number in this pid namespace; 0 when it has none here. */
static pid_t find_victim(const struct escapes_bait *bait)
{
	char path[64];
	char text[FDINFO_MAX];
	const char *line;

	(void)snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bait->victim_fd);
	if (!proctree_read(path, text, sizeof(text)))
		return 0;
	line = strstr(text, "\nPid:");
	return line == NULL ? 0 : (pid_t)strtol(line + strlen("\nPid:"), NULL, 10);
}

struct escapes_result escapes_run(const struct escapes_bait *bait, const char *workspace)
{
	const struct attempt attempt = { .bait = bait,
					 .workspace = workspace,
					 .victim = find_victim(bait) };
	struct escapes_result result = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		result.tried |= BIT(i);
		if (tests[i].try(&attempt))
			result.escaped |= BIT(i);
	}
	return result;
}

bool escapes_sees_victim(const struct escapes_bait *bait)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)find_victim(bait));
	return opens(path, O_RDONLY);
}

const char *escapes_name(enum escapes escape)
{
	return tests[escape].name;
}
