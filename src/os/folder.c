#include "os/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

int folder_sync_of(const char *path, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	AUTO_CLOSE int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return errno == EACCES ? 0 : err_errno(reterr, errno, "open %s", folder);
	if (fsync(fd) < 0 && errno != EINVAL && errno != ENOTSUP)
		return err_errno(reterr, errno, "sync %s", folder);
	return 0;
}

static int make_one(const char *path, struct err *reterr)
{
	if (mkdir(path, 0700) == 0)
		return folder_sync_of(path, reterr);
	return errno == EEXIST ? 0 : err_errno(reterr, errno, "make folder %s", path);
}

static int check_folder(const char *path, struct err *reterr)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_errno(reterr, errno, "folder %s", path);
	return S_ISDIR(st.st_mode) ? 0 : err_errno(reterr, ENOTDIR, "folder %s", path);
}

int file_mkdirs(const char *path, struct err *reterr)
{
	/* Nearly always it is there already. */
	if (check_folder(path, NULL) == 0)
		return 0;
	AUTO_FREE char *part = xstrdup(path);
	for (char *p = part + strspn(part, "/"); *p;) {
		p += strcspn(p, "/");
		char saved = *p;
		*p = '\0';
		int r = make_one(part, reterr);
		if (r < 0)
			return r;
		*p = saved;
		p += strspn(p, "/");
	}
	return check_folder(path, reterr);
}
