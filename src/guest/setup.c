/* SPDX-License-Identifier: Apache-2.0 */
/* What the guest serves, as the host told it once, and what it says of itself. */
#include "guest/guest.h"

#include "base/fd.h"

#include <cove/env.h>

#include <fcntl.h>
#include <sys/utsname.h>

/*
 * Roots are compared with what the kernel says of open descriptors, so links in them are resolved
 * here.
 */
static int real_root(struct cv_arena *arena, const char *root, char **ret, struct cove_error *err)
{
	CV_CLOSE int fd = open(root, O_PATH | O_CLOEXEC);
	cv_path real;
	int rc;

	if (fd < 0)
		return cv_fail_errno(err, errno, root, "can't open the allowed root '%s'", root);
	rc = cv_fd_path(fd, real, sizeof(real));
	if (rc < 0)
		return cv_fail_errno(err, -rc, root, "can't tell where the allowed root '%s' is",
				     root);
	*ret = cv_arena_dup(arena, real, strlen(real));
	return *ret ? 0 : cv_fail(err, COVE_E_INTERNAL, "out of memory");
}

static int set_roots(struct cv_guest_call *call, const struct cv_guest_setup *s,
		     struct cove_error *err)
{
	size_t n = 0;
	char **roots;

	while (s->roots && s->roots[n])
		n++;
	roots = cv_arena_array(call->arena, n + 1, sizeof(*roots));
	if (!roots)
		return cv_fail(err, COVE_E_INTERNAL, "out of memory");
	for (size_t i = 0; i < n; i++) {
		int rc = real_root(call->arena, s->roots[i], &roots[i], err);

		if (rc < 0)
			return rc;
	}
	call->guest->space.roots = roots;
	return 0;
}

static int enter_cwd(struct cv_guest *g, const char *cwd, struct cove_error *err)
{
	if (chdir(cwd) < 0 || !getcwd(g->space.cwd, sizeof(g->space.cwd)))
		return cv_fail_errno(err, errno, cwd,
				     "can't enter the environment's directory '%s'", cwd);
	return 0;
}

/* What the workspace began with; nothing where it is a directory that was there before. */
static int remember_origin(struct cv_guest *g, const struct cv_guest_setup *s,
			   struct cove_error *err)
{
	g->origin = CV_ORIGIN_NONE;
	g->origin.known = true;
	g->origin.settled_ns = cv_file_clock_ns();
	if (!s->seed)
		return 0;
	g->origin.seed = open(s->seed, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return g->origin.seed < 0 ?
		       cv_fail_errno(err, errno, s->seed, "can't use the seed '%s'", s->seed) :
		       0;
}

int cv_guest_prepare(struct cv_guest_call *call, struct cove_error *err)
{
	const struct cv_guest_setup *s = call->req;
	struct cv_guest *g = call->guest;
	int64_t left_out = 0;
	int rc = 0;

	if (g->sandboxed != (s->sandbox != NULL))
		return cv_fail(err, COVE_E_PROTOCOL_ERROR,
			       "the guest was started for another kind of environment");
	if (g->sandboxed)
		rc = cv_guest_confine(call, err);
	if (rc == 0)
		rc = enter_cwd(g, s->cwd, err);
	if (rc == 0)
		rc = set_roots(call, s, err);
	cv_text_copy(g->space.home, sizeof(g->space.home), s->home);
	if (rc == 0 && s->seed)
		rc = cv_copy_tree(s->seed, g->space.cwd, &call->cancel, &left_out, err);
	if (rc == 0 && !g->sandboxed && s->fresh)
		rc = remember_origin(g, s, err);
	if (rc == 0 && cv_procs_configure(&g->procs, s->shell, s->env, s->timeout_ms) < 0)
		rc = cv_fail(err, COVE_E_INTERNAL, "out of memory");
	return rc;
}

/* The set-up lives on with its arena, so its answer is made here and not from the arena's end. */
void cv_guest_setup_done(struct cv_guest_call *call)
{
	struct cv_guest *g = call->guest;
	struct cove_nothing none = {0};
	bool ok = call->rc == 0;

	g->setting_up = false;
	g->ready = ok;
	if (ok) {
		g->setup = call->req;
		g->setup_arena = TAKE(call->arena);
		call->reply.result(&call->reply, &none);
	} else if (!call->err) {
		cv_loop_fail(&g->loop, "out of memory");
	} else {
		g->setup_error = TAKE(call->err);
		call->reply.error(&call->reply, g->setup_error);
	}
	cv_guest_release_held(g);
}

static const char **operations(struct cv_arena *arena)
{
	const char **names = cv_arena_array(arena, CV_OP_COUNT + 1, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; names && i < CV_OP_COUNT; i++)
		if (!(cv_operations[i].flags & CV_OP_INTERNAL))
			names[n++] = cv_operations[i].name;
	return names;
}

static const char **roots(const struct cv_guest *g, struct cv_arena *arena)
{
	size_t n = 0;
	const char **list;

	while (g->space.roots[n])
		n++;
	list = cv_arena_array(arena, n + 2, sizeof(*list));
	for (size_t i = 0; list && i < n; i++)
		list[i] = g->space.roots[i];
	if (list && n == 0)
		list[0] = "/";
	return list;
}

static const char **facets(const struct cv_guest *g, struct cv_arena *arena)
{
	const char **list = cv_arena_array(arena, 7, sizeof(*list));

	if (!list)
		return NULL;
	list[0] = "files=ready";
	list[1] = g->procs.shell ? "shell=ready" : "shell=absent";
	list[2] = "processes=ready";
	list[3] = "outputs=ready";
	list[4] = "ports=ready";
	list[5] = "state=absent";
	return list;
}

void cv_guest_describe(struct cv_guest *g, struct cv_reply *reply)
{
	static const char *const none[] = {NULL};
	CV_ARENA_SCOPE struct cv_arena *arena = cv_arena_new(0, NULL);
	struct cove_error err = COVE_ERROR_INIT;
	struct cove_env_describe_result r = {0};
	struct utsname uts;

	uname(&uts);
	if (arena) {
		r.platform = cv_arena_printf(arena, "linux %s", uts.machine);
		r.operations = operations(arena);
		r.roots = roots(g, arena);
		r.facets = facets(g, arena);
	}
	if (!arena || !r.platform || !r.operations || !r.roots || !r.facets) {
		cv_fail(&err, COVE_E_INTERNAL, "out of memory");
		reply->error(reply, &err);
		return;
	}
	r.provider = g->setup->provider;
	r.namespace_id = g->setup->namespace_id;
	r.cwd = g->space.cwd;
	r.tmp_dir = g->setup->tmp_dir;
	r.home = g->space.home;
	r.shell = g->procs.shell;
	r.limits = (struct cove_describe_limits){.message_bytes = CV_MESSAGE_MAX,
						 .script_bytes = 1 << 20,
						 .read_bytes = 64 << 20,
						 .records = 256};
	r.isolation = g->isolation	  ? g->isolation :
		      g->setup->isolation ? g->setup->isolation :
					    none;
	r.text = g->setup->text ? g->setup->text : "";
	reply->result(reply, &r);
}
