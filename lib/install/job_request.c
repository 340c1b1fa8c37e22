/* SPDX-License-Identifier: MIT */
/* job_request.c - what a step of a job gets. */
#include "install/job_request.h"

#include "base/util.h"
#include "config/settings.h"
#include "confinement/confinement.h"
#include "install/job_record.h"
#include "json/make.h"
#include "policy/policyfile.h"
#include "session/session.h"

/* Tier landlock has no network for installers, and another user could not open the folder. */
static bool reads_wheels(const struct job *job, bool network)
{
	return network && job_resolves(job) &&
	       confinement_facts(job->broker->host->confinement).tier != POLICY_LANDLOCK;
}

json_t *job_request(const struct job *job, const char *step, bool network)
{
	const struct indexes *from = &job->indexes;
	json_t *options = network ? from->options : NULL;
	json_t *request = json_object();
	json_t *folders = json_array();

	for (size_t i = 0; i < from->folder_count; i++)
		json_append(folders, json_make_str(from->folders[i]));
	json_put_str(request, "step", step);
	json_put(request, "packages", json_incref(job->wanted));
	json_put(request, "asked", job_asks(job));
	json_put(request, "locked", json_incref(job->locked));
	json_put(request, "have", job->have != NULL ? json_incref(job->have) : json_array());
	json_put(request, "policy",
		 json_deep_copy(policyfile_packages(job->broker->policy, job->language->name)));
	json_put_str(request, "policy_path", policyfile_path(job->broker->policy));
	json_put(request, "indexes", network ? json_incref(from->urls) : json_array());
	json_put(request, "options", options ? json_incref(options) : json_object());
	json_put(request, "trusted", from->trusted ? json_incref(from->trusted) : json_array());
	json_put_str(request, "certificates", from->certificates);
	json_put(request, "folders", folders);
	json_put_bool(request, "builds", job_may_build(job));
	json_put_int(request, "bytes_max", (json_int_t)job->broker->host->settings->install_max);
	json_put_bool(request, "proxied", confinement_facts(job->broker->host->confinement).rooted);
	if (reads_wheels(job, network))
		json_put_str(request, "wheels", cache_wheels_path(job->broker->cache));
	if (network && str_eq(step, "resolve"))
		json_put(request, "seen", job_seen(job));
	return request;
}

size_t job_folders(const struct job *job, bool network, const char **ret_paths, int *ret_fds)
{
	const struct indexes *from = &job->indexes;
	size_t count = 0;

	for (; count < from->folder_count; count++) {
		ret_paths[count] = from->folders[count];
		ret_fds[count] = from->folder_fds[count];
	}
	if (reads_wheels(job, network)) {
		ret_paths[count] = cache_wheels_path(job->broker->cache);
		ret_fds[count++] = cache_wheels_fd(job->broker->cache);
	}
	return count;
}

json_t *job_pack_request(const struct job *job, const char *entry)
{
	const struct settings *settings = job->broker->host->settings;
	bool shared = job_is_shared(job);
	json_t *request = json_object();

	json_put_str(request, "op", "pack");
	json_put_str(request, "from", "site");
	json_put_str(request, "to", shared ? entry : job->language->name);
	json_put_bool(request, "entry", shared);
	json_put_int(request, "bytes_max", (json_int_t)settings->install_max);
	json_put_int(request, "files_max", (json_int_t)settings->install_files_max);
	if (job->wheels != NULL)
		json_put(request, "wheels", json_incref(job->wheels));
	return request;
}
