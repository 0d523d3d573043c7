/*
 * Lines to records. A writer that died in mid-line leaves a line without its newline, and the
 * next one goes on behind it: so one line may hold several objects, or half of one and a whole.
 */
#include "base/err.h"
#include "transcript/adapter.h"

static struct sv skip_mark(struct sv text)
{
	return sv_starts(text, SV("\xef\xbb\xbf")) ? sv_from(text, 3) : text;
}

int record_keys(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals)
{
	if (text.n == 0 || text.p[0] != '{' || scan_keys(text, keys, n, vals) < 0)
		return ERR_INPUT;
	return 0;
}

/* The object that *rest begins with. */
static bool split(struct sv *rest, struct sv *ret)
{
	if (rest->n == 0 || rest->p[0] != '{')
		return false;
	struct scan_iter it = scan_iter((struct jval){ *rest, J_OBJECT });
	const char *end = it.p;
	struct jval val;
	int r;
	while ((r = scan_next(&it, NULL, &val)) > 0)
		end = it.p;
	if (r < 0)
		return false;
	/* Only blanks stand between the last member and the bracket. */
	end = memchr(end, '}', rest->n - (size_t)(end - rest->p));
	size_t n = (size_t)(end - rest->p) + 1;
	*ret = sv_head(*rest, n);
	*rest = sv_trim(sv_from(*rest, n));
	return true;
}

void record_each(struct sv line, const struct record_fns *fns, void *data)
{
	struct sv rest = sv_trim(skip_mark(line));

	if (rest.n == 0 || fns->take(data, rest) == 0)
		return;
	struct sv object;
	while (split(&rest, &object))
		if (fns->take(data, object) < 0 && fns->broken)
			fns->broken(data, object);
	if (rest.n > 0 && fns->broken)
		fns->broken(data, rest);
}
