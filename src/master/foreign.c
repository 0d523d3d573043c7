#include "master/foreign.h"

#include <stdio.h>

#include "base/vec.h"
#include "master/snapshot.h"

/* A prompt and what was answered to it; a message without a prompt before it stands alone. */
struct exchange {
	struct str ask, answer;
	int64_t at_ms;
	bool answered;
};

struct foreign {
	struct master_config config;
	struct str name, system_prompt;
	int64_t at_ms; /* where a message has no time of its own */
	int64_t round, remaining;
	VEC(struct exchange) said[MASTER_ROLES];
	/* What the instructor's last answer asked for by a tool of claude-master's. */
	struct {
		enum master_act act;
		struct str text, system_prompt, model;
	} call;
	struct foreign_report report;
};

static void foreign_release(struct foreign *f)
{
	master_config_release(&f->config);
	str_release(&f->name);
	str_release(&f->system_prompt);
	for (int i = 0; i < MASTER_ROLES; i++) {
		vec_each (&f->said[i], x) {
			str_release(&x->ask);
			str_release(&x->answer);
		}
		vec_release(&f->said[i]);
	}
	str_release(&f->call.text);
	str_release(&f->call.system_prompt);
	str_release(&f->call.model);
}

/* ---- messages ---- */

static void paragraph(struct str *to, struct sv text)
{
	if (text.n && to->len)
		str_addc(to, '\n');
	str_add(to, text);
}

/* A call of a tool, as words; the worker's tools say what is to be done next. */
static void take_call(struct foreign *f, enum master_role role, struct jval block, struct str *out)
{
	struct jval name = { .type = J_NONE }, input = name, text = name, prompt = name,
		    model = name;
	AUTO_STR tmp = STR_INIT;

	if (scan_get(block, SV("name"), &name) <= 0 || scan_get(block, SV("input"), &input) <= 0)
		return;
	bool tell = scan_string_eq(name, SV("tell_worker"));
	bool call = !tell && sv_starts(scan_string_view(name, &tmp), SV("call_worker"));
	if (role == MASTER_INSTRUCTOR && (tell || call)) {
		(void)!scan_get(input, tell ? SV("message") : SV("instruction"), &text);
		(void)!scan_get(input, SV("system_prompt"), &prompt);
		(void)!scan_get(input, SV("model"), &model);
		f->call.act = tell ? MASTER_ACT_GO_ON : MASTER_ACT_FRESH;
		str_clear(&f->call.text);
		str_clear(&f->call.system_prompt);
		str_clear(&f->call.model);
		(void)scan_string(text, &f->call.text);
		(void)scan_string(prompt, &f->call.system_prompt);
		(void)scan_string(model, &f->call.model);
		paragraph(out, str_sv(&f->call.text));
		return;
	}
	AUTO_STR line = STR_INIT;
	str_addf(&line, "[%.*s] %.*s", SV_ARG(scan_string_view(name, &tmp)),
		SV_ARG(sv_head(input.raw, 2000)));
	paragraph(out, str_sv(&line));
}

/* The words of a message: a string, or blocks. False when it has none, as one that only brings
 * results of tools. */
static bool take_content(
	struct foreign *f, enum master_role role, struct jval content, struct str *out)
{
	struct scan_iter it = scan_iter(content);
	struct jval block, type, text;

	if (content.type == J_STRING)
		return scan_string(content, out) && out->len > 0;
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		AUTO_STR part = STR_INIT;
		if (scan_get(block, SV("type"), &type) <= 0)
			continue;
		if (scan_string_eq(type, SV("tool_use")))
			take_call(f, role, block, out);
		else if (scan_string_eq(type, SV("text")) &&
			scan_get(block, SV("text"), &text) > 0 && scan_string(text, &part))
			paragraph(out, str_sv(&part));
	}
	return out->len > 0;
}

static void take_message(struct foreign *f, enum master_role role, struct jval message, int64_t at)
{
	struct jval who = { .type = J_NONE }, content = who;
	AUTO_STR text = STR_INIT;

	if (scan_get(message, SV("role"), &who) <= 0 ||
		scan_get(message, SV("content"), &content) <= 0) {
		f->report.bad++;
		return;
	}
	bool user = scan_string_eq(who, SV("user"));
	if (user && role == MASTER_INSTRUCTOR && content.type == J_STRING)
		f->call.act = MASTER_ACT_NONE;
	if (!take_content(f, role, content, &text))
		return;
	struct exchange *last = f->said[role].n ? &f->said[role].v[f->said[role].n - 1] : NULL;
	if (user || !last) {
		struct exchange x = { .ask = STR_INIT, .answer = STR_INIT, .at_ms = at };
		vec_push(&f->said[role], x);
		last = &f->said[role].v[f->said[role].n - 1];
	}
	if (user) {
		f->call.act = role == MASTER_INSTRUCTOR ? MASTER_ACT_NONE : f->call.act;
		str_add(&last->ask, str_sv(&text));
	} else {
		paragraph(&last->answer, str_sv(&text));
		last->answered = true;
	}
}

static int64_t get_time(struct jval val, int64_t otherwise)
{
	AUTO_STR tmp = STR_INIT;
	int64_t ms;

	/* Before 1970 nobody said anything to an agent, and not every such time can be written. */
	return clock_parse_iso(scan_string_view(val, &tmp), &ms) && ms >= 0 ? ms : otherwise;
}

/* What both forms say about the run itself. */
static void take_head(struct foreign *f, struct jval top)
{
	struct jval val;
	AUTO_STR tmp = STR_INIT;
	int64_t n;

	if (scan_get(top, SV("sessionId"), &val) > 0) {
		struct sv id = scan_string_view(val, &tmp);
		if (uuid_valid(id))
			(void)snprintf(f->report.id, sizeof(f->report.id), "%.*s", SV_ARG(id));
	}
	if (scan_get(top, SV("version"), &val) > 0)
		f->report.newer = master_is_newer(scan_string_view(val, &tmp));
	if (scan_get(top, SV("lastUpdatedAt"), &val) > 0)
		f->at_ms = get_time(val, f->at_ms);
	if (scan_get(top, SV("currentRound"), &val) > 0 && scan_i64(val, &n) && n >= 0)
		f->round = n;
	if (scan_get(top, SV("remainingRounds"), &val) > 0)
		f->remaining = master_get_rounds(val);
	if (scan_get(top, SV("config"), &val) > 0) {
		struct jval key;
		master_get_config(val, &f->config);
		f->report.keys |= scan_get(val, SV("apiKey"), &key) > 0 ||
			scan_get(val, SV("authToken"), &key) > 0;
	}
	if (scan_get(top, SV("workDir"), &val) > 0 && !f->config.dir) {
		str_clear(&tmp);
		if (scan_string(val, &tmp) && tmp.len && !memchr(tmp.buf, '\0', tmp.len))
			f->config.dir = xstrdup(tmp.buf);
	}
}

/* ---- the steps of both ---- */

static int tell_exchange(struct foreign *f, enum master_role role, const struct exchange *x,
	int64_t round, master_step_fn fn, void *data, struct err *reterr)
{
	struct master_step ask = MASTER_STEP_INIT(MASTER_STEP_ASK);
	struct master_step answer = MASTER_STEP_INIT(MASTER_STEP_ANSWER);
	int r = 0;

	ask.role = answer.role = role;
	ask.at_ms = answer.at_ms = x->at_ms ? x->at_ms : f->at_ms;
	ask.round = round;
	ask.text = str_sv(&x->ask);
	answer.text = str_sv(&x->answer);
	if (x->ask.len)
		r = fn(data, &ask, reterr);
	if (r != 0)
		return r;
	/* Nobody is going to answer there any more. */
	if (!x->answered) {
		answer.fail = AGENT_DIED;
		answer.why = SV("the run was taken over before the answer came");
	}
	return fn(data, &answer, reterr);
}

static int tell_steps(struct foreign *f, master_step_fn fn, void *data, struct err *reterr)
{
	const size_t n[] = { f->said[MASTER_INSTRUCTOR].n, f->said[MASTER_WORKER].n };
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	int r;

	step.at_ms = n[0] && f->said[0].v[0].at_ms ? f->said[0].v[0].at_ms : f->at_ms;
	step.config = &f->config;
	r = fn(data, &step, reterr);
	step.kind = MASTER_STEP_NAME;
	step.text = str_sv(&f->name);
	if (r == 0 && f->name.len)
		r = fn(data, &step, reterr);
	step.kind = MASTER_STEP_SAY;
	if (n[0] && f->said[0].v[0].ask.len) {
		step.text = str_sv(&f->said[0].v[0].ask);
		r = r == 0 ? fn(data, &step, reterr) : r;
	}
	step.kind = MASTER_STEP_SESSION;
	for (int i = 0; i < MASTER_ROLES && r == 0; i++) {
		step.role = (enum master_role)i;
		step.text = i == MASTER_INSTRUCTOR ? str_sv(&f->system_prompt) : SV("");
		if (n[i])
			r = fn(data, &step, reterr);
	}
	/* An instruction follows from an answer of the instructor; the worker may have been
	 * begun anew on the way, so that its exchanges are those of the last rounds. */
	int64_t before = f->round > (int64_t)n[1] ? f->round - (int64_t)n[1] : 0;
	size_t skip = n[0] > n[1] ? n[0] - n[1] - 1 : 0;
	for (size_t i = 0, w = 0; r == 0 && (i < n[0] || w < n[1]); i++) {
		int64_t round = before + (int64_t)w;
		if (i < n[0])
			r = tell_exchange(
				f, MASTER_INSTRUCTOR, &f->said[0].v[i], round, fn, data, reterr);
		if (r == 0 && i >= skip && w < n[1]) {
			r = tell_exchange(
				f, MASTER_WORKER, &f->said[1].v[w], round + 1, fn, data, reterr);
			w++;
		}
	}
	step = (struct master_step)MASTER_STEP_INIT(MASTER_STEP_ROUNDS);
	step.at_ms = f->at_ms;
	step.rounds = f->remaining;
	step.round = f->round;
	if (r == 0)
		r = fn(data, &step, reterr);
	if (r == 0 && f->call.act != MASTER_ACT_NONE) {
		step.kind = MASTER_STEP_DECIDED;
		step.act = f->call.act;
		step.text = str_sv(&f->call.text);
		step.system_prompt = str_sv(&f->call.system_prompt);
		step.model = str_sv(&f->call.model);
		r = fn(data, &step, reterr);
	}
	return r;
}

/* ---- a record a line ---- */

static void take_record(struct foreign *f, struct sv line)
{
	struct jval top, type = { .type = J_NONE }, when = type, message = type;

	if (scan_text(line, &top) < 0 || top.type != J_OBJECT ||
		scan_get(top, SV("type"), &type) <= 0) {
		f->report.bad++;
		return;
	}
	int64_t at = scan_get(top, SV("timestamp"), &when) > 0 ? get_time(when, 0) : 0;
	bool instructor = scan_string_eq(type, SV("instructor-message"));
	if (scan_string_eq(type, SV("session-metadata")))
		take_head(f, top);
	else if (!instructor && !scan_string_eq(type, SV("worker-message")))
		f->report.bad++;
	else if (scan_get(top, SV("message"), &message) > 0)
		take_message(f, instructor ? MASTER_INSTRUCTOR : MASTER_WORKER, message, at);
	else
		f->report.bad++;
}

/* ---- one object ---- */

static void take_history(struct foreign *f, enum master_role role, struct jval top, const char *key)
{
	struct jval side = { .type = J_NONE }, list = side, text = side, message;

	if (scan_get(top, sv_of(key), &side) <= 0)
		return;
	if (role == MASTER_INSTRUCTOR && scan_get(side, SV("systemPrompt"), &text) > 0)
		(void)scan_string(text, &f->system_prompt);
	if (scan_get(side, SV("conversationHistory"), &list) <= 0)
		return;
	struct scan_iter it = scan_iter(list);
	while (scan_next(&it, NULL, &message) > 0)
		take_message(f, role, message, 0);
}

static void take_response(struct foreign *f, struct jval top)
{
	struct jval val = { .type = J_NONE }, text = val, model = val, goes_on = val;

	/* Only when the worker has not been given it yet. */
	if (f->said[MASTER_INSTRUCTOR].n <= f->said[MASTER_WORKER].n ||
		scan_get(top, SV("lastInstructorResponse"), &val) <= 0 || val.type != J_OBJECT ||
		scan_get(val, SV("instruction"), &text) <= 0 || !scan_string(text, &f->call.text) ||
		f->call.text.len == 0)
		return;
	(void)!scan_get(val, SV("shouldContinue"), &goes_on);
	if (scan_get(val, SV("workerModel"), &model) > 0)
		(void)scan_string(model, &f->call.model);
	f->call.act = scan_true(goes_on) ? MASTER_ACT_GO_ON : MASTER_ACT_DONE;
}

struct numbered {
	int64_t n;
	struct sv text;
};

static int by_number(const void *a, const void *b)
{
	const struct numbered *x = a, *y = b;

	return (x->n > y->n) - (x->n < y->n);
}

/* Our own steps, in a file that was laid out anew or edited: what they say now counts. */
static int tell_edited(struct jval top, master_step_fn fn, void *data, struct foreign_report *ret,
	struct err *reterr)
{
	static const char *const lists[] = { "instructor.conversationHistory",
		"worker.conversationHistory", "log" };
	VEC(struct numbered) steps = VEC_INIT;
	struct master_step_hold hold;
	struct master_step step;
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct jval list, item, number;
		if (scan_path(top, lists[i], &list) <= 0)
			continue;
		struct scan_iter it = scan_iter(list);
		while (scan_next(&it, NULL, &item) > 0) {
			struct numbered s = { .text = item.raw };
			if (scan_get(item, SV("n"), &number) > 0 && scan_i64(number, &s.n))
				vec_push(&steps, s);
			else
				ret->bad++;
		}
	}
	vec_sort(&steps, by_number);
	master_step_hold_init(&hold);
	size_t told = 0;
	vec_each (&steps, s) {
		struct err why = ERR_INIT;
		if (r != 0)
			break;
		if (master_step_read(s->text, false, &hold, &step, &why) < 0 ||
			(told == 0 && step.kind != MASTER_STEP_CONFIG)) {
			ret->bad++;
			continue;
		}
		told++;
		r = fn(data, &step, reterr);
	}
	master_step_hold_release(&hold);
	vec_release(&steps);
	return r != 0 || told ? r : err_set(reterr, ERR_INPUT, "it has no steps");
}

int foreign_steps(struct sv text, master_step_fn fn, void *data, struct foreign_report *ret,
	struct err *reterr)
{
	struct foreign f = { .config = MASTER_CONFIG_INIT,
		.name = STR_INIT,
		.system_prompt = STR_INIT,
		.remaining = MASTER_UNLIMITED,
		.call = { .text = STR_INIT, .system_prompt = STR_INIT, .model = STR_INIT } };
	struct jval top, log = { .type = J_NONE };
	int r = 0;

	bool one = scan_text(text, &top) == 0 && top.type == J_OBJECT &&
		scan_get(top, SV("type"), &log) <= 0;
	if (one) {
		take_head(&f, top);
		f.report.form = MASTER_FORM_FIRST;
		take_history(&f, MASTER_INSTRUCTOR, top, "instructor");
		take_history(&f, MASTER_WORKER, top, "worker");
		take_response(&f, top);
	} else {
		struct sv rest = text, line;
		f.report.form = MASTER_FORM_RECORDS;
		while (sv_split(&rest, '\n', &line))
			if (sv_trim(line).n)
				take_record(&f, line);
	}
	if (one && scan_get(top, SV("log"), &log) > 0 && log.type == J_ARRAY) {
		f.report.form = MASTER_FORM_EDITED;
		f.report.bad = 0;
		r = tell_edited(top, fn, data, &f.report, reterr);
	} else if (f.said[MASTER_INSTRUCTOR].n + f.said[MASTER_WORKER].n == 0) {
		r = err_set(reterr, ERR_INPUT, "it is no run: nothing that was said is in it");
	} else {
		r = tell_steps(&f, fn, data, reterr);
	}
	*ret = f.report;
	foreign_release(&f);
	return r;
}

static int no_step(void *data, const struct master_step *step, struct err *reterr)
{
	(void)data;
	(void)step;
	(void)reterr;
	return 0;
}

bool foreign_id(struct sv text, char ret_id[static UUID_TEXT])
{
	struct foreign_report report = { .bad = 0 };

	if (foreign_steps(text, no_step, NULL, &report, NULL) < 0 || !report.id[0])
		return false;
	memcpy(ret_id, report.id, UUID_TEXT);
	return true;
}
