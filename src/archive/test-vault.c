#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/vault.h"
#include "os/test-temp.h"
#include "store/sql.h"

#define ID "0c3b9f0e-1111-4222-8333-444455556666"
#define OTHER "ffffffff-1111-4222-8333-444455556666"

static const struct clock noon = { .fixed = true, .fixed_ms = 1000000000000 };

struct fixture {
	char *dir, *vault, *file;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->dir = temp_folder();
	f->vault = path_join(f->dir, "archive");
	f->file = path_join(f->dir, ID ".jsonl");
	*state = f;
	return 0;
}

/* Whatever a test did: its database is what the packs say. */
static int tear_down(void **state)
{
	struct fixture *f = *state;
	struct vault *v = NULL;

	for (int i = 0; i < 2; i++) {
		if (vault_open(f->vault, VAULT_WRITE | VAULT_CHECK, &noon, NULL, &v, NULL) < 0)
			return -1;
		bool again = i > 0 && vault_made_anew(v);
		vault_close(v);
		if (again)
			return -1;
	}
	temp_remove(f->dir);
	free(f->vault);
	free(f->file);
	free(f);
	return 0;
}

/* Lines of a session, each another one, with its id in them. */
static void add_lines(struct str *out, const char *id, unsigned first, unsigned n)
{
	for (unsigned i = first; i < first + n; i++) {
		uint64_t seed = i * UINT64_C(0x9E3779B97F4A7C15) + 1;
		str_addf(out, "{\"n\":%u,\"sessionId\":\"%s\",\"text\":\"", i, id);
		for (unsigned k = 0; k < i % 60; k++) {
			seed = seed * UINT64_C(6364136223846793005) + i;
			str_addf(out, "%016llx", (unsigned long long)seed);
		}
		str_adds(out, "\"}\n");
	}
}

static void write_file(const char *path, const struct str *text)
{
	assert_int_equal(file_replace(path, str_sv(text), 0600, NULL), 0);
}

static struct vault_taken take_as(struct fixture *f, const struct vault_source *source)
{
	AUTO_VAULT *v = NULL;
	struct vault_taken taken;
	struct err err = ERR_INIT;

	if (vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, &err) < 0)
		fail_msg("%s", err.msg);
	struct taker *t = taker_new(v);
	if (taker_take(t, source, &taken, &err) < 0 || taker_finish(t, &err) < 0 ||
		vault_commit(v, &err) < 0)
		fail_msg("%s", err.msg);
	taker_free(t);
	return taken;
}

static struct vault_taken take(struct fixture *f, const char *path, const char *id)
{
	const struct vault_source source = {
		.path = path, .agent = "claude", .session = id, .own = id
	};

	return take_as(f, &source);
}

static void check_content(struct fixture *f, const char *key, const struct str *want)
{
	AUTO_VAULT *v = NULL;
	AUTO_STR got = STR_INIT;
	struct err err = ERR_INIT;

	if (vault_open(f->vault, 0, &noon, NULL, &v, &err) < 0 ||
		vault_read(v, key, 0, UINT64_MAX, &got, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(got.len, want->len);
	assert_memory_equal(got.buf, want->buf, want->len);
	/* Any part of it is the same part. */
	for (size_t at = 0; at < want->len; at += want->len / 7 + 1) {
		str_clear(&got);
		assert_int_equal(vault_read(v, key, at, 5000, &got, NULL), 0);
		struct sv part = sv_head(sv_from(str_sv(want), at), 5000);
		assert_int_equal(got.len, part.n);
		assert_memory_equal(got.buf, part.p, part.n);
	}
}

static uint64_t stored(struct fixture *f)
{
	AUTO_VAULT *v = NULL;
	struct vault_figures figures;

	assert_int_equal(vault_open(f->vault, 0, &noon, NULL, &v, NULL), 0);
	assert_int_equal(vault_figures(v, &figures, NULL), 0);
	return figures.stored;
}

static struct vault_verdict verify(struct fixture *f)
{
	AUTO_VAULT *v = NULL;
	struct vault_verdict verdict;
	struct err err = ERR_INIT;

	if (vault_open(f->vault, 0, &noon, NULL, &v, &err) < 0 ||
		vault_verify(v, NULL, NULL, &verdict, &err) < 0)
		fail_msg("%s", err.msg);
	return verdict;
}

/* ---- taking ---- */

static void takes_what_is_new(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	assert_int_equal(first.took, VAULT_NEW);
	assert_int_equal(first.read, text.len);
	assert_int_equal(take(f, f->file, ID).took, VAULT_SAME);
	/* Grown in place, with a last line that is torn. */
	AUTO_STR more = STR_INIT;
	add_lines(&more, ID, 2000, 100);
	str_adds(&more, "{\"torn");
	assert_int_equal(file_append(f->file, str_sv(&more), false, NULL), 0);
	str_add(&text, str_sv(&more));
	struct vault_taken grown = take(f, f->file, ID);
	assert_int_equal(grown.took, VAULT_GREW);
	assert_int_equal(grown.read, more.len);
	assert_string_equal(grown.key, first.key);
	check_content(f, first.key, &text);
	assert_int_equal(file_append(f->file, SV("\":1}\n"), false, NULL), 0);
	str_adds(&text, "\":1}\n");
	assert_int_equal(take(f, f->file, ID).took, VAULT_GREW);
	check_content(f, first.key, &text);
	struct vault_verdict verdict = verify(f);
	assert_int_equal(verdict.damaged_frames + verdict.damaged_files + verdict.unused, 0);
	assert_int_equal(verdict.bytes, text.len);
}

/* Replaced by the same and more, cut, blanked, rewritten: what was there is never lost. */
static void what_was_there_stays(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;
	AUTO_STR other = STR_INIT;

	add_lines(&text, ID, 0, 300);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	write_file(f->file, &text); /* another inode */
	assert_int_equal(take(f, f->file, ID).took, VAULT_HELD);
	size_t before = text.len;
	add_lines(&text, ID, 300, 10);
	write_file(f->file, &text);
	struct vault_taken grown = take(f, f->file, ID);
	assert_int_equal(grown.took, VAULT_GREW);
	assert_int_equal(grown.read, text.len - before);
	assert_int_equal(truncate(f->file, 1000), 0);
	assert_int_equal(take(f, f->file, ID).took, VAULT_HELD);
	assert_int_equal(truncate(f->file, 0), 0);
	assert_int_equal(take(f, f->file, ID).took, VAULT_HELD);
	add_lines(&other, ID, 5000, 20);
	write_file(f->file, &other);
	struct vault_taken second = take(f, f->file, ID);
	assert_int_equal(second.took, VAULT_VERSION);
	assert_string_not_equal(second.key, first.key);
	check_content(f, first.key, &text);
	check_content(f, second.key, &other);
	/* The first again: it goes on with that. */
	write_file(f->file, &text);
	assert_string_equal(take(f, f->file, ID).key, first.key);
}

/* A byte in the middle changed, at the same size, by one who keeps the inode. */
static void a_change_in_the_middle_is_seen(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	add_lines(&text, ID, 0, 300);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	AUTO_CLOSE int fd = open(f->file, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "X", 1, (off_t)text.len / 2), 1);
	assert_int_equal(take(f, f->file, ID).took, VAULT_VERSION);
	check_content(f, first.key, &text);
}

/* … and the time of before. What has only other rights is compared once. */
static void what_is_as_old_as_before_may_be_another(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;
	struct stat was, st;

	add_lines(&text, ID, 0, 300);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	temp_overwrite(f->file, text.len / 2, SV("X"));
	struct vault_taken second = take(f, f->file, ID);
	assert_int_equal(second.took, VAULT_VERSION);
	check_content(f, first.key, &text);
	text.buf[text.len / 2] = 'X';
	check_content(f, second.key, &text);
	assert_int_equal(stat(f->file, &was), 0);
	do
		assert_int_equal(chmod(f->file, 0640) + stat(f->file, &st), 0);
	while (file_ctime_ns(&st) == file_ctime_ns(&was));
	assert_int_equal(take(f, f->file, ID).took, VAULT_HELD);
	assert_int_equal(take(f, f->file, ID).took, VAULT_SAME);
}

static void copies_share_their_lines(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_STR text = STR_INIT;
	AUTO_STR changed = STR_INIT;

	add_lines(&text, ID, 0, 3000);
	write_file(f->file, &text);
	(void)take(f, f->file, ID);
	uint64_t before = stored(f);
	/* Under another id, with lines left out, changed and added. */
	add_lines(&changed, OTHER, 0, 1000);
	str_adds(&changed, "{\"short\":1}\n");
	add_lines(&changed, OTHER, 1010, 1990);
	write_file(copy, &changed);
	struct vault_taken taken = take(f, copy, OTHER);
	check_content(f, taken.key, &changed);
	assert_in_range(stored(f) - before, 1, before / 20);
}

/* A trimmed session has a few bytes changed in most of its lines. */
static void changed_lines_share_their_ends(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_STR text = STR_INIT;
	AUTO_STR other = STR_INIT;
	AUTO_STR changed = STR_INIT;
	struct sv line;
	unsigned i = 0;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	(void)take(f, f->file, ID);
	uint64_t before = stored(f);
	add_lines(&other, OTHER, 0, 2000);
	for (struct sv rest = str_sv(&other); sv_split(&rest, '\n', &line) && line.n > 0; i++) {
		/* Of every five lines four are changed: in the middle, beside the id, longer. */
		size_t at = i % 5 == 1 ? 10 : i % 5 == 2 ? line.n / 2 : line.n - 3;
		str_add(&changed, i % 5 == 0 ? line : sv_head(line, at));
		if (i % 5 != 0)
			str_adds(&changed, i % 5 == 3 ? "something longer" : "X");
		if (i % 5 != 0)
			str_add(&changed, sv_from(line, at + 1));
		str_addc(&changed, '\n');
	}
	write_file(copy, &changed);
	struct vault_taken taken = take(f, copy, OTHER);
	check_content(f, taken.key, &changed);
	assert_in_range(stored(f) - before, 1, before / 20);
	assert_int_equal(verify(f).damaged_files, 0);
}

/* Bytes of any kind, lines of any length. */
static void odd_files(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	add_lines(&text, ID, 0, 3);
	str_add(&text, SV("nul \0 and " ID " in one line\n"));
	for (int i = 0; i < 100; i++)
		str_add(&text, sv_make((const char[36]){ 0 }, 36));
	str_adds(&text, "\n\n\n");
	for (unsigned i = 0; i < 700000; i++)
		str_addf(&text, "%x", i * 2654435761u);
	str_adds(&text, ID "\n" ID);
	write_file(f->file, &text);
	struct vault_taken taken = take(f, f->file, ID);
	check_content(f, taken.key, &text);
	/* And without an id to take out. */
	AUTO_FREE char *sub = path_join(f->dir, "agent-1.jsonl");
	write_file(sub, &text);
	taken = take(f, sub, "agent-1");
	check_content(f, taken.key, &text);
	assert_int_equal(verify(f).damaged_files, 0);
}

static void frozen_ones_stay(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	add_lines(&text, ID, 0, 100);
	write_file(f->file, &text);
	struct vault_taken frozen = take_as(f,
		&(struct vault_source){ .path = f->file,
			.key = "the-key",
			.agent = "",
			.session = ID,
			.own = ID,
			.frozen = true,
			.from = f->file });
	assert_string_equal(frozen.key, "the-key");
	add_lines(&text, ID, 100, 1);
	write_file(f->file, &text);
	struct vault_taken live = take(f, f->file, ID);
	assert_int_equal(live.took, VAULT_NEW);
	check_content(f, live.key, &text);
	AUTO_VAULT *v = NULL;
	uint64_t size = 0;
	assert_int_equal(vault_open(f->vault, 0, &noon, NULL, &v, NULL), 0);
	assert_int_equal(vault_size(v, "the-key", &size, NULL), 0);
	assert_true(size < text.len);
}

/* ---- trouble ---- */

static char *first_pack(struct fixture *f)
{
	return path_join(f->vault, "packs/00000001.pack");
}

static void remove_database(struct fixture *f)
{
	static const char *const names[] = { "archive.db", "archive.db-wal", "archive.db-shm" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = path_join(f->vault, names[i]);
		(void)unlink(path);
	}
}

/* All that the database knows is in the packs. */
static void made_again_from_the_packs(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_STR text = STR_INIT;
	AUTO_STR other = STR_INIT;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	add_lines(&text, ID, 2000, 10);
	write_file(f->file, &text);
	(void)take(f, f->file, ID);
	add_lines(&other, OTHER, 0, 1500);
	write_file(copy, &other);
	struct vault_taken second = take(f, copy, OTHER);
	remove_database(f);
	check_content(f, first.key, &text);
	check_content(f, second.key, &other);
	/* A damaged one is as good as none. */
	AUTO_FREE char *db = path_join(f->vault, "archive.db");
	remove_database(f);
	assert_int_equal(
		file_replace(db, SV("this is no database at all, and never was one"), 0600, NULL),
		0);
	AUTO_VAULT *v = NULL;
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	assert_true(vault_made_anew(v));
	vault_close(TAKE_PTR(v));
	check_content(f, first.key, &text);
	/* Lines are found again too: the same session under another id adds next to nothing. */
	uint64_t before = stored(f);
	AUTO_FREE char *third = path_join(f->dir, "third.jsonl");
	write_file(third, &text);
	(void)take(f, third, ID);
	assert_true(stored(f) - before < before / 20);
	assert_int_equal(verify(f).damaged_files, 0);
}

/* A writer that died in the middle of a frame. */
static void a_torn_end_does_no_harm(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *pack = first_pack(f);
	AUTO_STR text = STR_INIT;
	AUTO_STR bytes = STR_INIT;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	assert_int_equal(file_read(pack, 1 << 30, &bytes, NULL), 0);
	assert_int_equal(file_append(pack, sv_head(str_sv(&bytes), bytes.len / 3), false, NULL), 0);
	add_lines(&text, ID, 2000, 50);
	write_file(f->file, &text);
	assert_int_equal(take(f, f->file, ID).took, VAULT_GREW);
	check_content(f, first.key, &text);
	struct vault_verdict verdict = verify(f);
	assert_int_equal(verdict.damaged_files, 0);
	remove_database(f);
	check_content(f, first.key, &text);
}

/* What is left stands where it stood, with newlines in place of what is damaged. */
static void check_places(
	struct vault *v, const char *key, const struct str *whole, int64_t from, uint64_t all_lost)
{
	FILE *file = tmpfile();
	AUTO_STR bytes = STR_INIT;
	struct err err = ERR_INIT;
	uint64_t lost = 0, lines = 0;
	size_t at = from < 0 ? whole->len - (size_t)-from : (size_t)from;

	assert_non_null(file);
	int r = vault_write_part(v, key, from, UINT64_MAX, fileno(file), &lost, &err);
	if (r < 0) {
		assert_int_equal(r, ERR_INPUT);
		assert_int_equal(lost, whole->len - at);
	} else {
		assert_int_equal(file_read_at(fileno(file), at, whole->len - at, &bytes, NULL), 0);
		assert_int_equal(bytes.len, whole->len - at);
		for (size_t i = 0; i < bytes.len; i++)
			if (bytes.buf[i] != whole->buf[at + i]) {
				assert_int_equal(bytes.buf[i], '\n');
				lines++;
			}
		assert_in_range(lines, lost / 2, lost);
	}
	if (from == 0)
		assert_int_equal(lost, all_lost);
	assert_int_equal(fclose(file), 0);
}

/* Whichever byte it is: it is found, costs its frame only, and nobody is given a wrong one. */
static void a_flipped_byte_is_found(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *pack = first_pack(f);
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_STR text = STR_INIT;
	AUTO_STR other = STR_INIT;
	struct stat st;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	add_lines(&other, OTHER, 7000, 2000);
	write_file(copy, &other);
	struct vault_taken second = take(f, copy, OTHER);
	assert_int_equal(stat(pack, &st), 0);
	for (off_t at = 3; at < st.st_size; at += st.st_size / 9) {
		AUTO_CLOSE int fd = open(pack, O_RDWR | O_CLOEXEC);
		char was, is;
		assert_int_equal(pread(fd, &was, 1, at), 1);
		is = (char)(was ^ 4);
		assert_int_equal(pwrite(fd, &is, 1, at), 1);
		struct vault_verdict verdict = verify(f);
		assert_int_equal(verdict.damaged_frames, 1);
		assert_in_range(verdict.lost, 0, 256 * 1024);
		AUTO_VAULT *v = NULL;
		AUTO_STR a = STR_INIT;
		AUTO_STR b = STR_INIT;
		assert_int_equal(vault_open(f->vault, 0, &noon, NULL, &v, NULL), 0);
		int r = vault_read(v, first.key, 0, UINT64_MAX, &a, NULL);
		int s = vault_read(v, second.key, 0, UINT64_MAX, &b, NULL);
		assert_true((r == ERR_INPUT) + (s == ERR_INPUT) == (verdict.lost > 0));
		assert_true(r < 0 || sv_eq(str_sv(&a), str_sv(&text)));
		assert_true(s < 0 || sv_eq(str_sv(&b), str_sv(&other)));
		/* What is left of it can be had: whole lines. */
		AUTO_FREE char *left = path_join(f->dir, "left");
		AUTO_CLOSE int out = open(left, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		uint64_t lost = 0;
		const char *key = s < 0 ? second.key : first.key;
		assert_int_equal(vault_write_out(v, key, out, &lost, NULL), 0);
		assert_int_equal(lost, verdict.lost);
		const struct str *whole = s < 0 ? &other : &text;
		assert_int_equal(lseek(out, 0, SEEK_END), whole->len - lost);
		check_places(v, key, whole, 0, verdict.lost);
		check_places(v, key, whole, -(int64_t)whole->len / 3, 0);
		assert_int_equal(pwrite(fd, &was, 1, at), 1);
	}
	assert_int_equal(verify(f).damaged_frames, 0);
}

/* What stood in a pack that was cut, or is gone, is taken again under the same key; what is taken
 * after that is not lost with it. */
static void a_pack_that_was_cut_is_made_good(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *pack = first_pack(f);
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_STR text = STR_INIT;
	AUTO_STR other = STR_INIT;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	add_lines(&text, ID, 2000, 10);
	assert_int_equal(file_replace(f->file, str_sv(&text), 0600, NULL), 0);
	assert_int_equal(take(f, f->file, ID).took, VAULT_GREW);
	add_lines(&other, OTHER, 7000, 200);
	write_file(copy, &other);
	for (int gone = 0; gone < 2; gone++) {
		assert_int_equal(gone ? unlink(pack) : truncate(pack, 80000), 0);
		struct vault_taken second = take(f, copy, OTHER);
		check_content(f, second.key, &other);
		AUTO_VAULT *v = NULL;
		assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
		assert_true(vault_damaged(v) > 0);
		struct taker *t = taker_new(v);
		const struct vault_source source = {
			.path = f->file, .agent = "claude", .session = ID, .own = ID
		};
		struct vault_taken again;
		assert_int_equal(taker_take(t, &source, &again, NULL), 0);
		assert_true(again.took == VAULT_SAME || again.took == VAULT_HELD);
		assert_true(again.mended);
		assert_string_equal(again.key, first.key);
		assert_int_equal(taker_finish(t, NULL), 0);
		assert_int_equal(vault_mend(v, NULL), 0);
		assert_int_equal(vault_commit(v, NULL), 0);
		assert_int_equal(vault_damaged(v), 0);
		taker_free(t);
		vault_close(TAKE_PTR(v));
		check_content(f, first.key, &text);
		struct vault_verdict verdict = verify(f);
		assert_int_equal(verdict.damaged_frames + verdict.damaged_files, 0);
		assert_int_equal(verdict.files, 2);
		remove_database(f);
		check_content(f, first.key, &text);
		check_content(f, second.key, &other);
		/* All of it is in the next one then; that is what goes at the second time. */
		free(pack);
		pack = path_join(f->vault, "packs/00000002.pack");
	}
}

/* ---- a damaged database ---- */

struct telling {
	struct vault *v;
	struct str *out;
};

static int tell_file(void *data, const struct vault_file *file)
{
	struct telling *t = data;

	str_addf(t->out, "%s %s %s %s %d\n", file->key, file->agent, file->session, file->path,
		file->frozen);
	return vault_read(t->v, file->key, 0, UINT64_MAX, t->out, NULL);
}

/* All that it gives, whoever asks it to look first. */
static void tell(struct fixture *f, unsigned flags, struct str *out)
{
	struct vault *v = NULL;
	struct telling t = { .out = out };
	struct err err = ERR_INIT;

	str_clear(out);
	if (vault_open(f->vault, flags | VAULT_CHECK, &noon, NULL, &v, &err) < 0)
		fail_msg("%s", err.msg);
	t.v = v;
	if (vault_each(v, &(struct vault_query){ .key = NULL }, tell_file, &t, &err) < 0)
		fail_msg("%s", err.msg);
	vault_close(v);
}

static void one_bit_of_the_database_costs_nothing(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_FREE char *database = path_join(f->vault, "archive.db");
	AUTO_FREE char *log = path_join(f->vault, "archive.db-wal");
	AUTO_STR text = STR_INIT;
	AUTO_STR whole = STR_INIT;
	AUTO_STR want = STR_INIT;
	AUTO_STR got = STR_INIT;
	AUTO_VAULT *v = NULL;
	uint64_t freed = 0;

	for (unsigned i = 0; i < 12; i++) {
		add_lines(&text, ID, 40 * i, 50);
		write_file(i % 3 ? f->file : copy, &text);
		(void)take(f, i % 3 ? f->file : copy, i % 3 ? ID : OTHER);
		str_cut(&text, i % 4 ? text.len : 0);
	}
	tell(f, VAULT_WRITE, &want);
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	assert_int_equal(vault_scrub(v, NULL), 0);
	vault_close(TAKE_PTR(v));
	assert_int_equal(file_read(database, 16 * 1024 * 1024, &whole, NULL), 0);
	for (size_t at = 100; at < whole.len; at += 389) {
		whole.buf[at] ^= (char)(1 << at % 8);
		(void)unlink(log);
		write_file(database, &whole);
		tell(f, at % 2 ? VAULT_WRITE : 0, &got);
		if (!sv_eq(str_sv(&got), str_sv(&want)))
			fail_msg("byte %zu: %.300s", at, got.buf);
		whole.buf[at] ^= (char)(1 << at % 8);
	}
	/* What was let go and is in the packs yet does not come back with it. */
	(void)unlink(log);
	write_file(database, &whole);
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	char key[VAULT_KEY_MAX];
	(void)snprintf(key, sizeof(key), "%.*s", (int)strcspn(want.buf, " "), want.buf);
	assert_int_equal(vault_forget(v, key, NULL), 0);
	assert_int_equal(vault_commit(v, NULL), 0);
	vault_close(TAKE_PTR(v));
	tell(f, VAULT_WRITE, &got);
	assert_int_equal(strstr(got.buf, key) == NULL, 1);
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	assert_int_equal(
		vault_sweep(v, &(struct vault_sweep_opts){ .data = NULL }, &freed, NULL), 0);
	assert_true(freed > 0);
}

/* ---- leaving ---- */

static void what_is_forgotten_is_gone(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	AUTO_FREE char *pack = first_pack(f);
	AUTO_STR text = STR_INIT;
	AUTO_STR other = STR_INIT;
	uint64_t freed = 0;

	add_lines(&text, ID, 0, 2000);
	write_file(f->file, &text);
	struct vault_taken first = take(f, f->file, ID);
	add_lines(&other, OTHER, 0, 700); /* shares lines with it */
	add_lines(&other, OTHER, 9000, 1000);
	write_file(copy, &other);
	struct vault_taken second = take(f, copy, OTHER);
	uint64_t before = stored(f);
	AUTO_VAULT *v = NULL;
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	assert_int_equal(vault_forget(v, first.key, NULL), 0);
	assert_int_equal(vault_forget(v, first.key, NULL), ERR_NOTFOUND);
	assert_int_equal(
		vault_sweep(v, &(struct vault_sweep_opts){ .data = NULL }, &freed, NULL), 0);
	vault_close(TAKE_PTR(v));
	assert_true(freed > before / 4);
	assert_false(path_exists(pack));
	check_content(f, second.key, &other);
	struct vault_verdict verdict = verify(f);
	assert_int_equal(verdict.files, 1);
	assert_int_equal(verdict.damaged_files + verdict.damaged_frames, 0);
	/* Not even the packs know of it. */
	remove_database(f);
	verdict = verify(f);
	assert_int_equal(verdict.files, 1);
	check_content(f, second.key, &other);
	/* It can come again. */
	assert_int_equal(take(f, f->file, ID).took, VAULT_NEW);
}

static int add_size(void *data, const struct vault_file *file)
{
	*(uint64_t *)data += file->size;
	assert_string_equal(file->session, ID);
	return 0;
}

static void is_found_by_session_and_path(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;
	AUTO_VAULT *v = NULL;
	uint64_t sum = 0;

	add_lines(&text, ID, 0, 100);
	write_file(f->file, &text);
	(void)take(f, f->file, ID);
	AUTO_FREE char *copy = path_join(f->dir, OTHER ".jsonl");
	write_file(copy, &text);
	(void)take(f, copy, OTHER);
	assert_int_equal(vault_open(f->vault, 0, &noon, NULL, &v, NULL), 0);
	const struct vault_query by_session = { .session = ID };
	assert_int_equal(vault_each(v, &by_session, add_size, &sum, NULL), 0);
	const struct vault_query by_path = { .session = "none", .path = f->file };
	assert_int_equal(vault_each(v, &by_path, add_size, &sum, NULL), 0);
	assert_int_equal(sum, 2 * text.len);
}

static void one_writer(void **state)
{
	struct fixture *f = *state;
	AUTO_VAULT *v = NULL;
	AUTO_VAULT *second = NULL;
	AUTO_VAULT *reader = NULL;

	assert_int_equal(vault_open(f->vault, 0, &noon, NULL, &reader, NULL), ERR_NOTFOUND);
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	assert_int_equal(vault_open(f->vault, VAULT_WRITE, &noon, NULL, &second, NULL), ERR_BUSY);
	assert_int_equal(vault_open(f->vault, 0, &noon, NULL, &reader, NULL), 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(takes_what_is_new),
		CASE(what_was_there_stays),
		CASE(a_change_in_the_middle_is_seen),
		CASE(what_is_as_old_as_before_may_be_another),
		CASE(copies_share_their_lines),
		CASE(changed_lines_share_their_ends),
		CASE(odd_files),
		CASE(frozen_ones_stay),
		CASE(made_again_from_the_packs),
		CASE(a_torn_end_does_no_harm),
		CASE(a_flipped_byte_is_found),
		CASE(a_pack_that_was_cut_is_made_good),
		CASE(one_bit_of_the_database_costs_nothing),
		CASE(what_is_forgotten_is_gone),
		CASE(is_found_by_session_and_path),
		CASE(one_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
