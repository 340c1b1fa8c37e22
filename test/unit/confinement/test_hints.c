/* SPDX-License-Identifier: MIT */
/* test_hints.c - which commands a user gets on which machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "confinement/hints.h"
#include "scratch.h"

/* A machine, as a tree of its files. */
struct machine_case {
	const char *name;
	const char *file; /* NULL: none */
	const char *text;
	const char *lines[3]; /* lines that the user must get */
};

static const struct machine_case cases[] = {
	{ "Ubuntu 24.04",
	  "proc/sys/kernel/apparmor_restrict_unprivileged_userns",
	  "1\n",
	  { "ptycell config apparmor | sudo tee /etc/apparmor.d/ptycell\n",
	    "sudo apparmor_parser -r /etc/apparmor.d/ptycell\n" } },
	{ "Debian 10",
	  "proc/sys/kernel/unprivileged_userns_clone",
	  "0\n",
	  { "kernel.unprivileged_userns_clone=1", "sudo sysctl --system\n" } },
	{ "hardened",
	  "proc/sys/user/max_user_namespaces",
	  "0\n",
	  { "user.max_user_namespaces=15000", "sudo sysctl --system\n" } },
	{ "Docker",
	  ".dockerenv",
	  "",
	  { "--security-opt seccomp=unconfined", "--security-opt systempaths=unconfined" } },
	{ "Kubernetes", "proc/1/cgroup", "0::/kubepods/pod1\n", { "docker run" } },
	{ "WSL 1",
	  "proc/version",
	  "Linux version 4.4.0-19041-Microsoft (Microsoft@Microsoft.com)\n",
	  { "wsl --update\n", "wsl --set-version" } },
	{ "WSL 2",
	  "proc/version",
	  "Linux version 5.15.90.1-microsoft-standard-WSL2\n",
	  { "refused it" } },
	{ "chroot",
	  "proc/self/mountinfo",
	  "28 27 0:22 / /proc rw,nosuid - proc proc rw\n29 27 0:5 / /dev rw - devtmpfs udev rw\n",
	  { "This is a chroot", "Start ptycell outside of it" } },
	{ "mounts",
	  "proc/self/mountinfo",
	  "27 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n28 27 0:22 / /proc rw - proc proc rw\n",
	  { "refused it", "sudo apt install bubblewrap" } },
	{ "anything else", NULL, NULL, { "refused it", "sudo apt install bubblewrap" } },
};

static void write_below(const struct scratch *scratch, const char *file, const char *text)
{
	cleanup_free char *copy = xstrdup(file);

	for (char *p = strchr(copy, '/'); p != NULL; p = strchr(p + 1, '/')) {
		*p = '\0';
		(void)mkdirat(scratch->fd, copy, 0700);
		*p = '/';
	}
	scratch_write(scratch->fd, file, text);
}

static void each_machine_is_told_what_to_type(void **state)
{
	const struct sandbox_report weak = { .tier = POLICY_LANDLOCK, .landlock_abi = 4 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct hints_machine machine;
		struct scratch scratch;

		scratch_init(&scratch);
		if (cases[i].file != NULL)
			write_below(&scratch, cases[i].file, cases[i].text);
		hints_inspect(scratch.path, &machine);
		hints_write(&out, &weak, &machine);
		for (size_t j = 0; j < 3 && cases[i].lines[j] != NULL; j++)
			if (strstr(buf_str(&out), cases[i].lines[j]) == NULL)
				fail_msg("%s: '%s' is not in '%s'", cases[i].name,
					 cases[i].lines[j], buf_str(&out));
		scratch_release(&scratch);
	}
}

static void a_container_where_namespaces_are_switched_off_is_told_so(void **state)
{
	const struct sandbox_report weak = { .tier = POLICY_LANDLOCK, .landlock_abi = 7 };
	const struct hints_machine machine = { .container = true, .none_allowed = true };
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	hints_write(&out, &weak, &machine);
	assert_non_null(strstr(buf_str(&out), "on the machine that runs this container"));
	assert_non_null(strstr(buf_str(&out), "user.max_user_namespaces=15000"));
	assert_null(strstr(buf_str(&out), "docker"));
}

/* Neither rules of a container nor --unconfined are the reason. */
static void a_shortage_is_told_as_one(void **state)
{
	static const struct {
		int sys;
		const char *told;
	} rows[] = {
		{ EMFILE, "(ulimit -n)" }, { EAGAIN, "(ulimit -u)" }, { EFBIG, "(ulimit -f)" },
		{ ENFILE, "descriptors" }, { ENOMEM, "memory" },
	};
	const struct hints_machine machine = { .container = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sandbox_report weak = { .tier = POLICY_LANDLOCK };
		cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);
		struct err err;

		errno = rows[i].sys;
		(void)err_sys(&err, "creating a pipe");
		report_set_reason(&weak, POLICY_NAMESPACES, &err);
		assert_non_null(hints_shortage(err.msg));
		hints_write(&out, &weak, &machine);
		assert_non_null(strstr(buf_str(&out), "no rule of this machine"));
		assert_non_null(strstr(buf_str(&out), rows[i].told));
		assert_null(strstr(buf_str(&out), "docker"));
	}
	assert_null(hints_shortage("creating namespaces: Operation not permitted"));
	assert_null(hints_filter());
}

static void the_strongest_tier_needs_no_advice(void **state)
{
	const struct sandbox_report strong = { .tier = POLICY_NAMESPACES };
	const struct hints_machine machine = { .apparmor = true };
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	hints_write(&out, &strong, &machine);
	assert_int_equal(out.len, 0);
}

static void a_kernel_whose_landlock_is_missing_or_too_old_is_named(void **state)
{
	const struct sandbox_report none = { .tier = POLICY_UNCONFINED, .landlock_abi = 5 };
	const struct hints_machine machine = { .has_bwrap = true };
	cleanup_buf struct buf out = BUF_INIT(BUF_UNBOUNDED);

	(void)state;
	hints_write(&out, &none, &machine);
	assert_non_null(strstr(buf_str(&out), "Linux 6.12"));
	assert_null(strstr(buf_str(&out), "apt install"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_machine_is_told_what_to_type),
		cmocka_unit_test(a_container_where_namespaces_are_switched_off_is_told_so),
		cmocka_unit_test(a_shortage_is_told_as_one),
		cmocka_unit_test(the_strongest_tier_needs_no_advice),
		cmocka_unit_test(a_kernel_whose_landlock_is_missing_or_too_old_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
