#include "assist/record.h"

#include <stdlib.h>
#include <string.h>

#include "assist/member.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "route/route.h"

void record_release(struct record *rec)
{
	strv_release(&rec->places);
	free(rec->open);
	free(rec->text);
	*rec = (struct record){ .text = NULL };
}

/* Lines: five numbers, the places, the open session, and the text to the end. */

bool record_read(struct store *store, const char *dir, struct record *ret)
{
	AUTO_FREE char *key = xasprintf("route:%s", dir);
	AUTO_FREE char *value = NULL;
	long long flags[5];
	struct sv rest, line, word;

	*ret = (struct record){ .places = STRV_INIT };
	if (store_pref_get(store, key, &value, NULL) < 0)
		return false;
	rest = sv_of(value);
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
		(size_t)flags[3] >= ret->places.n) {
		record_release(ret);
		return false;
	}
	ret->told = flags[0];
	ret->acted = flags[1];
	ret->asked = flags[2];
	ret->at = (size_t)flags[3];
	ret->said = (unsigned)flags[4];
	ret->open = xmemdup0(line.p, line.n);
	ret->text = xmemdup0(rest.p, rest.n);
	return true;
}

int record_write(struct store *store, const char *dir, const struct record *rec, struct err *reterr)
{
	AUTO_FREE char *key = xasprintf("route:%s", dir);
	struct sv text = utf8_cut(sv_of(rec->text), ROUTE_TEXT_MAX);
	AUTO_STR value = STR_INIT;

	str_addf(
		&value, "%d %d %d %zu %u\n", rec->told, rec->acted, rec->asked, rec->at, rec->said);
	for (size_t i = 0; i < rec->places.n; i++)
		str_addf(&value, "%s%s", i ? " " : "", rec->places.v[i]);
	str_addf(&value, "\n%s\n%.*s", rec->open ? rec->open : "", SV_ARG(text));
	return store_pref_set(store, key, value.buf, reterr);
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
