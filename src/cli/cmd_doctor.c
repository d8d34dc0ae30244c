/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cove doctor: what this machine can do, each thing tried for real.
 *
 * A sandbox is opened and asked what is active in it; what must be refused in there is tried; and
 * each limit is asked for. Nothing is taken from a version or a file that only says so.
 */
#include "cli/report.h"
#include "cli/verbs.h"

#include "base/json.h"

#include <cove/cove.h>

#include <stdio.h>

enum verdict {
	GOOD,
	PARTLY,
	MISSING
};

static const char *const verdicts[] = {"ok", "degraded", "missing"};

struct doctor {
	json_t *rows; /* NULL: print as they come */
	int missing;
};

struct doctor_args {
	bool json;
};

static void tell(struct doctor *d, enum verdict v, const char *label, const char *detail)
{
	d->missing += v == MISSING;
	if (d->rows)
		json_array_append_new(d->rows, json_pack("{s:s,s:s,s:s}", "state", verdicts[v],
							 "label", label, "detail", detail));
	else
		printf("%-9s %-28s %s\n", verdicts[v], label, detail);
}

static void tell_error(struct doctor *d, enum verdict v, const char *label,
		       const struct cove_error *err)
{
	char detail[2100];

	snprintf(detail, sizeof(detail), "%s%s%s", err->message, err->hint[0] ? "; " : "",
		 err->hint);
	tell(d, v, label, detail);
}

/* What must not work inside, and a script that tries it and succeeds only where it does. */
static const struct {
	const char *label;
	const char *script;
} forbidden[] = {
	{"new namespaces", "unshare -U true"},
	{"mounting", "mount -t tmpfs none /tmp"},
	{"writing to the system", "echo x > /usr/cove-doctor"},
	{"kernel settings", "echo cove > /proc/sys/kernel/domainname"},
	{"looking into the guest", "cat /proc/1/environ"},
	{"the host's home", "ls /root /home/*/.ssh"},
	{"ending the guest", "kill -9 1; sleep 0.05; ! kill -0 1"},
	{"devices", "mknod /tmp/cove-doctor b 7 0"},
};

static void try_forbidden(struct doctor *d, struct cove_env *env)
{
	for (size_t i = 0; i < CV_LEN(forbidden); i++) {
		struct cove_error err = COVE_ERROR_INIT;
		struct cove_exec_result *r = NULL;
		char label[100];

		snprintf(label, sizeof(label), "refuses %s", forbidden[i].label);
		if (cove_exec(env,
			      COVE_OPTS(cove_exec_opts, .script = forbidden[i].script,
					.timeout_ms = 10000),
			      &r, &err) < 0)
			tell_error(d, MISSING, label, &err);
		else if (r->exit.phase == COVE_PHASE_EXITED && r->exit.code != 0)
			tell(d, GOOD, label, "tried inside, and refused");
		else
			tell(d, MISSING, label, "tried inside, and let through");
		cove_exec_result_free(r);
	}
}

static void tell_isolation(struct doctor *d, const struct cove_env_describe_result *is)
{
	for (const char *const *i = is->isolation; *i; i++) {
		const char *state = strchr(*i, '=') + 1;
		char label[100];

		snprintf(label, sizeof(label), "%.*s", (int)(state - *i - 1), *i);
		/* Limits are asked for one by one below. */
		if (strstr(label, "_limit"))
			continue;
		tell(d, strcmp(state, "active") == 0 ? GOOD : PARTLY, label, state);
	}
}

static int try_sandbox(struct doctor *d)
{
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_env_describe_result *is = NULL;
	struct cove_env *env = NULL;
	int rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .seed = "/usr",
					 .retain = COVE_RETAIN_NEVER),
			       &env, &err);

	if (rc == 0)
		rc = cove_env_describe(env, &is, &err);
	if (rc < 0 || !is) {
		tell_error(d, MISSING, "sandbox", &err);
		cove_env_close(env, COVE_OUTCOME_FAILURE, NULL);
		return rc;
	}
	tell(d, GOOD, "sandbox", "opened and entered");
	tell_isolation(d, is);
	cove_result_free(is);
	try_forbidden(d, env);
	if (cove_env_close(env, COVE_OUTCOME_SUCCESS, &err) < 0)
		tell_error(d, MISSING, "cleanup", &err);
	return 0;
}

static void try_limit(struct doctor *d, const char *label, struct cove_sandbox_limits limits)
{
	struct cove_sandbox_policy policy = {.size = sizeof(policy), .limits = limits};
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_env *env = NULL;
	int rc = cove_env_open(COVE_OPTS(cove_env_opts, .provider = "sandbox", .policy = &policy,
					 .retain = COVE_RETAIN_NEVER),
			       &env, &err);

	if (rc == 0)
		rc = cove_env_ping(env, &err);
	/* A limit that can't be had is refused where it is asked for, and is no fault of a sandbox. */
	if (rc < 0)
		tell_error(d, PARTLY, label, &err);
	else
		tell(d, GOOD, label, "taken by the kernel");
	cove_env_close(env, COVE_OUTCOME_SUCCESS, NULL);
}

static int run(const void *args, const struct words *words)
{
	const struct doctor_args *a = args;
	struct doctor d = {.rows = a->json ? json_array() : NULL};
	CV_FREE char *text = NULL;

	if (words->command) {
		report("cove doctor takes no command");
		return EXIT_USAGE;
	}
	if (try_sandbox(&d) == 0) {
		try_limit(&d, "memory limit",
			  (struct cove_sandbox_limits){.memory_bytes = 256 << 20});
		try_limit(&d, "process limit", (struct cove_sandbox_limits){.processes = 64});
		try_limit(&d, "processor limit", (struct cove_sandbox_limits){.cpu_millis = 500});
		try_limit(&d, "disk limit", (struct cove_sandbox_limits){.disk_bytes = 16 << 20});
	}
	text = d.rows ? cv_json_dump(d.rows) : NULL;
	if (text)
		puts(text);
	json_decref(d.rows);
	return d.missing > 0;
}

static const struct opt options[] = {
	{"json", 0, OPT_FLAG, .help = "print a JSON array",
	 .offset = offsetof(struct doctor_args, json)},
	{NULL},
};

const struct verb verb_doctor = {
	.name = "doctor",
	.summary = "Try what this machine can do",
	.usage = "[--json]",
	.text = "Opens a sandbox and tries what must work in it, and what must not: each line is something that\n"
		"was done, not looked up. Exits with 0 where sandboxes work, with 1 otherwise.\n",
	.example = "cove doctor",
	.size = sizeof(struct doctor_args),
	.options = options,
	.run = run,
};
