/* SPDX-License-Identifier: MIT */
/*
 * Files are put back where the kernel does not report which are open, as on some file systems. No
 * lease is granted in this process.
 */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "base/buf.h"
#include "base/mem.h"
#include "lockdown/bpf.h"
#include "workspace/aside.h"

static struct err err;
static bool done;
static struct buf found; /* "LIST HOW PATH\n" ... */

static void on_done(void *data, const struct aside_result *r)
{
	(void)data;
	assert_null(r->problem);
	for (size_t i = 0; i < r->found_count; i++)
		buf_putf(&found, "%d %s %s\n", r->found[i].list, r->found[i].how, r->found[i].path);
	done = true;
}

/* Has the kernel refuse leases, for good. */
static int refuse_leases(void **state)
{
	struct bpf bpf = { .len = 0 };

	(void)state;
	bpf_begin(&bpf, bpf_native_arch());
	bpf_skip_if_equal(&bpf, SYS_fcntl, 1);
	bpf_allow(&bpf);
	bpf_load_argument(&bpf, 1);
	bpf_skip_if_equal(&bpf, F_SETLEASE, 1);
	bpf_allow(&bpf);
	bpf_errno(&bpf, EINVAL);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return bpf_enter(&bpf, &err);
}

static void assert_found(const char *how, const char *path, enum aside_list list)
{
	cleanup_free char *line = xasprintf("%d %s %s\n", list, how, path);

	if (strstr(buf_str(&found), line) == NULL)
		fail_msg("no '%s' in: %s", line, buf_str(&found));
}

static void files_that_may_be_open_are_named(void **state)
{
	struct fixture *f = *state;
	const struct aside_spec spec = { .loop = f->loop,
					 .workspace = f->workspace,
					 .helper = TEST_BUILD "/ptycell-files",
					 .done = on_done };
	cleanup_free char *text = NULL;

	buf_init(&found, BUF_UNBOUNDED);
	scratch_write(f->data, "other", "one");
	assert_int_equal(workspace_set_aside(f->workspace, &err), 0);
	scratch_write(f->data, "other", "two");
	scratch_write(f->data, "new", "three");
	assert_non_null(aside_put_back(&spec));
	while (!done)
		loop_turn(f->loop, 20);
	assert_found("differs", "other", ASIDE_UNKNOWN);
	assert_found("removed", "new", ASIDE_UNKNOWN);
	assert_found("new", "new", ASIDE_CHANGED);
	text = scratch_read(f->data, "other");
	assert_string_equal(text, "one");
	assert_false(scratch_exists(f->data, "new"));
	buf_release(&found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_that_may_be_open_are_named, fixture_setup,
						fixture_teardown),
	};

	return cmocka_run_group_tests(tests, refuse_leases, NULL);
}
