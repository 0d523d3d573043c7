#include "strategy/handoff.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/agents.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/brief.h"

enum { NAMES_MAX = 100, WORDS_MAX = 16 * 1024, LOOK_MAX = 1024 * 1024 };

static void add_field(struct str *out, const char *name, const char *value)
{
	if (!value || !value[0])
		return;
	str_addf(out, "- %s: ", name);
	utf8_scrub_line(out, sv_of(value));
	str_addc(out, '\n');
}

bool handoff_nothing(const char *transcript)
{
	struct stat st;

	if (stat(transcript, &st) < 0)
		return errno == ENOENT;
	/* The agent may have noted things of its own; the work itself is soon more than this. */
	bool nothing = S_ISREG(st.st_mode) && st.st_size <= LOOK_MAX;
	for (size_t i = 0; nothing && i < agent_count; i++) {
		const struct transcript_format *format = agent_table[i].format;
		AUTO_BRIEF brief = BRIEF_INIT;

		if (format && agent_of_format(format) == &agent_table[i])
			nothing = brief_make(transcript, format, &brief, NULL) >= 0 &&
				brief.facts.n == 0;
	}
	return nothing;
}

static int gather(const struct handoff *h, struct brief *ret, struct err *reterr)
{
	const struct transcript_format *format;
	struct stat st;

	if (stat(h->transcript, &st) < 0)
		return err_errno(reterr, errno, "%s", h->transcript);
	if (!S_ISREG(st.st_mode))
		return err_set(reterr, ERR_INPUT, "%s is no file", h->transcript);
	if (st.st_size > HANDOFF_SESSION_MAX)
		return err_set(reterr, ERR_LIMIT,
			"the session has more than %d MB, which a prompt does not wait for; "
			"`faden rollover --dry-run %s` shows them",
			HANDOFF_SESSION_MAX / (1024 * 1024), h->session);
	int r = transcript_probe(h->transcript, &format, reterr);
	return r < 0 ? r : brief_make(h->transcript, format, ret, reterr);
}

static void add_brief(struct str *out, const struct handoff *h)
{
	AUTO_BRIEF brief = BRIEF_INIT;
	struct err err = ERR_INIT;

	if (gather(h, &brief, &err) < 0) {
		str_adds(out, "\n" BRIEF_STANDS "\nNo facts were gathered: ");
		utf8_scrub_line(out, sv_of(err.msg));
		str_addc(out, '\n');
		return;
	}
	if (brief.facts.n == 0)
		return;
	str_adds(out, "\n" BRIEF_STANDS "\nFacts from the session, gathered without a model.");
	brief_explain(&brief, h->transcript, out);
	str_adds(out, "\n\n");
	brief_render(&brief, HANDOFF_BRIEF_MAX, out);
}

static void build(struct str *out, const struct handoff *h)
{
	char now[CLOCK_TEXT_MAX];
	bool nothing = h->transcript && handoff_nothing(h->transcript);

	clock_format_iso(clock_wall_ms(h->clock), now);
	str_addf(out, "# Handoff of session %s\n", h->session);
	add_field(out, "Written", now);
	add_field(out, "Folder", h->cwd);
	add_field(out, "Session file", h->transcript);
	if (nothing) {
		str_adds(out, "- Nothing was said in it yet.\n");
	} else {
		str_addf(out, "- In a fresh session: `faden rollover %s`\n", h->session);
		str_addf(out, "- As it is: `faden resume %s`\n", h->session);
	}
	if (h->words && h->words[0]) {
		str_adds(out, "\n# Note\n");
		utf8_scrub(out, utf8_cut(sv_of(h->words), WORDS_MAX));
		str_addc(out, '\n');
	}
	if (h->transcript && !nothing)
		add_brief(out, h);
}

/* "20260131T120000-11111111.md", and with a number when that is taken. */
static char *name_of(const struct handoff *h, unsigned number)
{
	char now[CLOCK_TEXT_MAX], digits[CLOCK_TEXT_MAX];
	size_t n = 0;

	clock_format_iso(clock_wall_ms(h->clock), now);
	for (const char *p = now; *p && *p != '.'; p++)
		if (*p != '-' && *p != ':')
			digits[n++] = *p;
	digits[n] = '\0';
	AUTO_FREE char *name = number ? xasprintf("%s-%.8s-%u.md", digits, h->session, number)
				      : xasprintf("%s-%.8s.md", digits, h->session);
	return path_join(h->folder, name);
}

static int write_new(const char *path, struct sv text, struct err *reterr)
{
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	int r = file_new_open_unnamed(&f, path, 0600, reterr);

	if (r >= 0)
		r = file_new_write(&f, text, reterr);
	return r < 0 ? r : file_new_commit_excl(&f, reterr);
}

int handoff_write(const struct handoff *h, char **ret_path, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	int r = file_mkdirs(h->folder, reterr);

	build(&text, h);
	for (unsigned i = 0; r >= 0 && i < NAMES_MAX; i++) {
		AUTO_FREE char *path = name_of(h, i);
		r = write_new(path, str_sv(&text), reterr);
		if (r >= 0)
			*ret_path = TAKE_PTR(path);
		if (r >= 0)
			return 0;
		if (r == -EEXIST)
			r = i + 1 < NAMES_MAX ? 0 : r;
	}
	return r;
}
