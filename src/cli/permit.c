#include "cli/permit.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "ui/wrap.h"

void permit_init(struct permit *p, struct front *front, struct term *term, int fd,
	const struct permit_ops *ops, void *data)
{
	*p = (struct permit){ .front = front, .term = term, .ops = ops, .data = data };
	keys_init(&p->keys, front->loop, fd);
}

void permit_release(struct permit *p)
{
	permit_drop(p);
	vec_release(&p->asked);
	keys_release(&p->keys);
}

static void forget(struct permit *p, size_t i)
{
	struct permit_question *q = &p->asked.v[i];

	free(q->id);
	free(q->tool);
	free(q->about);
	free(q->scope);
	p->asked.n--;
	memmove(q, q + 1, (p->asked.n - i) * sizeof(*q));
}

void permit_drop(struct permit *p)
{
	bool shown = p->shown;

	while (p->asked.n)
		forget(p, p->asked.n - 1);
	p->shown = false;
	keys_close(&p->keys);
	if (shown) {
		p->ops->enter(p->data, false);
		p->ops->leave(p->data, false);
	}
}

static void on_key(void *data, char key);

static const char *scope_of(const struct permit_question *q)
{
	return q->scope[0] ? q->scope : q->tool;
}

/* The question in full, however long: nobody can decide on what is not shown. */
static void show(struct permit *p)
{
	const struct permit_question *q = &p->asked.v[0];
	const char *dot = p->term->ascii ? " - " : " · ";
	AUTO_STR line = STR_INIT;

	p->shown = true;
	p->ops->enter(p->data, true);
	str_addf(&line, "May it use %s?%s%s", q->tool, q->about[0] ? " " : "", q->about);
	wrap_line(p->term, STYLE_BOLD | STYLE_WARNING, str_sv(&line));
	str_clear(&line);
	str_addf(&line, "y once%s", dot);
	if (q->always)
		str_addf(&line, "a always for %s in this %s%s", q->scope[0] ? q->scope : q->tool,
			p->ops->span, dot);
	str_addf(&line, "n no%sEsc cancels the turn", dot);
	wrap_line(p->term, STYLE_NOTICE, str_sv(&line));
	p->ops->leave(p->data, true);
	keys_ask(&p->keys, q->always ? "yan" : "yn", on_key, p);
}

void permit_again(struct permit *p)
{
	if (p->shown)
		show(p);
}

/* The first question is over; what became of it stands on the screen, then the next. NULL: it was
 * allowed from now on. */
static void go_on(struct permit *p, const char *what)
{
	const struct permit_question *q = &p->asked.v[0];
	AUTO_STR line = STR_INIT;
	AUTO_STR fitting = STR_INIT;

	/* What the agent will not ask for again may be more than this, or less. */
	if (what)
		str_addf(&line, "%s: %s %s", what, q->tool, q->about);
	else
		str_addf(&line, "Allowed for this %s: %s", p->ops->span, scope_of(q));
	p->shown = false;
	p->ops->enter(p->data, false);
	utf8_fit(&fitting, str_sv(&line), p->term->cols - 1);
	wrap_line(p->term, STYLE_NOTICE, str_sv(&fitting));
	p->ops->leave(p->data, false);
	forget(p, 0);
	if (p->asked.n)
		show(p);
}

static void on_key(void *data, char key)
{
	static const struct {
		char key;
		enum agent_answer answer;
		const char *words;
	} answers[] = {
		{ 'y', AGENT_ALLOW, "Allowed once" },
		{ 'a', AGENT_ALLOW_ALWAYS, NULL },
		{ 'n', AGENT_DENY, "Not allowed" },
	};
	struct permit *p = data;
	size_t i = 0;

	if (p->asked.n == 0)
		return;
	if (key == KEYS_ESCAPE || key == KEYS_GONE) {
		p->ops->cancel(p->data);
		return;
	}
	AUTO_FREE char *id = xstrdup(p->asked.v[0].id);
	while (answers[i].key != key)
		i++;
	go_on(p, answers[i].words);
	if (p->ops->answer)
		p->ops->answer(p->data, id, answers[i].answer);
	else
		assistant_answer(p->front->assistant, id, answers[i].answer);
}

void permit_event(struct permit *p, const struct agent_event *ev)
{
	if (ev->type == AGENT_EV_DONE)
		permit_drop(p);
	if (ev->type == AGENT_EV_ASK) {
		vec_push(&p->asked,
			(struct permit_question){ .id = xstrdup(ev->ask->id),
				.tool = xmemdup0(ev->tool.p, ev->tool.n),
				.about = xmemdup0(ev->text.p, ev->text.n),
				.scope = xmemdup0(ev->ask->scope.p, ev->ask->scope.n),
				.always = ev->ask->always });
		if (p->asked.n == 1)
			show(p);
	}
	for (size_t i = 0; ev->type == AGENT_EV_ASK_OVER && i < p->asked.n; i++) {
		if (strcmp(p->asked.v[i].id, ev->ask->id) != 0)
			continue;
		if (i > 0)
			forget(p, i);
		else
			go_on(p, "No longer asked");
		if (p->asked.n == 0)
			keys_close(&p->keys);
		return;
	}
}
