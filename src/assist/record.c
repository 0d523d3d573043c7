#include "assist/record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assist/decide.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/said.h"

void record_release(struct record *rec)
{
	strv_release(&rec->places);
	free(rec->dir);
	free(rec->open);
	free(rec->text);
	*rec = (struct record){ .text = NULL };
}

/* Lines: six numbers, the places, the open session, and the text to the end. */
static bool parse(const char *note, struct record *ret)
{
	long long flags[6];
	struct sv rest = sv_of(note), line, word;

	if (!sv_split(&rest, '\n', &line))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(flags); i++)
		if (!sv_split(&line, ' ', &word) || !sv_parse_i64(word, &flags[i]))
			return false;
	if (!sv_split(&rest, '\n', &line))
		return false;
	while (sv_split(&line, ' ', &word))
		strv_addsv(&ret->places, word);
	if (!sv_split(&rest, '\n', &line) || rest.n == 0 || flags[3] < 0 ||
		(size_t)flags[3] >= ret->places.n)
		return false;
	ret->told = flags[0] & 1;
	ret->corrected = flags[0] & 2;
	ret->answers = flags[0] & 4;
	ret->acted = flags[1] & 1;
	ret->done = flags[1] & 2;
	ret->asked = flags[2];
	ret->at = (size_t)flags[3];
	ret->said = (unsigned)flags[4];
	ret->when_ms = flags[5];
	ret->open = xmemdup0(line.p, line.n);
	ret->text = xmemdup0(rest.p, rest.n);
	return true;
}

static struct said_query query_of(const struct decide_opts *o)
{
	return (struct said_query){ o->project, o->terminal, o->until };
}

bool record_read(const struct decide_opts *o, bool others, struct record *ret)
{
	const struct said_query query = query_of(o);
	AUTO_SAID said = SAID_INIT;

	*ret = (struct record){ .places = STRV_INIT };
	if (said_last(o->store, &query, &said, NULL) < 0 || (said.by == SAID_ELSEWHERE && !others))
		return false;
	if (!parse(said.note, ret)) {
		record_release(ret);
		return false;
	}
	ret->here = said.by == SAID_HERE;
	ret->others = said.by == SAID_ELSEWHERE;
	ret->dir = TAKE_PTR(said.dir);
	return true;
}

bool record_is_before_reset(const struct decide_opts *o, const struct record *rec)
{
	return rec->when_ms < conv_reset_ms(o->store, o->dir) ||
		rec->when_ms < conv_reset_ms(o->store, rec->dir);
}

int record_write(
	const struct decide_opts *o, const struct record *rec, int64_t *id, struct err *reterr)
{
	const struct said_query by = query_of(o);
	struct sv text = utf8_cut(sv_of(rec->text), ROUTE_TEXT_MAX);
	AUTO_STR note = STR_INIT;

	str_addf(&note, "%d %d %d %zu %u %" PRId64 "\n",
		(int)rec->told + 2 * (int)rec->corrected + 4 * (int)rec->answers,
		(int)rec->acted + 2 * (int)rec->done, rec->asked, rec->at, rec->said, rec->when_ms);
	for (size_t i = 0; i < rec->places.n; i++)
		str_addf(&note, "%s%s", i ? " " : "", rec->places.v[i]);
	str_addf(&note, "\n%s\n%.*s", rec->open ? rec->open : "", SV_ARG(text));
	return *id ? said_note(o->store, *id, note.buf, reterr)
		   : said_add(o->store, &by, o->dir, note.buf, id, reterr);
}

char *place_of(const struct conv *c)
{
	return is_member(c) ? xasprintf("%s:%s", c->agent, c->session) : xstrdup(c->id);
}

const char *place_id(const char *place)
{
	const char *colon = strchr(place, ':');

	return colon ? colon + 1 : place;
}

struct finding {
	const struct clock *clock;
	struct conv *ret;
};

static int take_row(void *data, const struct session_row *row)
{
	const struct finding *f = data;

	member_of(row, f->clock, f->ret);
	return 1;
}

int place_find(struct store *store, const char *place, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	struct sv session = sv_of(place), agent;

	if (!strchr(place, ':'))
		return conv_get(store, place, clock, ret, reterr);
	(void)sv_split(&session, ':', &agent);
	AUTO_FREE char *name = xmemdup0(agent.p, agent.n);
	int r = conv_by_session(store, name, session.p, clock, ret, reterr);
	if (r != ERR_NOTFOUND)
		return r;
	const struct catalogue_query query = { .agent = name, .id = session.p, .limit = 1 };
	struct finding found = { clock, ret };
	r = catalogue_query(store, &query, take_row, &found, reterr);
	return r == 0 ? err_set(reterr, ERR_NOTFOUND, "no session %s", session.p) : r < 0 ? r : 0;
}
