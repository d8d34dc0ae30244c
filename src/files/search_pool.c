/* SPDX-License-Identifier: Apache-2.0 */
/* Slots, and the threads that fill, scan and empty them. */
#include "files/search.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#define SLOTS 1024 /* a power of two */
#define BATCH 8	   /* slots that a thread takes at once, at most */
#define FILL 32	   /* slots that are filled before the others hear of it */
#define THREADS_MAX 8
#define ALONE 16 /* so few files are one thread's work */
#define SLOT_BYTES ((size_t)256 << 10)
#define HELD_BYTES ((size_t)1 << 20)
#define HITS_MAX ((size_t)64 << 20)
#define STACK_SIZE ((size_t)256 << 10)

struct slot {
	struct cv_walk_entry entry;
	struct cv_hits hits;
	bool done;
	bool scanned; /* else it was skipped, or has gone */
	bool skipped;
	int rc;		/* what ended its scan */
	int64_t hidden; /* what the walk had left out by then */
	int64_t skipped_before;
};

struct pool {
	struct cv_search *s;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct slot *slots;
	uint64_t head; /* the first that is not done */
	uint64_t next; /* the first that nobody has taken */
	uint64_t tail; /* the first that is not filled */
	int64_t files; /* found so far */
	size_t held;   /* bytes in slots that are done */
	bool walking;
	bool walked;
	atomic_bool stop;
};

/* A thread, and the slot that it scans. */
struct worker {
	struct pool *pool;
	pthread_t thread;
	struct cv_scan scan;
	uint64_t index;
	struct slot *slot;
	struct cv_buf path;
	const char *file; /* the path of a search of one file */
	int rc;		  /* of starting */
};

static struct slot *slot_at(const struct pool *p, uint64_t index)
{
	return &p->slots[index % SLOTS];
}

static bool stopped(const struct pool *p)
{
	return atomic_load_explicit(&p->stop, memory_order_relaxed);
}

/* Waits until the slot is the head. False: the search has ended. */
static bool wait_for_head(struct worker *w)
{
	struct pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	while (p->head != w->index && !stopped(p))
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
	return !stopped(p);
}

static int path_of(struct worker *w)
{
	w->path.len = 0;
	if (w->file)
		return cv_buf_adds(&w->path, w->file);
	return cv_walk_path(&w->slot->entry, w->pool->s->prefix, &w->path);
}

/* The slot is the head: what it holds goes to the page. */
static int flush(struct worker *w)
{
	struct cv_hits *h = &w->slot->hits;
	int rc = h->bytes.len > 0 ? path_of(w) : 0;

	if (rc < 0 || h->bytes.len == 0)
		return rc;
	return cv_page_take(&w->pool->s->page, h, w->path.data);
}

static bool is_resumed(const struct worker *w)
{
	/* Of one file, or of the very file that the last page ended in. */
	return (w->file || w->slot->entry.resumed) && w->pool->s->opts->after_line > 0;
}

static int on_hit(void *user, const struct cv_hit *hit)
{
	struct worker *w = user;
	const struct cove_file_search_text_opts *opts = w->pool->s->opts;
	struct cv_hits *h = &w->slot->hits;
	int64_t most = opts->max_matches_per_file;
	int rc;

	if (is_resumed(w) && hit->number <= opts->after_line) {
		h->count++;
		return most > 0 && h->count >= most;
	}
	rc = cv_hits_add(h, hit, opts->max_line_length);
	if (rc < 0)
		return rc;
	if (h->bytes.len > SLOT_BYTES) {
		rc = wait_for_head(w) ? flush(w) : -ECANCELED;
		if (rc < 0)
			return rc;
	}
	return h->more || (most > 0 && h->count >= most);
}

static int on_large(void *user)
{
	return wait_for_head(user) ? 0 : -ECANCELED;
}

/* Opens what was a regular file when the walk saw it. A descriptor, or -errno. */
static int open_entry(const struct cv_walk_entry *e, int64_t *ret_size)
{
	int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	CV_CLOSE int fd = openat(e->dir->fd, e->name, flags);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ELOOP;
	*ret_size = st.st_size;
	return TAKE_FD(fd);
}

static void scan_open(struct worker *w, int fd, int64_t size)
{
	struct slot *slot = w->slot;
	int rc = cv_scan_file(&w->scan, fd, size);

	slot->scanned = rc == CV_SCAN_DONE;
	slot->skipped = rc == CV_SCAN_SKIPPED || rc == -EIO || rc == -EISDIR;
	if (rc < 0 && !slot->skipped)
		slot->rc = rc;
	if (!slot->scanned) {
		cv_page_take_back(&w->pool->s->page, &slot->hits);
		slot->hits.count = 0;
	}
}

static void scan_entry(struct worker *w)
{
	struct slot *slot = w->slot;
	int64_t size = 0;
	CV_CLOSE int fd = open_entry(&slot->entry, &size);

	if (fd >= 0)
		scan_open(w, fd, size);
	else if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM)
		slot->rc = fd;
	else
		slot->skipped = fd != -ENOENT && fd != -ELOOP;
}

/* Under the lock: the head is done, and gives its share to the result. */
static void empty_head(struct worker *w, struct slot *slot)
{
	struct cv_search *s = w->pool->s;
	uint64_t index = w->index;
	struct slot *own = w->slot;

	if (slot->rc == 0 && slot->hits.bytes.len > 0) {
		w->slot = slot;
		w->index = w->pool->head;
		slot->rc = flush(w);
		w->slot = own;
		w->index = index;
	}
	s->searched += slot->scanned;
	s->skipped += slot->skipped;
	s->hidden = slot->hidden;
	if (slot->rc < 0 && slot->entry.dir) {
		s->rc = slot->rc;
		w->path.len = 0;
		if (cv_walk_path(&slot->entry, s->prefix, &w->path) == 0)
			snprintf(s->where, sizeof(s->where), "%s", w->path.data);
	} else if (slot->rc < 0) {
		s->rc = slot->rc;
	}
	s->has_more |= slot->hits.more;
	if (s->has_more || s->rc < 0) {
		s->skipped += slot->skipped_before;
		atomic_store(&w->pool->stop, true);
	}
}

static void drop_slot(struct pool *p, struct slot *slot)
{
	cv_buf_done(&slot->hits.bytes);
	if (slot->entry.dir)
		cv_walk_release(p->s->walk, slot->entry.dir);
	memset(slot, 0, sizeof(*slot));
}

/* Under the lock: the worker's slot is done. */
static void finish_slot(struct worker *w)
{
	struct pool *p = w->pool;

	w->slot->done = true;
	p->held += w->slot->hits.bytes.len;
	while (p->head < p->next && slot_at(p, p->head)->done) {
		struct slot *slot = slot_at(p, p->head);

		p->held -= slot->hits.bytes.len;
		if (!stopped(p))
			empty_head(w, slot);
		if (slot == w->slot)
			w->slot = NULL;
		drop_slot(p, slot);
		p->head++;
	}
	pthread_cond_broadcast(&p->changed);
}

/* Scans slots that this thread has taken, [from, to). */
static void scan_slots(struct worker *w, uint64_t from, uint64_t to)
{
	struct pool *p = w->pool;

	for (w->index = from; w->index < to; w->index++) {
		w->slot = slot_at(p, w->index);
		while (p->held > HELD_BYTES && p->head != w->index && !stopped(p))
			pthread_cond_wait(&p->changed, &p->lock);
		pthread_mutex_unlock(&p->lock);
		if (w->slot->rc == 0 && !stopped(p))
			scan_entry(w);
		pthread_mutex_lock(&p->lock);
		finish_slot(w);
	}
}

/* Walks on to the next file, whose slot is filled. 1, 0 at the end, or -errno. */
static int fill_slot(struct pool *p, struct slot *slot)
{
	struct cv_walk *walk = p->s->walk;
	int rc;

	do {
		rc = cv_walk_next(walk, &slot->entry);
		if (rc <= 0)
			break;
		if (slot->entry.type == DT_UNKNOWN) {
			struct stat st;

			if (fstatat(slot->entry.dir->fd, slot->entry.name, &st,
				    AT_SYMLINK_NOFOLLOW) == 0 &&
			    S_ISREG(st.st_mode))
				break;
		}
		if (slot->entry.type != DT_REG)
			cv_walk_release(walk, TAKE(slot->entry.dir));
	} while (slot->entry.type != DT_REG);
	if (rc <= 0)
		slot->entry = (struct cv_walk_entry){0};
	slot->hits.bytes = CV_BUF(HITS_MAX);
	slot->hidden = walk->hidden;
	slot->skipped_before = walk->skipped;
	if (rc > 0 && p->s->opts->max_files > 0 && ++p->files > p->s->opts->max_files)
		rc = -E2BIG;
	if (rc < 0)
		slot->rc = rc;
	return rc;
}

/* Under the lock, which is open meanwhile: fills some slots. */
static void fill_slots(struct pool *p)
{
	uint64_t from = p->tail;
	uint64_t room = CV_MIN((uint64_t)FILL, SLOTS - (p->tail - p->head));
	uint64_t n = 0;
	int rc = 1;

	p->walking = true;
	pthread_mutex_unlock(&p->lock);
	while (n < room && rc > 0 && !stopped(p) && (n == 0 || cv_walk_has_room(p->s->walk))) {
		rc = fill_slot(p, slot_at(p, from + n));
		n += rc != 0;
	}
	pthread_mutex_lock(&p->lock);
	p->tail += n;
	p->walking = false;
	p->walked = rc <= 0;
	pthread_cond_broadcast(&p->changed);
}

static bool can_fill(struct pool *p)
{
	return !p->walked && !p->walking && p->tail - p->head < SLOTS &&
	       (p->tail == p->head || cv_walk_has_room(p->s->walk));
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct pool *p = w->pool;

	pthread_mutex_lock(&p->lock);
	while (!stopped(p)) {
		uint64_t waiting = p->tail - p->next;

		if (waiting >= BATCH || (waiting > 0 && !can_fill(p))) {
			uint64_t share = waiting / (uint64_t)p->s->threads;
			uint64_t from = p->next;

			p->next += CV_MIN(CV_MAX(share, (uint64_t)1), (uint64_t)BATCH);
			scan_slots(w, from, p->next);
		} else if (can_fill(p)) {
			fill_slots(p);
		} else if (p->walked && waiting == 0) {
			break;
		} else {
			pthread_cond_wait(&p->changed, &p->lock);
		}
	}
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static int init_worker(struct worker *w, struct pool *p)
{
	w->pool = p;
	w->path = CV_BUF((size_t)16 << 20);
	w->scan = (struct cv_scan){
		.matcher = p->s->matcher,
		.max_bytes = p->s->opts->max_file_bytes,
		.context = p->s->opts->context,
		.cancel = p->s->ctx->cancel,
		.stop = &p->stop,
		.hit = on_hit,
		.large = on_large,
		.user = w,
	};
	return cv_scan_init(&w->scan);
}

static void done_worker(struct worker *w)
{
	cv_scan_done(&w->scan);
	cv_buf_done(&w->path);
}

static int init_pool(struct pool *p, struct cv_search *s, size_t slots)
{
	*p = (struct pool){.s = s, .slots = calloc(slots, sizeof(*p->slots))};
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	s->page.bytes = CV_BUF(CV_PAGE_BYTES + HITS_MAX);
	s->page.max = s->opts->max_matches;
	s->page.skip = s->opts->offset;
	return p->slots ? 0 : -ENOMEM;
}

static void done_pool(struct pool *p)
{
	for (; p->slots && p->head < p->tail; p->head++)
		drop_slot(p, slot_at(p, p->head));
	free(p->slots);
	pthread_mutex_destroy(&p->lock);
	pthread_cond_destroy(&p->changed);
}

/* Starts threads beside this one, as far as that can be done; how many. */
static int start_threads(struct pool *p, struct worker *workers, int n)
{
	pthread_attr_t attr;
	int started = 1;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	for (; started < n; started++) {
		struct worker *w = &workers[started];

		if (init_worker(w, p) < 0 || pthread_create(&w->thread, &attr, work, w) != 0) {
			done_worker(w);
			break;
		}
	}
	pthread_attr_destroy(&attr);
	return started;
}

int cv_search_tree(struct cv_search *s)
{
	struct worker workers[THREADS_MAX] = {0};
	struct pool p;
	int started = 1;
	int rc = init_pool(&p, s, SLOTS);

	if (rc == 0)
		rc = init_worker(&workers[0], &p);
	if (rc == 0) {
		pthread_mutex_lock(&p.lock);
		fill_slots(&p);
		s->threads = p.tail < ALONE ? 1 : CV_MIN(s->threads, THREADS_MAX);
		pthread_mutex_unlock(&p.lock);
		started = start_threads(&p, workers, s->threads);
		work(&workers[0]);
		for (int i = 1; i < started; i++) {
			pthread_join(workers[i].thread, NULL);
			done_worker(&workers[i]);
		}
		if (s->rc == 0 && !s->has_more) {
			s->hidden = s->walk->hidden;
			s->skipped += s->walk->skipped;
		}
		rc = s->rc;
	}
	done_worker(&workers[0]);
	done_pool(&p);
	return rc;
}

int cv_search_file(struct cv_search *s, int fd, int64_t size, const char *path)
{
	struct worker w = {.file = path};
	struct pool p;
	int rc = init_pool(&p, s, 1);

	if (rc == 0)
		rc = init_worker(&w, &p);
	if (rc == 0) {
		w.slot = p.slots;
		w.slot->hits.bytes = CV_BUF(HITS_MAX);
		scan_open(&w, fd, size);
		rc = w.slot->rc ? w.slot->rc : flush(&w);
		s->searched = w.slot->scanned;
		s->skipped = w.slot->skipped;
		s->has_more = w.slot->hits.more;
		cv_buf_done(&w.slot->hits.bytes);
	}
	done_worker(&w);
	done_pool(&p);
	return rc;
}
