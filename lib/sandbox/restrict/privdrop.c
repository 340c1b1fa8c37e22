/* SPDX-License-Identifier: MIT */
/*
 * privdrop.c - drops privileges in a fixed order: keyring, capabilities, no_new_privs, landlock,
 * seccomp.
 *
 * A keyring must be left first, because possession of a key survives a user namespace and the
 * filter forbids keyctl. Capabilities are dropped from all five sets, and the securebits keep a
 * set-user-id root program from getting them back.
 */
#include "sandbox/restrict/privdrop.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/restrict/seccomp.h"

enum { CAPABILITY_WORDS = 2 };

const struct privdrop_means privdrop_whole = { .landlock_abi = LANDLOCK_ABI_MAX };

static bool uses_layer(const struct privdrop_means *means, enum report_layer layer)
{
	return (means->without & BIT(layer)) == 0;
}

/*
 * A kernel may lack keyrings, a container's filter may hide them, or the user's quota may be used
 * up. The seccomp filter then stands alone.
 */
static int leave_keyring(struct err *err)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS &&
	    errno != EPERM && errno != EDQUOT)
		return err_sys(err, "leaving the session keyring");
	return 0;
}

static int read_capabilities(struct __user_cap_data_struct *ret_sets, struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	if (syscall(SYS_capget, &header, ret_sets) < 0)
		return err_sys(err, "reading capabilities");
	return 0;
}

static int write_no_capabilities(struct err *err)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[CAPABILITY_WORDS] = { 0 };

	if (syscall(SYS_capset, &header, none) < 0)
		return err_sys(err, "giving up capabilities");
	return 0;
}

/* A process without CAP_SETPCAP can neither bound capabilities nor needs to. */
static bool may_bound(const struct __user_cap_data_struct *sets)
{
	return (sets[0].effective & BIT(CAP_SETPCAP)) != 0;
}

static int drop_bound(struct err *err)
{
	/* Ends at the first capability that the kernel does not know. */
	for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0;
	     capability++)
		if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) < 0)
			return err_sys(err, "bounding capabilities");
	return 0;
}

int privdrop_bound_capabilities(struct err *err)
{
	struct __user_cap_data_struct sets[CAPABILITY_WORDS] = { 0 };

	if (read_capabilities(sets, err) < 0)
		return -1;
	return may_bound(sets) ? drop_bound(err) : 0;
}

/* Locks out the capabilities that user id 0 would get. */
static int lock_root(struct err *err)
{
	const unsigned long bits = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED | SECBIT_NO_SETUID_FIXUP |
				   SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_KEEP_CAPS_LOCKED |
				   SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	if (prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) < 0)
		return err_sys(err, "locking capabilities");
	return 0;
}

static int drop_capabilities(struct err *err)
{
	struct __user_cap_data_struct sets[CAPABILITY_WORDS] = { 0 };

	if (read_capabilities(sets, err) < 0)
		return -1;
	if (may_bound(sets) && (drop_bound(err) < 0 || lock_root(err) < 0))
		return -1;
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0)
		return err_sys(err, "giving up ambient capabilities");
	return write_no_capabilities(err);
}

static struct seccomp_options filter_options(const struct policy *policy, int abi)
{
	bool host = policy->tier == POLICY_LANDLOCK;

	/* Before ABI 9, landlock allows connecting to any socket with a path on the host's root. */
	return (struct seccomp_options){
		.unix_sockets = policy->unix_sockets && (!host || abi >= LANDLOCK_ABI_SOCKETS),
		.inet_sockets = !host,
		.host_pids = host,
		.host_files = host,
		.own_inodes = policy->own_inodes,
	};
}

int privdrop_apply(const struct policy *policy, int workspace, const struct privdrop_means *means,
		   struct err *err)
{
	int abi = landlock_abi(means->landlock_abi);
	struct seccomp_options options = filter_options(policy, abi);

	if (policy->tier == POLICY_UNCONFINED)
		return 0;
	if (uses_layer(means, LAYER_KEYRING) && leave_keyring(err) < 0)
		return -1;
	if (uses_layer(means, LAYER_NO_CAPABILITIES) && drop_capabilities(err) < 0)
		return -1;
	/* Landlock and seccomp require this, or a capability. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_sys(err, "giving up new rights");
	if (uses_layer(means, LAYER_LANDLOCK) && landlock_enter(policy, workspace, abi, err) < 0)
		return -1;
	if (uses_layer(means, LAYER_SECCOMP) && seccomp_enter(&options, err) < 0)
		return -1;
	return 0;
}

static bool has_keyrings(void)
{
	return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) >= 0 ||
	       (errno != ENOSYS && errno != EPERM);
}

uint32_t privdrop_layers(const struct policy *policy, const struct privdrop_means *means)
{
	uint32_t layers =
		BIT(LAYER_NO_CAPABILITIES) | BIT(LAYER_NO_NEW_PRIVILEGES) | BIT(LAYER_SECCOMP);

	if (policy->tier == POLICY_UNCONFINED)
		return 0;
	if (has_keyrings())
		layers |= BIT(LAYER_KEYRING);
	if (landlock_abi(means->landlock_abi) > 0)
		layers |= BIT(LAYER_LANDLOCK);
	return layers & ~means->without;
}
