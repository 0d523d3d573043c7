#include "os/clip.h"

#include <errno.h>

#include "os/path.h"
#include "os/proc.h"

enum { CLIP_TIMEOUT_MS = 3000, CLIP_ARGS_MAX = 4 };

enum clip_needs { NEEDS_NOTHING, NEEDS_WAYLAND, NEEDS_X11 };

struct clip_tool {
	const char *argv[CLIP_ARGS_MAX]; /* NULL-terminated */
	enum clip_needs needs;
};

static const struct clip_tool clip_tools[] = {
	{ { "wl-copy" }, NEEDS_WAYLAND },
	{ { "xclip", "-selection", "clipboard" }, NEEDS_X11 },
	{ { "xsel", "-ib" }, NEEDS_X11 },
	{ { "pbcopy" }, NEEDS_NOTHING },
};

static bool is_given(const char *value)
{
	return value && value[0] != '\0';
}

static bool fits(const struct clip_tool *tool, const struct clip_desktop *desktop)
{
	switch (tool->needs) {
	case NEEDS_WAYLAND:
		return is_given(desktop->wayland_display);
	case NEEDS_X11:
		return is_given(desktop->display);
	case NEEDS_NOTHING:
		break;
	}
	return true;
}

/* Output goes nowhere: these programs leave a helper that serves the clipboard, and a pipe of
 * ours that it still holds would be its death. */
static int put_by(const struct clip_tool *tool, const char *program, struct sv text,
	const struct clip_desktop *desktop, struct err *reterr)
{
	const char *argv[CLIP_ARGS_MAX];
	int status = 0;
	char why[64];

	for (size_t i = 0; i < CLIP_ARGS_MAX; i++)
		argv[i] = i == 0 ? program : tool->argv[i];
	const struct proc_opts opts = { .argv = argv, .envp = desktop->envp };
	int r = proc_run(&opts, text, CLIP_TIMEOUT_MS, 0, NULL, NULL, &status, reterr);
	if (r < 0 || status == 0)
		return r;
	proc_describe_status(status, why, sizeof(why));
	return err_set(reterr, -EIO, "%s: %s", program, why);
}

int clip_put(struct sv text, const struct clip_desktop *desktop, const char **ret_used,
	struct err *reterr)
{
	struct err last = ERR_INIT;

	(void)err_set(&last, ERR_NOTFOUND,
		"no program for the clipboard: wl-copy, xclip, xsel or pbcopy on a desktop");
	for (size_t i = 0; i < ARRAY_LEN(clip_tools); i++) {
		const struct clip_tool *tool = &clip_tools[i];
		AUTO_FREE char *program = fits(tool, desktop)
			? path_find_program(tool->argv[0], desktop->search)
			: NULL;
		if (!program || put_by(tool, program, text, desktop, &last) < 0)
			continue;
		if (ret_used)
			*ret_used = tool->argv[0];
		return 0;
	}
	if (reterr)
		*reterr = last;
	return last.code;
}
