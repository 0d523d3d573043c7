#include "search/index-text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "archive/vault.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "json/scan.h"

enum {
	TEXT_MAX = 4 * 1024 * 1024, /* bytes of an item that is no result */
	PATHS_BYTES = 16 * 1024, /* of a call's input, in which paths are looked for */
	PATHS_MAX = 64,
	PATH_BYTES_MAX = 1024,
	PATH_PARTS = 4, /* a path is also found by so many of its last parts */
	DEPTH_MAX = 16, /* of a call's input */
	ANCHOR = 4096,
};

/* ---- text ---- */

/* A string of which no more than max bytes count: cut between two characters, and decoded. */
static void add_string(struct str *out, struct jval val, size_t max)
{
	AUTO_STR head = STR_INIT;
	size_t n = 1;

	if (val.raw.n <= max + 2) {
		(void)scan_string(val, out);
		return;
	}
	while (n < max) {
		const char *escape = memchr(val.raw.p + n, '\\', max - n);
		size_t at = escape ? (size_t)(escape - val.raw.p) : max;
		size_t size = !escape ? 0 : escape[1] == 'u' ? 6 : 2;
		n = at + size;
		if (n > max) {
			n = at;
			break;
		}
	}
	str_add(&head, sv_head(val.raw, n));
	str_addc(&head, '"');
	(void)scan_string((struct jval){ str_sv(&head), J_STRING }, out);
}

static void add_text(const struct item *item, size_t max, struct str *out)
{
	struct scan_iter it = scan_iter(item->text);
	struct jval block, text;
	size_t start = out->len;

	if (item->text.raw.n <= 2 * max) {
		transcript_text(item, out);
	} else if (item->text.type == J_STRING) {
		add_string(out, item->text, max);
	} else {
		while (scan_next(&it, NULL, &block) > 0 && out->len - start < max) {
			if (block.type == J_OBJECT && scan_get(block, SV("text"), &text) > 0)
				block = text;
			if (block.type == J_STRING) {
				add_string(out, block, max - (out->len - start));
				str_addc(out, '\n');
			}
		}
	}
	str_cut(out, start + utf8_cut(sv_from(str_sv(out), start), max).n);
}

/* The strings in a value, a line each: keys are the tool's words, not anybody's. */
static void add_values(struct str *out, struct jval val, unsigned depth, size_t max)
{
	struct scan_iter it = scan_iter(val);
	struct jval inner;

	if (val.type == J_STRING) {
		add_string(out, val, max);
		str_addc(out, '\n');
	}
	while (depth < DEPTH_MAX && out->len < max && scan_next(&it, NULL, &inner) > 0)
		add_values(out, inner, depth + 1, max);
}

static void add_call(const struct item *item, struct str *out)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR values = STR_INIT;
	struct jval val = item->text;

	if (val.type == J_STRING) {
		add_string(&text, val, TEXT_MAX);
		if (scan_text(str_sv(&text), &val) < 0 || val.type != J_OBJECT)
			val.type = J_NONE;
	}
	if (val.type == J_OBJECT || val.type == J_ARRAY)
		add_values(&values, val, 0, TEXT_MAX);
	str_add(out, values.len > 0 ? str_sv(&values) : str_sv(&text));
}

/* ---- results in files of their own ---- */

/* A file in a folder, no link on the way. */
static int open_below(const char *folder, struct sv place, struct stat *st)
{
	const int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
	int fd = open(folder, flags | O_DIRECTORY);
	struct sv name;

	while (fd >= 0 && sv_split(&place, '/', &name)) {
		AUTO_CLOSE int in = fd;
		AUTO_FREE char *text = xmemdup0(name.p, name.n);
		fd = openat(in, text, flags | (place.n > 0 ? O_DIRECTORY : 0));
	}
	if (fd >= 0 && (fstat(fd, st) < 0 || !S_ISREG(st->st_mode))) {
		(void)close(fd);
		fd = -1;
	}
	return fd;
}

int spilled_open(const char *path, struct stat *st)
{
	struct sv folder = path_parent(path_parent(sv_of(path)));
	AUTO_FREE char *name = xmemdup0(folder.p, folder.n);

	return open_below(name, sv_from(sv_of(path), folder.n + 1), st);
}

struct last_kept {
	char key[VAULT_KEY_MAX];
};

static int take_last(void *data, const struct vault_file *file)
{
	struct last_kept *last = data;

	(void)snprintf(last->key, sizeof(last->key), "%s", file->key);
	return 0;
}

static bool read_kept(const struct archive *archive, const char *path, size_t max, struct str *out)
{
	const struct vault_query query = { .path = path };
	struct last_kept last = { .key = "" };
	AUTO_VAULT *v = NULL;

	return archive && vault_open(archive->dir, 0, archive->clock, NULL, &v, NULL) >= 0 &&
		vault_each(v, &query, take_last, &last, NULL) >= 0 && last.key[0] &&
		vault_read(v, last.key, 0, max, out, NULL) >= 0;
}

/* The whole of a result of which the session's file has but the head. */
static bool add_spilled(const struct transcript_format *format, const struct item *item,
	struct index_beside *beside, size_t max, struct str *out)
{
	AUTO_STR place = STR_INIT;
	AUTO_STR text = STR_INIT;
	struct stat st;
	struct jval val;

	if (!transcript_spilled(format, item, &place))
		return false;
	AUTO_FREE char *folder = transcript_folder(format, beside->path);
	if (!folder)
		return false;
	str_addf(&beside->spilled, "%s/%s", folder, place.buf);
	AUTO_CLOSE int fd = spilled_open(beside->spilled.buf, &st);
	if (fd >= 0) {
		beside->size = (uint64_t)st.st_size;
		beside->mtime_ns = file_mtime_ns(&st);
		ssize_t n = str_reserve(&text, max) ? pread(fd, text.buf, max, 0) : -1;
		text.len = n > 0 ? (size_t)n : 0;
		text.buf[text.len] = '\0';
	} else if (!read_kept(beside->archive, beside->spilled.buf, max, &text)) {
		return false;
	}
	size_t start = out->len;
	/* Some tools answer in JSON: its strings are what was said. */
	if (scan_text(str_sv(&text), &val) >= 0 && (val.type == J_OBJECT || val.type == J_ARRAY))
		add_values(out, val, 0, start + max);
	else
		str_add(out, utf8_cut(str_sv(&text), max));
	return out->len > start;
}

bool index_item(const struct transcript_format *format, const struct item *item,
	struct index_beside *beside, size_t result_max, enum doc_kind *ret_kind, struct str *out)
{
	size_t most = result_max ? result_max : INDEX_RESULT_MAX;
	AUTO_STR said = STR_INIT;

	if (beside) {
		str_clear(&beside->spilled);
		beside->size = 0;
		beside->mtime_ns = 0;
	}
	if (item->flags &
		(ITEM_INJECTED | ITEM_SUMMARY | ITEM_REPLACEMENT | ITEM_SYNTHETIC | ITEM_BROKEN |
			ITEM_IMAGE))
		return false;
	switch (item->kind) {
	case ITEM_USER:
		*ret_kind = DOC_USER;
		add_text(item, TEXT_MAX, &said);
		transcript_typed(format, str_sv(&said), out);
		return true;
	case ITEM_ASSISTANT:
		*ret_kind = DOC_ASSISTANT;
		add_text(item, TEXT_MAX, out);
		return true;
	case ITEM_THINKING:
		*ret_kind = DOC_THINKING;
		add_text(item, TEXT_MAX, out);
		return true;
	case ITEM_TOOL_CALL:
		*ret_kind = DOC_CALL;
		add_call(item, out);
		return true;
	case ITEM_TOOL_RESULT:
		*ret_kind = DOC_RESULT;
		if (!beside || !add_spilled(format, item, beside, most, out))
			add_text(item, most, out);
		return true;
	case ITEM_SYSTEM:
	case ITEM_COMPACTION:
	case ITEM_META:
	case ITEM_KINDS:
		break;
	}
	return false;
}

/* ---- files ---- */

static bool ends_path(char c)
{
	return (unsigned char)c <= ' ' || strchr("\"'`()[]{}<>|;,:=*?$&!#%^\\", c);
}

/* A name with an ending: a letter and up to five more behind the last dot. */
static bool has_ending(struct sv name)
{
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] != '.')
		at--;
	size_t n = name.n - at;
	if (at < 2 || n == 0 || n > 6)
		return false;
	for (size_t i = at; i < name.n; i++) {
		char c = name.p[i];
		if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(i > at && c >= '0' && c <= '9'))
			return false;
	}
	return true;
}

static void add_path(struct strv *terms, struct sv path, struct str *term)
{
	unsigned parts = 0;

	for (size_t at = path.n; at-- > 0 && parts < PATH_PARTS;) {
		if (at > 0 && path.p[at - 1] != '/')
			continue;
		if (path.p[at] == '/')
			continue;
		str_clear(term);
		term_of_field(term, TERM_FILE, sv_from(path, at));
		strv_addsv(terms, str_sv(term));
		parts++;
	}
	if (path.p[0] == '/' || parts == PATH_PARTS) {
		str_clear(term);
		term_of_field(term, TERM_FILE, path);
		strv_addsv(terms, str_sv(term));
	}
}

/* Whatever looks like a path in a tool's input: with a '/', or a name with an ending. */
static void add_paths(struct strv *terms, struct sv text, struct str *term)
{
	struct sv seen[PATHS_MAX];
	size_t n_seen = 0, at = 0;

	text = sv_head(text, PATHS_BYTES);
	while (at < text.n && n_seen < PATHS_MAX) {
		size_t from = at, slash;
		while (at < text.n && !ends_path(text.p[at]))
			at++;
		struct sv word = sv_head(sv_from(text, from), at - from);
		at++;
		while (word.n > 0 && (word.p[word.n - 1] == '.' || word.p[word.n - 1] == '/'))
			word.n--;
		if (sv_starts(word, SV("./")))
			word = sv_from(word, 2);
		bool url = sv_starts(word, SV("//"));
		if (word.n < 3 || word.n > PATH_BYTES_MAX || url ||
			(!sv_find(word, SV("/"), &slash) && !has_ending(word)))
			continue;
		bool known = false;
		for (size_t i = 0; i < n_seen; i++)
			known = known || sv_eq(seen[i], word);
		if (known)
			continue;
		seen[n_seen++] = word;
		add_path(terms, word, term);
	}
}

/* ---- documents ---- */

static uint32_t seconds(int64_t ms)
{
	return ms <= 0 ? 0 : ms / 1000 > UINT32_MAX ? UINT32_MAX : (uint32_t)(ms / 1000);
}

/* What a call is found by beside its words: the tool, and the files that its input names. */
static void add_terms(struct strv *terms, const struct item *item, struct sv text)
{
	AUTO_STR term = STR_INIT;

	term_of_field(&term, TERM_TOOL, item->tool);
	strv_addsv(terms, str_sv(&term));
	add_paths(terms, text, &term);
}

static void add_call_before(void *data, const struct item *item)
{
	AUTO_STR text = STR_INIT;

	add_call(item, &text);
	add_terms(data, item, str_sv(&text));
}

bool index_add_item(struct builder *b, const struct transcript_format *format,
	const struct item *item, struct index_beside *beside, struct calls *calls, const char *path,
	size_t result_max, int64_t *time_ms, struct str *text)
{
	AUTO_STRV terms = STRV_INIT;
	enum doc_kind kind;
	int64_t ms = transcript_time(item);

	if (ms > 0)
		*time_ms = ms;
	str_clear(text);
	if (!index_item(format, item, beside, result_max, &kind, text))
		return false;
	builder_doc(b,
		&(struct segment_doc){
			.offset = item->offset,
			.part = item->part,
			.kind = kind,
			.time_s = seconds(*time_ms),
		});
	(void)builder_text(b, str_sv(text), 0);
	/* What a call gave back is found as the call is; of a file that has grown, the call may
	 * have been there before. */
	if (kind == DOC_CALL)
		add_terms(&terms, item, str_sv(text));
	else if (kind == DOC_RESULT && !calls_take(calls, item->tool_id, &terms) && path)
		(void)call_before(
			path, format, item->offset, item->tool_id, add_call_before, &terms);
	for (size_t i = 0; i < terms.n; i++)
		builder_add(b, sv_of(terms.v[i]), 0);
	if (kind == DOC_CALL && item->tool_id.n > 0)
		calls_add(calls, item->tool_id, &terms);
	return true;
}

void index_add_session(struct builder *b, const struct index_source *source, int64_t time_ms)
{
	const char *const texts[] = { source->name, source->cwd, source->branch, source->session };
	uint32_t position = 0;

	builder_doc(b, &(struct segment_doc){ .kind = DOC_SESSION, .time_s = seconds(time_ms) });
	/* Words of two of them do not stand beside each other. */
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		position = builder_text(b, sv_of(texts[i]), position) + 100;
}

/* ---- marks ---- */

int anchor_of(int fd, uint64_t offset, uint64_t *ret)
{
	char bytes[ANCHOR];
	size_t n = offset < ANCHOR ? (size_t)offset : ANCHOR, got = 0;

	while (got < n) {
		ssize_t more = pread(fd, bytes + got, n - got, (off_t)(offset - n + got));
		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return more < 0 ? -errno : ERR_INPUT;
		got += (size_t)more;
	}
	/* SQLite's numbers have a sign: one bit less is enough. */
	*ret = XXH3_64bits_withSeed(bytes, n, offset) >> 1;
	return 0;
}

int anchor_of_file(const char *path, uint64_t offset, uint64_t *ret)
{
	AUTO_CLOSE int fd = unpack_open(path, NULL, NULL);

	return fd < 0 ? fd : anchor_of(fd, offset, ret);
}
