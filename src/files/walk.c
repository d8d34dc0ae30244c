/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a tree in order, with few descriptors and without following links. */
#include "files/walk.h"

#include "base/utf8.h"
#include "files/common.h"

#include <dirent.h>
#include <fcntl.h>

#define NAMES_MAX ((size_t)256 << 20)
#define PATH_BYTES_MAX ((size_t)16 << 20)
#define DENTS_SIZE ((size_t)64 << 10)
#define OPEN_LEVELS 20

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

static void close_dir(struct cv_walk *w, struct cv_walk_dir *dir)
{
	w->open -= dir->fd >= 0;
	cv_close(&dir->fd);
}

/* Under the lock. What nobody uses any more goes, and what was held by it. */
static void put_dir(struct cv_walk *w, struct cv_walk_dir *dir)
{
	while (dir && --dir->users == 0) {
		struct cv_walk_dir *up = dir->up;

		close_dir(w, dir);
		cv_buf_done(&dir->names);
		free(dir->order);
		cv_glob_state_done(&dir->state);
		free(dir);
		dir = up;
	}
}

static void hold_entry(struct cv_walk *w, struct cv_walk_dir *dir)
{
	pthread_mutex_lock(&w->lock);
	dir->entries++;
	dir->users++;
	pthread_mutex_unlock(&w->lock);
}

void cv_walk_release(struct cv_walk *w, struct cv_walk_dir *dir)
{
	pthread_mutex_lock(&w->lock);
	if (--dir->entries == 0 && dir->parked)
		close_dir(w, dir);
	put_dir(w, dir);
	pthread_mutex_unlock(&w->lock);
}

bool cv_walk_has_room(struct cv_walk *w)
{
	bool room;

	pthread_mutex_lock(&w->lock);
	room = w->open < CV_WALK_OPEN_MAX;
	pthread_mutex_unlock(&w->lock);
	return room;
}

static int compare(const void *a, const void *b, void *names)
{
	const char *base = names;

	/* Behind the type. */
	return strcmp(base + *(const uint32_t *)a + 1, base + *(const uint32_t *)b + 1);
}

static int sort_names(struct cv_walk_dir *dir)
{
	uint32_t at = 0;

	dir->order = calloc(dir->count + 1, sizeof(*dir->order));
	if (!dir->order)
		return -ENOMEM;
	for (size_t i = 0; i < dir->count; i++) {
		dir->order[i] = at;
		at += (uint32_t)strlen(dir->names.data + at + 1) + 2;
	}
	qsort_r(dir->order, dir->count, sizeof(*dir->order), compare, dir->names.data);
	return 0;
}

static int add_name(struct cv_walk *w, struct cv_walk_dir *dir, const struct dirent64 *e)
{
	size_t len = strlen(e->d_name);
	int rc;

	if (e->d_name[0] == '.' && (len == 1 || (len == 2 && e->d_name[1] == '.')))
		return 0;
	if (!cv_utf8_valid(e->d_name, len)) {
		w->skipped++;
		return 0;
	}
	rc = cv_buf_reserve(&dir->names, len + 2);
	if (rc < 0)
		return rc;
	dir->names.data[dir->names.len] = (char)e->d_type;
	memcpy(dir->names.data + dir->names.len + 1, e->d_name, len + 1);
	dir->names.len += len + 2;
	dir->count++;
	return 0;
}

/* Reads and sorts the names; tells which of them belong to git. */
static int read_names(struct cv_walk *w, struct cv_walk_dir *dir, bool *ret_rules, bool *ret_git)
{
	ssize_t len;

	*ret_rules = *ret_git = false;
	while ((len = getdents64(dir->fd, w->dents, DENTS_SIZE)) > 0) {
		if (cv_flag_set(w->cancel))
			return -ECANCELED;
		for (ssize_t at = 0; at < len;) {
			const struct dirent64 *e = (const void *)(w->dents + at);
			int rc = add_name(w, dir, e);

			if (rc < 0)
				return rc;
			*ret_git |= strcmp(e->d_name, ".git") == 0;
			*ret_rules |= strcmp(e->d_name, ".gitignore") == 0;
			at += e->d_reclen;
		}
	}
	/* One that has been removed meanwhile has no names. */
	if (len < 0 && errno != ENOENT)
		return -errno;
	return sort_names(dir);
}

/* The walk goes on in dir, which holds its own descriptor already. */
static int push(struct cv_walk *w, struct cv_walk_dir *dir)
{
	struct cv_walk_dir *far = dir;
	struct stat st;
	bool has_rules;
	bool has_git;
	int rc;

	pthread_mutex_lock(&w->lock);
	w->open++;
	dir->users = 1;
	dir->up = w->top;
	if (dir->up)
		dir->up->users++;
	w->top = dir;
	for (int i = 0; far && i < OPEN_LEVELS; i++)
		far = far->up;
	if (far && far->up && !far->parked) {
		far->parked = true;
		if (far->entries == 0)
			close_dir(w, far);
	}
	pthread_mutex_unlock(&w->lock);
	if (fstat(dir->fd, &st) < 0)
		return -errno;
	dir->dev = st.st_dev;
	dir->ino = st.st_ino;
	dir->path_len = w->path.len;
	dir->scope = dir->up ? dir->up->scope : w->above;
	rc = read_names(w, dir, &has_rules, &has_git);
	if (rc == 0 && w->use_ignore && (has_rules || has_git))
		rc = cv_scope_enter(dir->fd, has_rules, has_git, dir->path_len, &dir->scope,
				    dir->own);
	return rc;
}

/* Takes the descriptor and the state over. NULL: no memory. */
static struct cv_walk_dir *new_dir(int *fd, const char *name, struct cv_glob_state *state)
{
	struct cv_walk_dir *dir = calloc(1, sizeof(*dir));

	if (!dir)
		return NULL;
	dir->fd = TAKE_FD(*fd);
	dir->names = CV_BUF(NAMES_MAX);
	dir->state = *state;
	*state = (struct cv_glob_state){0};
	memcpy(dir->name, name, strlen(name) + 1);
	return dir;
}

/* Whether a directory that could not be read is left out, rather than the walk ended. */
static bool is_passable(struct cv_walk *w, int rc)
{
	if (rc == -ENOENT || rc == -ENOTDIR || rc == -ELOOP)
		return true; /* gone, or something else by now */
	if (rc != -EACCES && rc != -EPERM && rc != -EIO && rc != -EBUSY && rc != -ESTALE)
		return false;
	w->skipped++;
	return true;
}

static int descend(struct cv_walk *w)
{
	CV_CLOSE int fd = openat(w->top->fd, w->enter, DIR_FLAGS);
	const char *name = w->enter;
	struct cv_walk_dir *dir;
	int rc = fd < 0 ? -errno : cv_buf_adds(&w->path, name);

	w->enter = NULL;
	if (rc == 0)
		rc = cv_buf_add(&w->path, "/", 1);
	if (rc < 0) {
		cv_glob_state_done(&w->enter_state);
		return is_passable(w, rc) ? 0 : rc;
	}
	dir = new_dir(&fd, name, &w->enter_state);
	if (!dir)
		return -ENOMEM;
	rc = push(w, dir);
	if (rc == 0 || !is_passable(w, rc))
		return rc;
	dir->count = 0;
	return 0;
}

static bool is_same(int fd, const struct cv_walk_dir *dir)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dir->dev && st.st_ino == dir->ino;
}

/* From the nearest directory above that is open, name by name. A descriptor, or -1. */
static int open_from_above(const struct cv_walk_dir *dir)
{
	CV_CLOSE int parent = -1;
	int above = dir->up->fd;

	if (above < 0) {
		parent = open_from_above(dir->up);
		above = parent;
	}
	return above < 0 ? -1 : openat(above, dir->name, DIR_FLAGS);
}

/* Opens a directory again that was closed while the walk was far below it. */
static void reopen(struct cv_walk *w, struct cv_walk_dir *dir, int below)
{
	CV_CLOSE int fd = openat(below, "..", DIR_FLAGS);

	if (!is_same(fd, dir)) {
		cv_close(&fd);
		fd = open_from_above(dir);
	}
	pthread_mutex_lock(&w->lock);
	if (is_same(fd, dir)) {
		dir->fd = TAKE_FD(fd);
		w->open++;
	} else {
		w->skipped++;
		dir->next = dir->count;
	}
	dir->parked = false;
	pthread_mutex_unlock(&w->lock);
}

static void ascend(struct cv_walk *w)
{
	struct cv_walk_dir *dir = w->top;
	struct cv_walk_dir *up = dir->up;

	pthread_mutex_lock(&w->lock);
	if (up)
		up->parked = up->fd < 0;
	pthread_mutex_unlock(&w->lock);
	if (up && up->parked && up->next < up->count)
		reopen(w, up, dir->fd);
	for (size_t i = 0; i < CV_LEN(dir->own); i++)
		cv_scope_free(TAKE(dir->own[i]));
	pthread_mutex_lock(&w->lock);
	w->top = up;
	put_dir(w, dir);
	pthread_mutex_unlock(&w->lock);
	w->path.len = up ? up->path_len : 0;
}

/* Scratch directories of environments, which stand in a .tmp. */
static bool is_scratch(const struct cv_walk_dir *dir, const char *name)
{
	return strncmp(name, "cove-", 5) == 0 && strcmp(dir->name, ".tmp") == 0;
}

static int find_veil(struct cv_walk *w, const struct cv_walk_dir *dir, const char *name, size_t len,
		     bool is_dir, unsigned *ret)
{
	*ret = name[0] == '.' && !w->include_hidden ? CV_VEIL_HIDDEN : 0;
	if (is_dir && is_scratch(dir, name))
		*ret |= CV_VEIL_HIDDEN | CV_VEIL_IGNORED;
	if (!w->use_ignore)
		return 0;
	if (strcmp(name, ".git") == 0) {
		*ret |= CV_VEIL_IGNORED;
	} else if (dir->scope) {
		int rc = cv_buf_add(&w->path, name, len);

		if (rc < 0)
			return rc;
		if (cv_scope_ignores(dir->scope, w->path.data, w->path.len,
				     w->path.data + dir->path_len, is_dir))
			*ret |= CV_VEIL_IGNORED;
		w->path.len = dir->path_len;
	}
	return 0;
}

static unsigned char type_of(const struct cv_walk_dir *dir, const char *entry)
{
	struct stat st;

	if (entry[0] != DT_UNKNOWN)
		return (unsigned char)entry[0];
	if (fstatat(dir->fd, entry + 1, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return DT_UNKNOWN;
	return (unsigned char)IFTODT(st.st_mode);
}

/*
 * Where a walk begins behind a path: whether an entry comes before that, *ret_match whether it may
 * be given, *ret_same whether it is that path. The walk passes through the directories of the path without giving them.
 */
static bool is_before(struct cv_walk *w, const char *name, bool *ret_match, bool *ret_same)
{
	size_t len = strcspn(w->after, "/");
	int order = strncmp(name, w->after, len);

	if (order == 0 && name[len] != '\0')
		order = 1;
	*ret_same = order == 0 && w->after[len] == '\0';
	*ret_match = order > 0 || (*ret_same && w->after_too);
	if (order > 0)
		w->after = NULL;
	else if (order == 0)
		w->after = w->after[len] ? w->after + len + 1 : NULL;
	return order < 0;
}

/* Looks at the next entry of the top. 1: it matches, and is in *ret. */
static int consider(struct cv_walk *w, struct cv_walk_entry *ret)
{
	struct cv_walk_dir *dir = w->top;
	const char *entry = dir->names.data + dir->order[dir->next++];
	const char *name = entry + 1;
	size_t len = strlen(name);
	unsigned char type = type_of(dir, entry);
	bool enters = type == DT_DIR && !w->no_recurse;
	int wanted = CV_GLOB_MATCH | (enters ? CV_GLOB_BELOW : 0);
	bool may_match = true;
	bool resumed = false;
	unsigned veil;
	int rc;

	if (w->after && is_before(w, name, &may_match, &resumed))
		return 0;
	rc = find_veil(w, dir, name, len, type == DT_DIR, &veil);
	if (rc == 0)
		rc = cv_glob_step(w->glob, &dir->state, name, len, veil,
				  enters ? &w->enter_state : NULL);
	if (rc < 0)
		return rc;
	if (veil && !(rc & wanted) &&
	    (cv_glob_step(w->glob, &dir->state, name, len, 0, NULL) & wanted))
		w->hidden++;
	if (enters && (rc & CV_GLOB_BELOW))
		w->enter = name;
	else
		cv_glob_state_done(&w->enter_state);
	if (!(rc & CV_GLOB_MATCH) || !may_match)
		return 0;
	hold_entry(w, dir);
	*ret = (struct cv_walk_entry){.dir = dir, .name = name, .type = type, .resumed = resumed};
	return 1;
}

int cv_walk_next(struct cv_walk *w, struct cv_walk_entry *ret)
{
	int rc = 0;

	while (rc == 0 && w->top) {
		if (cv_flag_set(w->cancel))
			return -ECANCELED;
		if (w->enter)
			rc = descend(w);
		else if (w->top->next < w->top->count)
			rc = consider(w, ret);
		else
			ascend(w);
	}
	return rc;
}

int cv_walk_fail(const struct cv_file_ctx *ctx, int rc, const char *path, struct cove_error *err)
{
	if (rc == -ECANCELED)
		return cv_files_cancelled(ctx, err);
	if (rc == -ENOMEM)
		return cv_files_no_memory(err);
	if (rc == -EFBIG)
		cv_fail(err, COVE_E_TOO_LARGE,
			"an ignore file at or above '%s' is larger than 1 MiB", path);
	else if (rc == -EMSGSIZE)
		cv_fail(err, COVE_E_TOO_LARGE, "a directory in '%s' has too many names", path);
	else
		return cv_fail_errno(err, -rc, path, "cannot walk '%s'", path);
	cv_err_path(err, path);
	return COVE_E_TOO_LARGE;
}

int cv_walk_begin(struct cv_walk *w, const struct cv_file_ctx *ctx, const struct cv_found *root,
		  const char *path, struct cove_error *err)
{
	const char *name = strrchr(root->real, '/');
	struct cv_glob_state state = {0};
	CV_CLOSE int fd = openat(root->fd, ".", DIR_FLAGS);
	struct cv_walk_dir *dir;
	int rc = fd < 0 ? -errno : 0;

	w->cancel = ctx->cancel;
	w->path = CV_BUF(PATH_BYTES_MAX);
	pthread_mutex_init(&w->lock, NULL);
	w->dents = malloc(DENTS_SIZE);
	if (rc == 0 && !w->dents)
		rc = -ENOMEM;
	if (rc == 0 && w->use_ignore)
		rc = cv_scope_above(ctx, root->real, &w->above, &w->path);
	if (rc == 0)
		rc = cv_glob_start(w->glob, &state);
	if (rc < 0)
		return cv_walk_fail(ctx, rc, path, err);
	dir = new_dir(&fd, name ? name + 1 : "", &state);
	if (!dir)
		return cv_files_no_memory(err);
	rc = push(w, dir);
	return rc < 0 ? cv_walk_fail(ctx, rc, path, err) : 0;
}

void cv_walk_done(struct cv_walk *w)
{
	while (w->top) {
		/* Nothing above is wanted any more. */
		if (w->top->up)
			w->top->up->next = w->top->up->count;
		ascend(w);
	}
	while (w->above) {
		struct cv_scope *s = w->above;

		w->above = s->up;
		cv_scope_free(s);
	}
	cv_glob_state_done(&w->enter_state);
	cv_buf_done(&w->path);
	free(TAKE(w->dents));
	pthread_mutex_destroy(&w->lock);
}

int cv_walk_prefix(const struct cv_file_ctx *ctx, const struct cv_found *root, const char *path,
		   const char *field, const char **ret, const char **after, struct cove_error *err)
{
	const char *dir = cv_files_show(ctx, root->real, path);
	const char *prefix = dir;
	const char *rest = *after;

	if (dir && strcmp(dir, ".") == 0)
		prefix = "";
	else if (dir && strcmp(dir, "/") != 0)
		prefix = cv_arena_printf(ctx->arena, "%s/", dir);
	if (!dir || !prefix)
		return cv_files_no_memory(err);
	*ret = prefix;
	if (!rest)
		return 0;
	if (prefix[0] == '\0' && strncmp(rest, "./", 2) == 0)
		rest += 2;
	if (strncmp(rest, prefix, strlen(prefix)) != 0 || rest[strlen(prefix)] == '\0' ||
	    (prefix[0] == '\0' && (rest[0] == '/' || strncmp(rest, "../", 3) == 0)))
		return cv_fail_arg(err, field, "give a path of a result as it stands",
				   "is not below the root");
	*after = rest + strlen(prefix);
	return 0;
}

int cv_walk_path(const struct cv_walk_entry *e, const char *prefix, struct cv_buf *ret)
{
	size_t start = ret->len;
	size_t len = strlen(e->name);
	char *p;
	int rc;

	for (const struct cv_walk_dir *d = e->dir; d->up; d = d->up)
		len += strlen(d->name) + 1;
	rc = cv_buf_reserve(ret, len + strlen(prefix) + 2);
	if (rc < 0)
		return rc;
	cv_buf_adds(ret, prefix);
	p = ret->data + ret->len + len;
	ret->len += len;
	*p = '\0';
	p -= strlen(e->name);
	memcpy(p, e->name, strlen(e->name));
	for (const struct cv_walk_dir *d = e->dir; d->up; d = d->up) {
		*--p = '/';
		p -= strlen(d->name);
		memcpy(p, d->name, strlen(d->name));
	}
	/* A file that is called ~ is not the home directory. */
	if (prefix[0] == '\0' && p[0] == '~' && (p[1] == '/' || p[1] == '\0')) {
		memmove(ret->data + start + 2, ret->data + start, len + 1);
		memcpy(ret->data + start, "./", 2);
		ret->len += 2;
	}
	return 0;
}
