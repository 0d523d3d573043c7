/*
 * The rehearsal agent as one of a pair: it plays a task in so many steps as a number in it says, so
 * that a pair can be tried, killed and resumed without an account. As an instructor it has the
 * worker say one number after the other; as a worker it says them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/rehearsal-script.h"
#include "base/utf8.h"

enum { STEPS_USUAL = 3, STEPS_MOST = 100000 };

static const char *const numbers[] = { "zero", "one", "two", "three", "four", "five", "six",
	"seven", "eight", "nine", "ten", "eleven", "twelve" };

/* How many steps the task has: the last number in it; 0: it names none. */
static long long steps_in(struct sv task)
{
	AUTO_STR folded = STR_INIT;
	long long n, found = 0;
	struct sv rest, word;

	utf8_normalise(&folded, sv_head(task, 500), true);
	for (size_t i = 0; i < folded.len; i++)
		if (strchr(".,;:!?()\"\n\t", folded.buf[i]))
			folded.buf[i] = ' ';
	for (rest = str_sv(&folded); sv_split(&rest, ' ', &word);) {
		if (sv_parse_i64(word, &n) && n > 0 && n <= STEPS_MOST)
			found = n;
		for (size_t i = 1; i < ARRAY_LEN(numbers); i++)
			if (sv_is(word, numbers[i]))
				found = (long long)i;
	}
	return found;
}

/* What the user says is another task; the rest is about the one there is. */
static bool is_task(struct sv said)
{
	static const char *const others[] = { "The worker", "You were interrupted",
		"There was an interruption", "That cannot be followed", "You said DONE" };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (sv_starts(said, sv_of(others[i])))
			return false;
	return true;
}

static void instruct(const struct strv *said, struct str *out)
{
	long long steps = STEPS_USUAL, done = 0;

	for (size_t i = 0; i < said->n; i++) {
		struct sv text = sv_of(said->v[i]);
		size_t added;
		done += sv_starts(text, SV("The worker's answer:"));
		if (i == 0 || is_task(text)) {
			steps = steps_in(text) ? steps_in(text) : STEPS_USUAL;
			done = 0;
		} else if (sv_find(text, SV("The user adds, "), &added) &&
			steps_in(sv_from(text, added))) {
			steps = steps_in(sv_from(text, added));
			done = 0;
		}
	}
	if (done >= steps)
		str_addf(out, "The worker has said %lld %s.\n\nDONE", steps,
			steps == 1 ? "number" : "numbers");
	else if (done == 0)
		str_addf(out,
			"That is %lld %s. I begin with the first.\n\n{\"act\": \"start\", "
			"\"system_prompt\": \"You count, one number at a time.\", "
			"\"instruction\": \"Say the number 1.\"}",
			steps, steps == 1 ? "step" : "steps");
	else
		str_addf(out,
			"%lld of %lld is done.\n\n{\"act\": \"tell\", \"message\": \"Say the "
			"number %lld.\"}",
			done, steps, done + 1);
}

/* The number it was told last: what is said to it beside that asks it to go on. */
static void work(const struct strv *said, struct str *out)
{
	static const char order[] = "Say the number ";
	size_t at;

	for (size_t i = said->n; i-- > 0;) {
		struct sv text = sv_of(said->v[i]);
		if (!sv_find(text, SV("Say the number "), &at))
			continue;
		long long n = strtoll(text.p + at + sizeof(order) - 1, NULL, 10);
		if (n > 0 && n < (long long)ARRAY_LEN(numbers))
			str_addf(out, "%lld, %s.", n, numbers[n]);
		else
			str_addf(out, "%lld.", n);
		return;
	}
	str_addf(out, "I did as I was told: %s", said->v[said->n - 1]);
}

bool rehearsal_pair(const char *system_prompt, const struct strv *said, struct str *out)
{
	if (!system_prompt || said->n == 0)
		return false;
	if (strstr(system_prompt, "You are the instructor of a pair."))
		instruct(said, out);
	else if (strstr(system_prompt, "You are the worker of a pair."))
		work(said, out);
	else
		return false;
	return true;
}
