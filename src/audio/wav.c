#include "audio/wav.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audio/resample.h"
#include "base/mem.h"
#include "os/file.h"

/* ---- samples ---- */

void samples_release(struct samples *s)
{
	vec_release(s);
}

int16_t *samples_grow(struct samples *s, size_t n)
{
	if (n > s->cap - s->n) {
		size_t cap = s->cap ? s->cap : 256;
		while (cap - s->n < n)
			cap *= 2;
		s->v = xreallocarray(s->v, cap, sizeof(*s->v));
		s->cap = cap;
	}
	s->n += n;
	return s->v + s->n - n;
}

void samples_add(struct samples *s, const int16_t *more, size_t n)
{
	if (n)
		memcpy(samples_grow(s, n), more, n * sizeof(*more));
}

void samples_drop(struct samples *s, size_t n)
{
	s->n -= n;
	if (n && s->n)
		memmove(s->v, s->v + n, s->n * sizeof(*s->v));
}

/* ---- decoding ---- */

enum {
	FORMAT_PCM = 1,
	FORMAT_FLOAT = 3,
	FORMAT_EXTENSIBLE = 0xFFFE,
	FMT_LEAST = 16,
	FMT_MOST = 40, /* of what follows nothing is needed */
	UNKNOWN_LENGTH = -1, /* as 32 bit: what who cannot know writes */
	FRAME_MAX = WAV_CHANNELS_MAX * 8,
};

/* What comes next. */
enum wav_state { WAV_HEAD, WAV_CHUNK, WAV_FMT, WAV_SKIP, WAV_DATA, WAV_AFTER };

struct wav_decoder {
	enum wav_state state;
	unsigned char part[FRAME_MAX]; /* of a header or a frame that is not whole yet */
	size_t have, need; /* of part */
	uint64_t left; /* of what is skipped, or of the data */
	uint64_t skipped;
	bool endless; /* the lengths say nothing */
	bool floating;
	unsigned rate, channels;
	size_t width; /* bytes of one sample */
	uint32_t fmt_rest; /* of the chunk that is being read */
};

static uint16_t le16(const unsigned char *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t le32(const unsigned char *p)
{
	return le16(p) | (uint32_t)le16(p + 2) << 16;
}

struct wav_decoder *wav_decoder_new(void)
{
	struct wav_decoder *d = xcalloc(1, sizeof(*d));

	d->need = 12;
	return d;
}

void wav_decoder_free(struct wav_decoder *d)
{
	free(d);
}

unsigned wav_decoder_rate(const struct wav_decoder *d)
{
	return d->rate;
}

static void expect(struct wav_decoder *d, enum wav_state state, size_t need)
{
	d->state = state;
	d->have = 0;
	d->need = need;
}

static void skip(struct wav_decoder *d, uint64_t n)
{
	expect(d, WAV_SKIP, 0);
	d->left = n;
}

static int read_format(struct wav_decoder *d, struct err *reterr)
{
	const unsigned char *p = d->part;
	unsigned format = le16(p), bits = le16(p + 14), block = le16(p + 12);

	d->channels = le16(p + 2);
	d->rate = le32(p + 4);
	if (format == FORMAT_EXTENSIBLE && d->need == FMT_MOST)
		format = le16(p + 24);
	d->floating = format == FORMAT_FLOAT;
	if (format != FORMAT_PCM && format != FORMAT_FLOAT)
		return err_set(reterr, ERR_INPUT,
			"a WAV of a kind that is not read (%u): it must be PCM or float", format);
	if (d->channels < 1 || d->channels > WAV_CHANNELS_MAX)
		return err_set(reterr, ERR_INPUT, "a WAV with %u channels", d->channels);
	if (d->rate < WAV_RATE_MIN || d->rate > WAV_RATE_MAX) {
		unsigned rate = d->rate;
		d->rate = 0;
		return err_set(reterr, ERR_INPUT, "a WAV with %u samples a second", rate);
	}
	d->width = (bits + 7U) / 8;
	if (d->floating ? bits != 32 && bits != 64 : bits < 8 || bits > 32)
		return err_set(reterr, ERR_INPUT, "a WAV with %u bits a sample", bits);
	if (block && block != d->width * d->channels)
		return err_set(reterr, ERR_INPUT, "a WAV whose header contradicts itself");
	return 0;
}

/* By the first 12 bytes. */
static bool is_wav(const unsigned char *p)
{
	bool known = memcmp(p, "RIFF", 4) == 0 || memcmp(p, "RF64", 4) == 0;

	return known && memcmp(p + 8, "WAVE", 4) == 0;
}

/* A header, or the head of a chunk, is whole. */
static int read_part(struct wav_decoder *d, struct err *reterr)
{
	const unsigned char *p = d->part;
	uint32_t n = le32(p + 4);

	if (d->state == WAV_HEAD) {
		if (!is_wav(p))
			return err_set(reterr, ERR_INPUT, "not a WAV");
		/* Of what was never finished the length is the one it began with. */
		d->endless = n == (uint32_t)UNKNOWN_LENGTH || n <= 36;
		expect(d, WAV_CHUNK, 8);
	} else if (d->state == WAV_FMT) {
		int r = read_format(d, reterr);
		if (r < 0)
			return r;
		skip(d, d->fmt_rest);
	} else if (memcmp(p, "fmt ", 4) == 0 && n >= FMT_LEAST && !d->rate) {
		size_t need = n < FMT_MOST ? FMT_LEAST : FMT_MOST;
		d->fmt_rest = n - (uint32_t)need + (n & 1);
		expect(d, WAV_FMT, need);
	} else if (memcmp(p, "data", 4) == 0) {
		if (!d->rate)
			return err_set(reterr, ERR_INPUT, "a WAV without a format");
		bool unknown = n == (uint32_t)UNKNOWN_LENGTH || (n == 0 && d->endless);
		d->left = unknown ? UINT64_MAX : n;
		expect(d, WAV_DATA, d->width * d->channels);
	} else {
		skip(d, (uint64_t)n + (n & 1));
	}
	return 0;
}

/* One sample as 32 bit, whatever it is. */
static int64_t read_sample(const struct wav_decoder *d, const unsigned char *p)
{
	uint32_t bits = 0;

	if (d->floating) {
		double value;
		if (d->width == sizeof(double)) {
			uint64_t raw = le32(p) | (uint64_t)le32(p + 4) << 32;
			memcpy(&value, &raw, sizeof(value));
		} else {
			float single;
			bits = le32(p);
			memcpy(&single, &bits, sizeof(single));
			value = (double)single;
		}
		value *= 2147483648.0;
		if (!(value > -2147483648.0)) /* or no number */
			return isnan(value) ? 0 : INT32_MIN;
		return value < 2147483647.0 ? (int64_t)value : INT32_MAX;
	}
	if (d->width == 1) /* the one width without a sign */
		return ((int64_t)p[0] - 128) * (1 << 24);
	for (size_t i = 0; i < d->width; i++)
		bits |= (uint32_t)p[i] << (8 * (4 - d->width + i));
	return (int32_t)bits;
}

static int16_t read_frame(const struct wav_decoder *d, const unsigned char *p)
{
	int64_t sum = 0;

	assert(d->channels);
	for (unsigned c = 0; c < d->channels; c++)
		sum += read_sample(d, p + c * d->width);
	/* Rounded towards what 16 bit were, which come out as they went in. */
	int64_t mean = sum / (int64_t)d->channels;
	return (int16_t)(mean < 0 ? -((-mean) >> 16) : mean >> 16);
}

/* Whole frames straight from the bytes; how many bytes that were. */
static size_t read_frames(struct wav_decoder *d, struct sv bytes, struct samples *out)
{
	size_t frames = bytes.n / d->need;

	if (!frames)
		return 0;
	int16_t *to = samples_grow(out, frames);
	for (size_t i = 0; i < frames; i++)
		to[i] = read_frame(d, (const unsigned char *)bytes.p + i * d->need);
	return frames * d->need;
}

int wav_decode(struct wav_decoder *d, struct sv bytes, struct samples *out, struct err *reterr)
{
	while (bytes.n && d->state != WAV_AFTER) {
		size_t take;
		if (d->state == WAV_SKIP) {
			take = bytes.n < d->left ? bytes.n : (size_t)d->left;
			d->left -= take;
			d->skipped += take;
			if (d->skipped > WAV_SKIP_MAX)
				return err_set(reterr, ERR_LIMIT, "a WAV without sound in it");
			if (!d->left)
				expect(d, WAV_CHUNK, 8);
			bytes = sv_from(bytes, take);
			continue;
		}
		struct sv now = bytes;
		if (d->state == WAV_DATA) {
			if (d->left != UINT64_MAX)
				now = sv_head(now, d->left < SIZE_MAX ? (size_t)d->left : SIZE_MAX);
			take = d->have ? 0 : read_frames(d, now, out);
			if (d->left != UINT64_MAX)
				d->left -= take;
			bytes = sv_from(bytes, take);
			now = sv_from(now, take);
		}
		take = d->need - d->have < now.n ? d->need - d->have : now.n;
		memcpy(d->part + d->have, now.p, take);
		d->have += take;
		bytes = sv_from(bytes, take);
		if (d->state == WAV_DATA) {
			if (d->left != UINT64_MAX)
				d->left -= take;
			if (d->have == d->need) {
				int16_t sample = read_frame(d, d->part);
				samples_add(out, &sample, 1);
				d->have = 0;
			}
			if (!d->left)
				d->state = WAV_AFTER;
		} else if (d->have == d->need) {
			int r = read_part(d, reterr);
			if (r < 0)
				return r;
			/* A chunk of no length is over at once. */
			if (d->state == WAV_SKIP && !d->left)
				expect(d, WAV_CHUNK, 8);
			else if (d->state == WAV_DATA && !d->left)
				d->state = WAV_AFTER;
		}
	}
	return 0;
}

int wav_decode_end(const struct wav_decoder *d, struct err *reterr)
{
	if (d->state == WAV_DATA || d->state == WAV_AFTER)
		return 0;
	if (d->state == WAV_HEAD && !d->have)
		return err_set(reterr, ERR_INPUT, "no sound: not one byte");
	if (d->state == WAV_HEAD && memcmp(d->part, "RIFF", d->have < 4 ? d->have : 4) != 0)
		return err_set(reterr, ERR_INPUT, "not a WAV");
	return err_set(reterr, ERR_INPUT, "a WAV that ends before its sound begins");
}

static void free_decoder(struct wav_decoder **d)
{
	wav_decoder_free(*d);
}

static void free_resampler(struct resampler **r)
{
	resampler_free(*r);
}

int wav_load(const char *path, unsigned rate, double max_s, struct samples *ret_samples,
	unsigned *ret_rate, struct err *reterr)
{
	CLEANUP(free_decoder) struct wav_decoder *d = wav_decoder_new();
	CLEANUP(free_resampler) struct resampler *resampler = NULL;
	AUTO_SAMPLES all = { 0 };
	AUTO_SAMPLES some = { 0 };
	AUTO_FREE char *buf = xmalloc(65536);
	AUTO_CLOSE int fd = file_open(path, NULL, reterr);
	uint64_t taken = 0;
	int r = fd;

	if (r < 0)
		return r;
	for (;;) {
		ssize_t n = read(fd, buf, 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(reterr, errno, "read %s", path);
		some.n = 0;
		r = n ? wav_decode(d, sv_make(buf, (size_t)n), &some, reterr)
		      : wav_decode_end(d, reterr);
		if (r < 0) {
			err_prefix(reterr, "%s", path);
			return r;
		}
		taken += some.n;
		if (d->rate && (double)taken > max_s * d->rate)
			return err_set(reterr, ERR_LIMIT, "%s is longer than %.0f s", path, max_s);
		if (!resampler && d->rate)
			resampler = resampler_new(d->rate, rate ? rate : d->rate);
		if (!n)
			break;
		if (resampler)
			resampler_feed(resampler, some.v, some.n, &all);
	}
	resampler_flush(resampler, &all);
	if (ret_rate)
		*ret_rate = rate ? rate : d->rate;
	*ret_samples = all;
	all = (struct samples){ 0 };
	return 0;
}

/* ---- writing ---- */

enum { HEADER = 44 };

/* bytes UINT32_MAX: to the end. */
static void make_header(unsigned char out[static HEADER], uint32_t bytes, unsigned rate)
{
	uint32_t whole = bytes == UINT32_MAX ? bytes : bytes + HEADER - 8;
	const uint32_t words[] = { htole32(whole), htole32(16), htole32(rate), htole32(rate * 2),
		htole32(bytes) };
	const unsigned char kind[] = { 1, 0, 1, 0 }, shape[] = { 2, 0, 16, 0 };

	memcpy(out, "RIFF", 4);
	memcpy(out + 4, &words[0], 4);
	memcpy(out + 8, "WAVEfmt ", 8);
	memcpy(out + 16, &words[1], 4);
	memcpy(out + 20, kind, 4);
	memcpy(out + 24, &words[2], 4);
	memcpy(out + 28, &words[3], 4);
	memcpy(out + 32, shape, 4);
	memcpy(out + 36, "data", 4);
	memcpy(out + 40, &words[4], 4);
}

void wav_encode(struct str *out, const int16_t *samples, size_t n, unsigned rate)
{
	unsigned char header[HEADER];

	assert(n <= (UINT32_MAX - HEADER) / 2);
	make_header(header, (uint32_t)(n * 2), rate);
	str_add(out, sv_make((const char *)header, HEADER));
	for (size_t i = 0; i < n; i++) {
		uint16_t le = htole16((uint16_t)samples[i]);
		str_add(out, sv_make((const char *)&le, 2));
	}
}

struct wav_writer {
	int fd;
	bool owned; /* the descriptor */
	bool mends; /* the header can be written again, at `start` */
	off_t start;
	unsigned rate;
	uint32_t bytes; /* of samples */
	char *name;
	struct err failed;
};

static int write_header(const struct wav_writer *w, uint32_t bytes, struct err *reterr)
{
	unsigned char header[HEADER];
	size_t at = 0;

	make_header(header, bytes, w->rate);
	while (at < HEADER) {
		ssize_t n = pwrite(w->fd, header + at, HEADER - at, w->start + (off_t)at);
		if (n < 0 && errno != EINTR)
			return err_errno(reterr, errno, "write %s", w->name);
		at += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

/* Goes on where a file of ours ends: what a kill left behind the header's count is cut off. */
static int go_on(struct wav_writer *w, off_t size, struct err *reterr)
{
	unsigned char header[HEADER], ours[HEADER];
	ssize_t n = pread(w->fd, header, HEADER, 0);
	uint32_t bytes = n == HEADER ? le32(header + 40) & ~1U : 0;

	if (n < 0)
		return err_errno(reterr, errno, "read");
	make_header(ours, le32(header + 40), w->rate);
	if (n != HEADER || memcmp(header, ours, HEADER) != 0 || bytes > size - HEADER)
		return err_set(
			reterr, ERR_INPUT, "nothing can be added: it is not a WAV of this kind");
	w->start = 0;
	w->bytes = bytes;
	if (ftruncate(w->fd, HEADER + (off_t)bytes) < 0 || lseek(w->fd, 0, SEEK_END) < 0)
		return err_errno(reterr, errno, "write");
	return 0;
}

int wav_writer_fd(int fd, const char *name, unsigned rate, bool append, struct wav_writer **ret,
	struct err *reterr)
{
	struct wav_writer *w = xcalloc(1, sizeof(*w));
	unsigned char header[HEADER];
	struct stat st = { 0 };
	int flags = fcntl(fd, F_GETFL), r;

	w->fd = fd;
	w->rate = rate;
	w->name = xstrdup(name);
	w->start = lseek(fd, 0, SEEK_CUR);
	/* What appends by itself cannot go back. */
	w->mends = w->start >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
		!(flags & O_APPEND);
	make_header(header, w->mends ? 0 : UINT32_MAX, rate);
	if (append && w->mends && st.st_size > 0)
		r = go_on(w, st.st_size, reterr);
	else
		r = file_write_all(fd, sv_make((const char *)header, HEADER), reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", name);
		free(w->name);
		free(w);
		return r;
	}
	*ret = w;
	return 0;
}

int wav_writer_open(const char *path, unsigned rate, struct wav_writer **ret, struct err *reterr)
{
	struct wav_writer *w = NULL;
	struct stat st = { 0 };
	unsigned char head[12];
	/* What is no file may be there only to be written to. */
	bool file = stat(path, &st) < 0 || S_ISREG(st.st_mode);
	AUTO_CLOSE int fd =
		open(path, (file ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);

	if (fd < 0)
		return err_errno(reterr, errno, "write %s", path);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
		ssize_t n = pread(fd, head, sizeof(head), 0);
		if (n != sizeof(head) || !is_wav(head))
			return err_set(reterr, ERR_USAGE,
				"%s is there and no WAV: it is not overwritten", path);
		if (ftruncate(fd, 0) < 0)
			return err_errno(reterr, errno, "write %s", path);
	}
	int r = wav_writer_fd(fd, path, rate, false, &w, reterr);
	if (r < 0)
		return r;
	w->owned = true;
	TAKE_FD(fd);
	*ret = w;
	return 0;
}

int wav_write(struct wav_writer *w, const int16_t *samples, size_t n, struct err *reterr)
{
	uint16_t le[2048];
	int r = 0;

	if (w->failed.code) {
		if (reterr)
			*reterr = w->failed;
		return w->failed.code;
	}
	while (n && r == 0) {
		size_t some = n < ARRAY_LEN(le) ? n : ARRAY_LEN(le);
		if (w->mends && some * 2 > UINT32_MAX - HEADER - w->bytes) {
			r = err_set(
				&w->failed, ERR_LIMIT, "%s is full: a WAV ends at 4 GB", w->name);
			break;
		}
		for (size_t i = 0; i < some; i++)
			le[i] = htole16((uint16_t)samples[i]);
		r = file_write_all(w->fd, sv_make((const char *)le, some * 2), &w->failed);
		if (r < 0) {
			err_prefix(&w->failed, "write %s", w->name);
			break;
		}
		if (w->mends) {
			w->bytes += (uint32_t)(some * 2);
			r = write_header(w, w->bytes, &w->failed);
		}
		samples += some;
		n -= some;
	}
	if (r < 0 && reterr)
		*reterr = w->failed;
	return r;
}

int wav_writer_close(struct wav_writer *w, struct err *reterr)
{
	struct err err = ERR_INIT;
	int r = 0;

	if (!w)
		return 0;
	/* Half a write may stand behind what the header counts. */
	if (w->failed.code && w->mends) {
		if (ftruncate(w->fd, w->start + HEADER + (off_t)w->bytes) == 0)
			(void)write_header(w, w->bytes, NULL);
	}
	if (w->owned && close(w->fd) < 0 && !w->failed.code)
		(void)err_errno(&w->failed, errno, "close %s", w->name);
	r = w->failed.code;
	err = w->failed;
	free(w->name);
	free(w);
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}
