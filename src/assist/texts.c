#include "assist/texts.h"

static const char *const texts[TEXT_COUNT][2] = {
	[TEXT_RESET] = { [TEXT_GERMAN] = "Alles klar, ich starte eine neue Konversation.",
		[TEXT_ENGLISH] = "All right, I am starting a new conversation." },
	[TEXT_UNDONE] = { [TEXT_GERMAN] = "Die vorige Konversation geht weiter.",
		[TEXT_ENGLISH] = "The previous conversation goes on." },
	[TEXT_NOTHING_TO_UNDO] = { [TEXT_GERMAN] = "Es gibt nichts zurückzuholen.",
		[TEXT_ENGLISH] = "There is nothing to bring back." },
	[TEXT_CANCELLED_NOTHING] = { [TEXT_GERMAN] = "Alles klar.", [TEXT_ENGLISH] = "All right." },
	[TEXT_CANCELLED] = { [TEXT_GERMAN] = "Abgebrochen.", [TEXT_ENGLISH] = "Cancelled." },
	[TEXT_CANCELLED_DONE] = { [TEXT_GERMAN] = "Abgebrochen. Was schon getan ist, bleibt: %s.",
		[TEXT_ENGLISH] = "Cancelled. What was done stands: %s." },
	[TEXT_ROUTED_NEW] = { [TEXT_GERMAN] =
				      "Neue Konversation (sonst sag: \"nein, die andere\").",
		[TEXT_ENGLISH] = "New conversation (if not, say: \"no, the other one\")." },
	[TEXT_GO_ON] = { [TEXT_GERMAN] = "Bitte mach dort weiter, wo du unterbrochen wurdest.",
		[TEXT_ENGLISH] = "Please go on where you were interrupted." },
	[TEXT_RESTART] = { [TEXT_GERMAN] = "Alles klar, ich starte jetzt neu.",
		[TEXT_ENGLISH] = "All right, restarting now." },
};

const char *text_get(enum text_id id, enum text_language language)
{
	return texts[id][language];
}
