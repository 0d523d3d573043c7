/*
 * Copies of settings files, numbered, in a folder of the settings' own path below the data folder.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/hook.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/hook-settings.h"

struct backups {
	char *folder;
	VEC(int64_t) numbers; /* rising */
};

static void backups_release(struct backups *b)
{
	free(b->folder);
	vec_release(&b->numbers);
}

static int by_number(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static char *backup_path(const struct backups *b, int64_t number)
{
	return xasprintf("%s/%lld", b->folder, (long long)number);
}

static void look(struct app *app, const char *path, struct backups *b)
{
	const struct dirent *entry;
	long long number;

	b->folder = xasprintf("%s/settings/%s", app->paths.data_dir, path + strspn(path, "/"));
	DIR *dir = opendir(b->folder);
	while (dir && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &number) && number > 0)
			vec_push(&b->numbers, (int64_t)number);
	if (dir)
		(void)closedir(dir);
	if (b->numbers.n > 0)
		qsort(b->numbers.v, b->numbers.n, sizeof(b->numbers.v[0]), by_number);
}

static bool read_backup(const struct backups *b, int64_t number, struct str *out)
{
	AUTO_FREE char *path = backup_path(b, number);

	return file_read(path, HOOK_SETTINGS_MAX, out, NULL) == 0;
}

static bool has_no_hooks(void *data UNUSED, struct sv text)
{
	AUTO_STR rest = STR_INIT;

	return hook_settings_remove(text, "faden", &rest, NULL) == 0;
}

/* The index of the last that fn accepts; none: b->numbers.n. */
static size_t find_last(const struct backups *b, bool (*fn)(void *data, struct sv text), void *data,
	struct str *out)
{
	for (size_t i = b->numbers.n; i > 0; i--)
		if (read_backup(b, b->numbers.v[i - 1], out) && fn(data, str_sv(out)))
			return i - 1;
	return b->numbers.n;
}

bool hook_backup_find(struct app *app, const char *path, bool (*fn)(void *data, struct sv text),
	void *data, struct str *out)
{
	CLEANUP(backups_release) struct backups b = { .numbers = VEC_INIT };

	look(app, path, &b);
	return find_last(&b, fn, data, out) < b.numbers.n;
}

int hook_backup_keep(
	struct app *app, const char *path, struct sv text, char **ret, struct err *reterr)
{
	CLEANUP(backups_release) struct backups b = { .numbers = VEC_INIT };
	AUTO_STR last = STR_INIT;

	look(app, path, &b);
	int64_t number = b.numbers.n ? b.numbers.v[b.numbers.n - 1] : 0;
	if (number > 0 && read_backup(&b, number, &last) && sv_eq(str_sv(&last), text)) {
		*ret = backup_path(&b, number);
		return 0;
	}
	AUTO_FREE char *copy = backup_path(&b, number + 1);
	int r = file_mkdirs(b.folder, reterr);
	if (r == 0)
		r = file_replace(copy, text, 0600, reterr);
	if (r < 0)
		return r;
	vec_push(&b.numbers, number + 1);
	size_t clean = find_last(&b, has_no_hooks, NULL, &last);
	for (size_t i = 0; i + BACKUPS_MAX < b.numbers.n; i++) {
		AUTO_FREE char *old = backup_path(&b, b.numbers.v[i]);
		if (i != clean)
			(void)unlink(old);
	}
	*ret = TAKE_PTR(copy);
	return 0;
}
