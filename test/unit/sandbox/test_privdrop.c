/* SPDX-License-Identifier: MIT */
/* Escape tests in tier landlock: what a confined process can still do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/fd.h"
#include "sandbox/probe/escapes.h"
#include "sandbox/restrict/privdrop.h"
#include "sandbox/restrict/seccomp.h"
#include "scratch.h"

struct site {
	struct scratch folder; /* "outside" */
	char data[128];        /* the workspace in it */
	int data_fd;
	struct policy policy;
	struct escapes_bait bait;
};

/* Runs in the confined child and returns its exit status, 0 when everything is as expected. */
typedef int child_fn(struct site *site);

static int set_up(void **state)
{
	static struct site site;
	struct err err;

	scratch_init(&site.folder);
	(void)snprintf(site.data, sizeof(site.data), "%s/data", site.folder.path);
	assert_int_equal(mkdir(site.data, 0700), 0);
	site.data_fd = open(site.data, O_PATH | O_DIRECTORY | O_CLOEXEC);
	policy_init(&site.policy);
	site.policy.tier = POLICY_LANDLOCK;
	site.policy.data_path = site.data;
	if (escapes_lay(&site.bait, site.folder.path, &err) < 0)
		fail_msg("%s", err.msg);
	*state = &site;
	return 0;
}

static int tear_down(void **state)
{
	struct site *site = *state;

	escapes_release(&site->bait);
	fd_close(&site->data_fd);
	scratch_release(&site->folder);
	return 0;
}

static void need_landlock(int abi)
{
	if (seccomp_native() != SECCOMP_ARCHES && landlock_abi(LANDLOCK_ABI_MAX) >= abi)
		return;
	printf("skipped: this kernel has no landlock with ABI %d\n", abi);
	skip();
}

static void enter(struct site *site, const struct privdrop_means *means)
{
	struct err err;

	if (privdrop_apply(&site->policy, site->data_fd, means, &err) == 0)
		return;
	fprintf(stderr, "%s\n", err.msg);
	_exit(126);
}

static int run_confined(struct site *site, const struct privdrop_means *means, child_fn *fn)
{
	int wait_status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		enter(site, means);
		_exit(fn(site));
	}
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_true(WIFEXITED(wait_status));
	return WEXITSTATUS(wait_status);
}

/* Returns the escape tests that escaped; `means` NULL is no confinement at all. */
static uint32_t get_through(struct site *site, const struct privdrop_means *means)
{
	struct escapes_result result = { 0 };
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (means != NULL)
			enter(site, means);
		result = escapes_run(&site->bait, site->data);
		_exit(write(ends[1], &result, sizeof(result)) == sizeof(result) ? 0 : 1);
	}
	(void)close(ends[1]);
	assert_int_equal(read(ends[0], &result, sizeof(result)), sizeof(result));
	(void)close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(result.tried, BIT(ESCAPES_COUNT) - 1);
	return result.escaped;
}

/* Names the tests that differ, which a number does not. */
static void assert_through(uint32_t through, uint32_t expected, uint32_t perhaps)
{
	for (enum escapes canary = 0; canary < ESCAPES_COUNT; canary++) {
		bool got = (through & BIT(canary)) != 0;

		if ((perhaps & BIT(canary)) == 0 && got != ((expected & BIT(canary)) != 0))
			fail_msg("the canary that %s: %s", escapes_name(canary),
				 got ? "got through" : "was stopped");
	}
}

static void every_canary_can_get_through_where_nothing_stops_it(void **state)
{
	/* Features that this kernel may lack, or refuse to every process. */
	const uint32_t perhaps = BIT(ESCAPES_TERMINAL) | BIT(ESCAPES_CRYPTO) |
				 BIT(ESCAPES_IO_URING) | BIT(ESCAPES_KEYRING) |
				 BIT(ESCAPES_NAMESPACE) | BIT(ESCAPES_MOUNT);

	assert_through(get_through(*state, NULL), UINT32_MAX, perhaps);
}

/* Test 19, and the others for a machine without namespaces. */
static void tier_landlock_stops_every_escape_test(void **state)
{
	need_landlock(LANDLOCK_ABI_SIGNALS);
	assert_through(get_through(*state, &privdrop_whole), 0, 0);
}

/* Test 65. A kernel below ABI 6 lets signals out, and the report must say so. */
static void what_gets_through_follows_the_abi(void **state)
{
	need_landlock(1);
	for (int abi = 1; abi <= landlock_abi(LANDLOCK_ABI_MAX); abi++) {
		const struct privdrop_means means = { .landlock_abi = abi };

		assert_through(get_through(*state, &means),
			       abi < LANDLOCK_ABI_SIGNALS ? BIT(ESCAPES_SIGNAL) : 0, 0);
	}
}

static void without_any_landlock_the_tier_is_refused(void **state)
{
	const struct privdrop_means means = { .landlock_abi = 0 };
	struct site *site = *state;
	struct err err = { 0 };
	pid_t pid = fork();
	int wait_status = -1;

	if (pid == 0)
		_exit(privdrop_apply(&site->policy, site->data_fd, &means, &err) < 0 ? (int)err.code
										     : 0);
	assert_int_equal(waitpid(pid, &wait_status, 0), pid);
	assert_int_equal(WEXITSTATUS(wait_status), ERR_UNSUPPORTED);
}

/* Test 66: each layer alone, as in the table of test/README.md. */
static void without_a_layer_those_get_through_that_it_stops_alone(void **state)
{
	const uint32_t perhaps = BIT(ESCAPES_TERMINAL) | BIT(ESCAPES_CRYPTO) |
				 BIT(ESCAPES_IO_URING) | BIT(ESCAPES_KEYRING) |
				 BIT(ESCAPES_NAMESPACE);
	const struct {
		enum report_layer without;
		uint32_t expected;
	} cases[] = {
		{ LAYER_SECCOMP, BIT(ESCAPES_FILE_SOCKET) | BIT(ESCAPES_LIMIT) |
					 BIT(ESCAPES_MEMFD) | BIT(ESCAPES_SET_ID) },
		{ LAYER_LANDLOCK, BIT(ESCAPES_READ) | BIT(ESCAPES_WRITE) | BIT(ESCAPES_SIGNAL) |
					  BIT(ESCAPES_ENVIRONMENT) },
		{ LAYER_KEYRING, 0 },
	};

	need_landlock(LANDLOCK_ABI_SIGNALS);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct privdrop_means means = { .without = BIT(cases[i].without),
						      .landlock_abi = LANDLOCK_ABI_MAX };
		bool filtered = cases[i].without != LAYER_SECCOMP;
		/* Only a process with root's capabilities may trace one of root's. */
		uint32_t root = geteuid() == 0 ? BIT(ESCAPES_ENVIRONMENT) : 0;

		assert_through(get_through(*state, &means), cases[i].expected,
			       filtered ? root : perhaps);
	}
}

/* ---- beside the escape tests ---- */

static bool fails(int result, int error)
{
	return result < 0 && errno == error;
}

static int works_in_its_folder(struct site *site)
{
	char path[PATH_MAX];
	int fd;

	if (chdir(site->data) < 0 || mkdir("d", 0755) < 0 || symlink("d", "l") < 0 ||
	    mkfifo("f", 0644) < 0)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/d/file", site->data);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	if (fd < 0 || ftruncate(fd, 100) < 0 || rename(path, "moved") < 0)
		return 2;
	if (link("moved", "d/linked") < 0 || unlink("moved") < 0)
		return 3;
	if (open("/dev/null", O_RDWR | O_TRUNC | O_CLOEXEC) < 0 ||
	    open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0)
		return 4;
	return 0;
}

static void a_session_works_in_its_own_folder(void **state)
{
	need_landlock(2);
	assert_int_equal(run_confined(*state, &privdrop_whole, works_in_its_folder), 0);
}

static int reaches_nothing_of_the_host(struct site *site)
{
	static const char *const closed[] = { "/etc/shadow", "/root", "/home", "/tmp", "/dev/shm",
					      "/dev/pts",    "/var",  "/run",  "/etc", "/" };

	(void)site;
	for (size_t i = 0; i < ARRAY_SIZE(closed); i++)
		if (!fails(open(closed[i], O_RDONLY | O_CLOEXEC), EACCES) && errno != ENOENT)
			return 1 + (int)i;
	if (!fails(open("/usr/x", O_WRONLY | O_CREAT | O_CLOEXEC, 0644), EACCES) && errno != EROFS)
		return 20;
	if (!fails(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC), EACCES))
		return 21;
	return 0;
}

/* Tests 1, 2 and 61. */
static void nothing_of_the_host_is_open(void **state)
{
	need_landlock(1);
	assert_int_equal(run_confined(*state, &privdrop_whole, reaches_nothing_of_the_host), 0);
}

/* Below ABI 9, landlock allows connecting to any socket in the file system. */
static int has_no_socket(struct site *site)
{
	int pair[2];

	(void)site;
	for (int family = 0; family < 50; family++)
		if (socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0)
			return 1 + family;
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0)
		return 100;
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0 ? 0 : 101;
}

/* Tests 44 to 47. */
static void there_is_no_socket_but_a_pair(void **state)
{
	const struct privdrop_means means = { .landlock_abi = LANDLOCK_ABI_SOCKETS - 1 };

	need_landlock(1);
	assert_int_equal(run_confined(*state, &means, has_no_socket), 0);
}

static int fails_to_make_devices(struct site *site)
{
	(void)site;
	return fails(mknodat(site->data_fd, "device", S_IFCHR | 0666, 0x103), EPERM) ||
			       errno == EACCES || errno == EBADF
		       ? 0
		       : 1;
}

/* Test 4. */
static void no_device_is_made(void **state)
{
	need_landlock(1);
	assert_int_equal(run_confined(*state, &privdrop_whole, fails_to_make_devices), 0);
}

static int reads_its_folders(struct site *site)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/file", site->policy.spool_path);
	if (open(path, O_RDONLY | O_CLOEXEC) < 0)
		return 1;
	return fails(open(path, O_WRONLY | O_CLOEXEC), EACCES) ? 0 : 2;
}

/* Test 77. */
static void spool_packages_and_shares_are_read_only(void **state)
{
	struct site *site = *state;
	struct policy before = site->policy;
	char other[128];

	need_landlock(1);
	(void)snprintf(other, sizeof(other), "%s/other", site->folder.path);
	assert_int_equal(mkdir(other, 0755), 0);
	scratch_write(site->folder.fd, "other/file", "text");
	site->policy.spool_path = other;
	assert_int_equal(run_confined(site, &privdrop_whole, reads_its_folders), 0);
	site->policy.packages_path = other;
	assert_int_equal(run_confined(site, &privdrop_whole, reads_its_folders), 0);
	site->policy.packages_path = "";
	site->policy.shares[0] = (struct policy_share){ .path = other };
	site->policy.share_count = 1;
	assert_int_equal(run_confined(site, &privdrop_whole, reads_its_folders), 0);
	site->policy.shares[0].writable = true;
	assert_int_equal(run_confined(site, &privdrop_whole, reads_its_folders), 126);
	site->policy = before;
}

static int is_as_before(struct site *site)
{
	(void)site;
	return open("/", O_RDONLY | O_CLOEXEC) >= 0 &&
			       socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0
		       ? 0
		       : 1;
}

static void unconfined_means_that(void **state)
{
	struct site *site = *state;

	site->policy.tier = POLICY_UNCONFINED;
	assert_int_equal(run_confined(site, &privdrop_whole, is_as_before), 0);
	assert_int_equal(privdrop_layers(&site->policy, &privdrop_whole), 0);
	site->policy.tier = POLICY_LANDLOCK;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_canary_can_get_through_where_nothing_stops_it),
		cmocka_unit_test(tier_landlock_stops_every_escape_test),
		cmocka_unit_test(what_gets_through_follows_the_abi),
		cmocka_unit_test(without_any_landlock_the_tier_is_refused),
		cmocka_unit_test(without_a_layer_those_get_through_that_it_stops_alone),
		cmocka_unit_test(a_session_works_in_its_own_folder),
		cmocka_unit_test(nothing_of_the_host_is_open),
		cmocka_unit_test(there_is_no_socket_but_a_pair),
		cmocka_unit_test(no_device_is_made),
		cmocka_unit_test(spool_packages_and_shares_are_read_only),
		cmocka_unit_test(unconfined_means_that),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
