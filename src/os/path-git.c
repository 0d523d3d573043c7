#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

enum { GIT_FILE_MAX = 16 * 1024 }; /* a .git or commondir file: one path */

/* The path in a one-line file of git's, after an optional key, made absolute; NULL when unread. */
static char *read_git_path(const char *file, const char *key, const char *base)
{
	AUTO_STR text = STR_INIT;

	if (file_read(file, GIT_FILE_MAX, &text, NULL) < 0)
		return NULL;
	struct sv line = str_sv(&text);
	if (!sv_starts(line, sv_of(key)))
		return NULL;
	line = sv_trim(sv_from(line, strlen(key)));
	if (line.n == 0 || memchr(line.p, '\0', line.n))
		return NULL;
	AUTO_FREE char *name = xmemdup0(line.p, line.n);
	return path_join(base, name);
}

/* Of "…/main/.git" the folder "…/main"; NULL for a bare repository, which has no work tree. */
static char *main_of_common(const char *common)
{
	AUTO_FREE char *real = NULL;

	if (path_real(common, &real, NULL) < 0 || !sv_is(path_base(sv_of(real)), ".git"))
		return NULL;
	struct sv parent = path_parent(sv_of(real));
	return xmemdup0(parent.p, parent.n);
}

/* A linked work tree's git folder names the repository it belongs to in "commondir"; a
 * submodule's does not. */
static char *main_of_worktree(const char *dot_git, const char *dir)
{
	AUTO_FREE char *git_dir = read_git_path(dot_git, "gitdir:", dir);

	if (!git_dir)
		return NULL;
	AUTO_FREE char *file = path_join(git_dir, "commondir");
	AUTO_FREE char *common = read_git_path(file, "", git_dir);
	return common ? main_of_common(common) : NULL;
}

/* The root when dir itself is the top of a work tree, else NULL. */
static char *root_at(const char *dir)
{
	struct stat st;
	AUTO_FREE char *dot_git = path_join(dir, ".git");

	if (stat(dot_git, &st) < 0)
		return NULL;
	if (S_ISREG(st.st_mode)) {
		char *top = main_of_worktree(dot_git, dir);
		return top ? top : xstrdup(dir);
	}
	AUTO_FREE char *head = path_join(dot_git, "HEAD");
	return lstat(head, &st) == 0 ? xstrdup(dir) : NULL;
}

char *path_git_root(const char *dir)
{
	AUTO_FREE char *at = NULL;

	/* A folder that is gone may still lie in a repository: its text will do. */
	if (path_real(dir, &at, NULL) < 0)
		at = xstrdup(dir);
	for (;;) {
		char *root = root_at(at);
		struct sv up = path_parent(sv_of(at));
		/* At "/", or at the first part of a relative path, there is nothing above. */
		if (root || up.p != at || up.n == strlen(at))
			return root;
		at[up.n] = '\0';
	}
}
