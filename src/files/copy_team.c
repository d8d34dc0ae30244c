/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads that copy one tree, by directory. */
#include "files/copy_internal.h"

#include <sched.h>
#include <signal.h>

/* Where less was copied than this a second thread costs more than it brings. */
#define LARGE_ENTRIES 200
#define LARGE_BYTES ((int64_t)16 << 20)
#define STACK_SIZE ((size_t)256 << 10)

void cv_copy_team_init(struct cv_copy_team *t, const atomic_bool *cancel)
{
	*t = (struct cv_copy_team){.cancel = cancel, .members = 1};
	pthread_mutex_init(&t->lock, NULL);
	pthread_cond_init(&t->changed, NULL);
}

void cv_copy_team_done(struct cv_copy_team *t)
{
	cv_copier_done(&t->second);
	if (t->offered)
		cv_copy_level_free(t->offered);
	pthread_cond_destroy(&t->changed);
	pthread_mutex_destroy(&t->lock);
}

bool cv_copy_stopped(struct cv_copy_team *t)
{
	if (cv_flag_set(t->cancel) && !atomic_exchange(&t->stop, true)) {
		pthread_mutex_lock(&t->lock);
		t->rc = -ECANCELED;
		pthread_cond_broadcast(&t->changed);
		pthread_mutex_unlock(&t->lock);
	}
	return atomic_load_explicit(&t->stop, memory_order_relaxed);
}

/* Whether the source alone can be why, so that the rest is worth looking at. */
static bool is_of_source(int rc)
{
	return rc == -EACCES || rc == -EPERM || rc == -ELOOP;
}

int cv_copy_failed(struct cv_copier *c, int rc, const struct cv_copy_level *l, const char *name)
{
	struct cv_copy_team *t = c->team;
	cv_path path;

	if (rc == -ECANCELED)
		return rc; /* cv_copy_stopped() has noted it */
	cv_copy_path(l, name, path);
	pthread_mutex_lock(&t->lock);
	if (t->rc == 0 || (t->rc != -ECANCELED && strcmp(path, t->path) < 0)) {
		t->rc = rc;
		memcpy(t->path, path, sizeof(path));
	}
	atomic_store(&t->failed, true);
	if (!is_of_source(rc)) {
		atomic_store(&t->stop, true);
		pthread_cond_broadcast(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	return is_of_source(rc) ? 0 : rc;
}

/* Waits for work, and takes it; false: there is none any more. */
static bool take(struct cv_copier *c)
{
	struct cv_copy_team *t = c->team;

	pthread_mutex_lock(&t->lock);
	t->waiting++;
	atomic_store_explicit(&t->wanted, true, memory_order_relaxed);
	if (t->waiting == t->members)
		pthread_cond_broadcast(&t->changed);
	while (!t->offered && t->waiting < t->members && !atomic_load(&t->stop))
		pthread_cond_wait(&t->changed, &t->lock);
	if (t->offered && !atomic_load(&t->stop)) {
		t->waiting--;
		c->top = TAKE(t->offered);
	}
	pthread_mutex_unlock(&t->lock);
	return c->top != NULL;
}

static void work(struct cv_copier *c)
{
	do
		cv_copy_levels(c);
	while (!atomic_load(&c->team->stop) && take(c));
}

static void *second(void *arg)
{
	work(arg);
	return NULL;
}

static bool has_processors(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 1;
}

/* The second thread gets no signals: they are the program's. */
static void enlarge(struct cv_copy_team *t)
{
	pthread_attr_t attr;
	sigset_t all;
	sigset_t old;

	t->tried = true;
	if (!has_processors() || cv_copier_init(&t->second, t) < 0)
		return;
	t->members = 2;
	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	t->joined = pthread_create(&t->thread, &attr, second, &t->second) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (!t->joined)
		t->members = 1;
}

/* The outermost level that has something to give, and its descriptors. */
static struct cv_copy_level *find_work(const struct cv_copier *c)
{
	struct cv_copy_level *found = NULL;

	for (struct cv_copy_level *l = c->top; l && l->src >= 0; l = l->up)
		if (l->names.len > 0)
			found = l;
	return found;
}

void cv_copy_share(struct cv_copier *c)
{
	struct cv_copy_team *t = c->team;
	struct cv_copy_level *from;
	struct cv_copy_level *l;
	cv_path path;

	if (!t->tried && c != &t->second && (c->entries > LARGE_ENTRIES || c->bytes > LARGE_BYTES))
		enlarge(t);
	if (!atomic_load_explicit(&t->wanted, memory_order_relaxed) || !(from = find_work(c)))
		return;
	/* The last of a chain is not worth the way. */
	if (from == c->top && from->names.len == strlen(from->names.data) + 1)
		return;
	l = cv_copy_next(c, from);
	if (!l)
		return;
	cv_copy_path(from, l->name, path);
	l->prefix = strdup(path);
	pthread_mutex_lock(&t->lock);
	if (l->prefix && t->waiting > 0 && !t->offered) {
		t->offered = TAKE(l);
		atomic_store_explicit(&t->wanted, false, memory_order_relaxed);
		pthread_cond_signal(&t->changed);
	}
	pthread_mutex_unlock(&t->lock);
	if (!l)
		return;
	if (!l->prefix)
		cv_copy_failed(c, -ENOMEM, from, l->name);
	cv_copy_level_free(l);
}

int cv_copy_team_run(struct cv_copy_team *t, struct cv_copier *first)
{
	work(first);
	if (t->joined)
		pthread_join(t->thread, NULL);
	t->joined = false;
	return t->rc;
}
