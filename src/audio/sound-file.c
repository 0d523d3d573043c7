#include "audio/sound-file.h"

#include <dlfcn.h>

#include "audio/resample.h"
#include "base/mem.h"
#include "os/file.h"

/* Of libsndfile's interface what is needed; it has not changed for twenty years. */
struct info {
	int64_t frames;
	int rate, channels, format, sections, seekable;
};
enum { MODE_READ = 0x10, CHUNK = 4096 };

struct library {
	void *(*open_fd)(int fd, int mode, struct info *info, int close_it);
	int64_t (*read)(void *file, short *out, int64_t frames);
	const char *(*error)(void *file);
	int (*close)(void *file);
};

static int open_library(struct library *ret)
{
	struct library l = { .open_fd = NULL };
	/* It stays open: a process reads many files or none. */
	void *lib = dlopen("libsndfile.so.1", RTLD_NOW | RTLD_LOCAL);

	if (lib) {
		*(void **)&l.open_fd = dlsym(lib, "sf_open_fd");
		*(void **)&l.read = dlsym(lib, "sf_readf_short");
		*(void **)&l.error = dlsym(lib, "sf_strerror");
		*(void **)&l.close = dlsym(lib, "sf_close");
	}
	*ret = l;
	return lib && l.open_fd && l.read && l.error && l.close ? 0 : ERR_NOTFOUND;
}

static int read_all(const struct library *lib, void *file, const struct info *info, unsigned rate,
	double max_s, const char *path, struct samples *out, struct err *reterr)
{
	AUTO_FREE short *chunk = xmalloc((size_t)CHUNK * (size_t)info->channels * sizeof(*chunk));
	int16_t mono[CHUNK];
	struct resampler *resampler = resampler_new((unsigned)info->rate, rate);
	int64_t n, all = 0;
	int r = 0;

	while (r >= 0 && (n = lib->read(file, chunk, CHUNK)) > 0) {
		all += n;
		if ((double)all > max_s * info->rate)
			r = err_set(reterr, ERR_LIMIT, "%s is longer than %.0f s", path, max_s);
		for (int64_t i = 0; i < n && i < CHUNK; i++) {
			int sum = 0;
			for (int c = 0; c < info->channels; c++)
				sum += chunk[i * info->channels + c];
			mono[i] = (int16_t)(sum / info->channels);
		}
		resampler_feed(resampler, mono, (size_t)n, out);
	}
	resampler_flush(resampler, out);
	resampler_free(resampler);
	return r;
}

int sound_file_load(const char *path, unsigned rate, double max_s, struct samples *ret_samples,
	struct err *reterr)
{
	AUTO_CLOSE int fd = file_open(path, NULL, reterr);
	char head[4] = { 0 };
	struct library lib;
	struct info info = { .frames = 0 };

	if (fd < 0)
		return fd;
	if (pread(fd, head, sizeof(head), 0) >= 4 && memcmp(head, "RIFF", 4) == 0)
		return wav_load(path, rate, max_s, ret_samples, NULL, reterr);
	int r = open_library(&lib);
	if (r < 0)
		return err_set(reterr, r,
			"%s: only WAV can be read without libsndfile (Debian: apt install "
			"libsndfile1)",
			path);
	void *file = lib.open_fd(fd, MODE_READ, &info, 0);
	if (!file)
		return err_set(reterr, ERR_INPUT, "%s: %s", path, lib.error(NULL));
	if (info.channels < 1 || info.channels > WAV_CHANNELS_MAX || info.rate < WAV_RATE_MIN ||
		info.rate > WAV_RATE_MAX)
		r = err_set(reterr, ERR_INPUT, "%s: %d channels at %d Hz cannot be read", path,
			info.channels, info.rate);
	else
		r = read_all(&lib, file, &info, rate, max_s, path, ret_samples, reterr);
	(void)lib.close(file);
	return r;
}
