#include "listen/phrases.h"

#include <string.h>

const char *phrase(enum phrase which, enum text_language language)
{
	static const char *const texts[][2] = {
		[PHRASE_NOT_UNDERSTOOD] = { "Entschuldigung, ich konnte dich nicht verstehen. "
					    "Bitte versuche es nochmal.",
			"Sorry, I could not understand you. Please try again." },
		[PHRASE_DEAF] = { "Die Spracherkennung funktioniert nicht. Mehr dazu steht auf dem "
				  "Bildschirm.",
			"The speech recognition does not work. The screen says more." },
		[PHRASE_TOO_LONG] = { "Die Verarbeitung hat zu lange gedauert. Bitte versuche es "
				      "nochmal.",
			"That took too long. Please try again." },
		[PHRASE_FAILED] = { "Entschuldigung, bei der Verarbeitung ist ein Fehler "
				    "aufgetreten.",
			"Sorry, something went wrong while I was working on it." },
		[PHRASE_MAY_I] = { "Darf ich %s benutzen?", "May I use %s?" },
		[PHRASE_YES_OR_NO] = { "Ja oder nein?", "Yes or no?" },
		[PHRASE_ANSWER_YES_OR_NO] = { "Bitte antworte mit ja oder nein.",
			"Please answer with yes or no." },
		[PHRASE_ANSWER_BY_CALL] = { "Sag \"Hey %s, ja\" oder \"Hey %s, nein\".",
			"Say \"Hey %s, yes\" or \"Hey %s, no\"." },
		[PHRASE_ANSWER_BY_KEY] = { "Drücke die Leertaste und sag ja oder nein.",
			"Press Space and say yes or no." },
		[PHRASE_ALLOWED] = { "Erlaubt.", "Allowed." },
		[PHRASE_DENIED] = { "Nicht erlaubt.", "Not allowed." },
		[PHRASE_NOBODY] = { "Nicht erlaubt: niemand kann mehr antworten.",
			"Not allowed: nobody can answer any more." },
	};

	return texts[which][language == TEXT_ENGLISH];
}

void phrase_add(struct str *out, enum phrase which, enum text_language language, const char *what)
{
	const char *form = phrase(which, language);

	for (const char *at; (at = strstr(form, "%s")); form = at + 2)
		str_addf(out, "%.*s%s", (int)(at - form), form, what);
	str_adds(out, form);
}
