#include "model/model.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <xxhash.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

struct models {
	char *dir;
	pthread_mutex_t lock; /* of the runtime */
	struct onnx *runtime; /* NULL: not opened yet */
};

struct models *models_new(const char *dir)
{
	struct models *m = xcalloc(1, sizeof(*m));

	m->dir = xstrdup(dir);
	(void)pthread_mutex_init(&m->lock, NULL);
	return m;
}

void models_free(struct models *m)
{
	if (!m)
		return;
	onnx_free(m->runtime);
	(void)pthread_mutex_destroy(&m->lock);
	free(m->dir);
	free(m);
}

const char *models_dir(const struct models *m)
{
	return m->dir;
}

char *models_path(const struct models *m, const struct model_def *def, const char *file)
{
	return xasprintf("%s/%s/%s", m->dir, def->name, file);
}

/* A descriptor of what has the right size; ERR_NOTFOUND or ERR_INPUT, without a word on the remedy.
 */
static int open_file(const char *path, const struct model_file *file, struct err *reterr)
{
	struct stat st;
	AUTO_CLOSE int fd = file_open(path, &st, reterr);

	if (fd < 0)
		return fd == -ENOENT ? err_set(reterr, ERR_NOTFOUND, "%s is missing", path) : fd;
	if ((uint64_t)st.st_size != file->size)
		return err_set(reterr, ERR_INPUT, "%s is damaged: %lld bytes instead of %llu", path,
			(long long)st.st_size, (unsigned long long)file->size);
	return TAKE_FD(fd);
}

/* ERR_NOTFOUND or ERR_INPUT, without a word on the remedy. */
static int map_file(const char *path, const struct model_file *file, struct model_bytes *ret,
	struct err *reterr)
{
	AUTO_CLOSE int fd = open_file(path, file, reterr);

	if (fd < 0)
		return fd;
	void *p = mmap(NULL, (size_t)file->size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (p == MAP_FAILED)
		return err_errno(reterr, errno, "%s", path);
	*ret = (struct model_bytes){ sv_make(p, (size_t)file->size), p };
	if (XXH3_64bits(p, (size_t)file->size) != file->xxh3) {
		model_bytes_release(ret);
		return err_set(reterr, ERR_INPUT, "%s is damaged: its check sum is another", path);
	}
	return 0;
}

enum model_state models_state(const struct models *m, const struct model_def *def, bool read)
{
	enum model_state state = MODEL_WHOLE;
	size_t missing = 0, n = 0;

	for (; n < MODEL_FILES_MAX && def->files[n].name; n++) {
		AUTO_FREE char *path = models_path(m, def, def->files[n].name);
		struct stat st;
		struct model_bytes bytes = { .mapped = NULL };
		if (stat(path, &st) < 0) {
			missing++;
			state = MODEL_DAMAGED;
		} else if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size != def->files[n].size ||
			(read && map_file(path, &def->files[n], &bytes, NULL) < 0)) {
			state = MODEL_DAMAGED;
		}
		model_bytes_release(&bytes);
	}
	return n > 0 && missing == n ? MODEL_MISSING : state;
}

/* What is wrong with a model, with the command that mends it. One of which a part is missing is
 * damaged, as models_state() has it. */
static int with_remedy(
	const struct models *m, int r, const char *model, const struct err *why, struct err *reterr)
{
	const struct model_def *def = model_find(sv_of(model));

	if (r == ERR_NOTFOUND && def && models_state(m, def, false) != MODEL_MISSING)
		return err_set(reterr, ERR_INPUT,
			"the model '%s' is damaged: %s; 'faden model install %s' mends it", model,
			why->msg, model);
	if (r == ERR_NOTFOUND)
		return err_set(reterr, r,
			"the model '%s' is not installed; 'faden model install %s' gets it", model,
			model);
	return err_set(reterr, r, "%s; 'faden model install %s' mends it", why->msg, model);
}

int models_look(const struct models *m, const char *model, bool read, struct err *reterr)
{
	const struct model_def *def = model_find(sv_of(model));

	for (size_t i = 0; def && i < MODEL_FILES_MAX && def->files[i].name; i++) {
		AUTO_FREE char *path = models_path(m, def, def->files[i].name);
		struct model_bytes bytes = { .mapped = NULL };
		struct err why = ERR_INIT;
		int r = read ? map_file(path, &def->files[i], &bytes, &why)
			     : open_file(path, &def->files[i], &why);
		if (r < 0)
			return with_remedy(m, r, model, &why, reterr);
		if (!read)
			(void)close(r);
		model_bytes_release(&bytes);
	}
	return 0;
}

int models_map(const struct models *m, const char *model, const char *file, struct model_bytes *ret,
	struct err *reterr)
{
	const struct model_def *def = model_find(sv_of(model));
	const struct model_file *f = NULL;

	for (size_t i = 0; def && i < MODEL_FILES_MAX && def->files[i].name; i++) {
		if (strcmp(def->files[i].name, file) == 0)
			f = &def->files[i];
	}
	if (!f)
		return err_set(reterr, ERR_BUG, "there is no model %s with %s", model, file);
	AUTO_FREE char *path = models_path(m, def, file);
	struct err why = ERR_INIT;
	int r = map_file(path, f, ret, &why);
	return r < 0 ? with_remedy(m, r, model, &why, reterr) : 0;
}

void model_bytes_release(struct model_bytes *b)
{
	if (b->mapped)
		(void)munmap(b->mapped, b->bytes.n);
	*b = (struct model_bytes){ .mapped = NULL };
}

int models_runtime(struct models *m, struct onnx **ret, struct err *reterr)
{
	const struct model_def *def = model_find(SV("runtime"));
	int r = 0;

	(void)pthread_mutex_lock(&m->lock);
	if (!m->runtime) {
		/* A library that ends early would kill us when it is opened. */
		struct model_bytes bytes = { .mapped = NULL };
		r = models_map(m, def->name, def->files[0].name, &bytes, reterr);
		if (r >= 0) {
			AUTO_FREE char *path = models_path(m, def, def->files[0].name);
			model_bytes_release(&bytes);
			r = onnx_open(path, &m->runtime, reterr);
		}
	}
	if (r >= 0)
		*ret = m->runtime;
	(void)pthread_mutex_unlock(&m->lock);
	return r;
}

int models_session(struct models *m, const char *model, const char *file,
	const struct onnx_session_opts *opts, struct onnx_session **ret, struct err *reterr)
{
	struct model_bytes bytes = { .mapped = NULL };
	struct onnx *o;
	int r = models_runtime(m, &o, reterr);

	if (r < 0)
		return r;
	r = models_map(m, model, file, &bytes, reterr);
	if (r < 0)
		return r;
	r = onnx_session_new(o, bytes.bytes, opts, ret, reterr);
	model_bytes_release(&bytes);
	if (r < 0)
		err_prefix(reterr, "%s/%s", model, file);
	return r;
}
