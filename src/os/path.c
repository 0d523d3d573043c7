#include "os/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell.h"

static struct sv without_slashes(struct sv path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (name[0] == '/' || n == 0)
		return xstrdup(name);
	if (name[0] == '\0')
		return xstrdup(dir);
	return xasprintf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

struct sv path_base(struct sv path)
{
	path = without_slashes(path);
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/' && path.n > 1)
			return sv_from(path, i);
	return path;
}

struct sv path_parent(struct sv path)
{
	path = without_slashes(path);
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return without_slashes(sv_head(path, i));
	return SV(".");
}

char *path_folder(const char *path)
{
	struct sv parent = path_parent(sv_of(path));

	return xmemdup0(parent.p, parent.n);
}

int path_real(const char *path, char **ret, struct err *reterr)
{
	char *real = realpath(path, NULL);

	if (!real)
		return err_errno(reterr, errno, "%s", path);
	*ret = real;
	return 0;
}

char *path_cwd(struct err *reterr)
{
	char *cwd = getcwd(NULL, 0);

	if (!cwd)
		(void)err_errno(reterr, errno, "the current folder");
	return cwd;
}

char *path_real_gone(const char *path)
{
	AUTO_FREE char *cwd = path_cwd(NULL);
	AUTO_FREE char *whole = path_join(cwd ? cwd : "/", path);
	struct sv left = path_parent(sv_of(whole));

	for (; left.n > 1; left = path_parent(left)) {
		AUTO_FREE char *folder = xmemdup0(left.p, left.n);
		AUTO_FREE char *real = NULL;
		if (path_real(folder, &real, NULL) >= 0)
			return xasprintf("%s%s", real, whole + left.n);
	}
	return TAKE_PTR(whole);
}

bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool path_within(struct sv path, struct sv dir)
{
	path = without_slashes(path);
	dir = without_slashes(dir);
	if (dir.n == 0 || !sv_starts(path, dir))
		return false;
	return path.n == dir.n || dir.p[dir.n - 1] == '/' || path.p[dir.n] == '/';
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *path_find_program(const char *name, const char *search)
{
	if (name[0] == '\0')
		return NULL;
	if (strchr(name, '/'))
		return is_program(name) ? xstrdup(name) : NULL;
	struct sv rest = sv_of(search), dir;
	while (sv_split(&rest, ':', &dir)) {
		/* An empty entry means the current folder to a shell. Here a program must not come
		 * from wherever the user happens to stand. */
		if (dir.n == 0 || dir.p[0] != '/')
			continue;
		AUTO_FREE char *folder = xmemdup0(dir.p, dir.n);
		AUTO_FREE char *path = path_join(folder, name);
		if (is_program(path))
			return TAKE_PTR(path);
	}
	return NULL;
}

char *path_expand_home(const char *path, const char *home)
{
	if (home && path[0] == '~' && (path[1] == '\0' || path[1] == '/'))
		return path_join(home, path + 1 + strspn(path + 1, "/"));
	return xstrdup(path);
}

char *path_show(const char *path, const char *home)
{
	struct sv h = without_slashes(sv_of(home));
	AUTO_STR out = STR_INIT;

	shell_shown(&out, path);
	/* In quotes "~" is no home. */
	if (h.n <= 1 || !path_within(sv_of(path), h) || out.buf[0] != '/')
		return str_detach(&out);
	return xasprintf("~%s", path + h.n);
}
