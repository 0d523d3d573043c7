#include "assist/texts.h"

#include "base/clock.h"

static const char *const texts[TEXT_COUNT][2] = {
	[TEXT_RESET] = { [TEXT_GERMAN] = "Alles klar, ich starte eine neue Konversation.",
		[TEXT_ENGLISH] = "All right, I am starting a new conversation." },
	[TEXT_REPEATED] = { [TEXT_GERMAN] =
				    "das ist, was unterbrochen wurde, und es kam an oder kann "
				    "angekommen sein; noch einmal gesagt, wird es gesendet",
		[TEXT_ENGLISH] =
			"this is what was interrupted, and it reached the agent or may have; "
			"say it once more to send it all the same" },
	[TEXT_RESET_BACK] = { [TEXT_GERMAN] = "/undo holt die alte zurück.",
		[TEXT_ENGLISH] = "/undo brings the old one back." },
	[TEXT_COMPACT] = { [TEXT_GERMAN] =
				   "Nichts wurde gesendet, denn eine Zusammenfassung verliert, was "
				   "nicht in ihr steht. Stattdessen: >trim macht ohne lange Texte "
				   "weiter, die man wiederhaben kann; >continue in einer frischen "
				   "Sitzung, die weiß, wo diese stand; >advise sagt, was sich "
				   "lohnt.",
		[TEXT_ENGLISH] =
			"Nothing was sent, since a summary loses what is not in it. "
			"Instead: >trim goes on without long texts, which can be had back; "
			">continue in a fresh session that knows where this one stood; "
			">advise says what is worth it." },
	[TEXT_UNDONE] = { [TEXT_GERMAN] = "Die vorige Konversation geht weiter: %s, %s.",
		[TEXT_ENGLISH] = "The previous conversation goes on: %s, %s." },
	[TEXT_UNDONE_SAME] = { [TEXT_GERMAN] = "Zurückgenommen; hier ging aber schon weiter, was "
					       "davor war: "
					       "%s, %s.",
		[TEXT_ENGLISH] =
			"It is undone, but what was before it went on here already: %s, %s." },
	[TEXT_NOTHING_TO_UNDO] = { [TEXT_GERMAN] = "Es gibt nichts zurückzuholen.",
		[TEXT_ENGLISH] = "There is nothing to bring back." },
	[TEXT_CANCELLED_NOTHING] = { [TEXT_GERMAN] = "Alles klar.", [TEXT_ENGLISH] = "All right." },
	[TEXT_CANCELLED] = { [TEXT_GERMAN] = "Abgebrochen.", [TEXT_ENGLISH] = "Cancelled." },
	[TEXT_CANCELLED_DONE] = { [TEXT_GERMAN] = "Abgebrochen. Was schon getan ist, bleibt: %s.",
		[TEXT_ENGLISH] = "Cancelled. What was done stands: %s." },
	[TEXT_CANCELLED_BEGUN] = { [TEXT_GERMAN] = "Begonnen und abgebrochen: %s.",
		[TEXT_ENGLISH] = "Begun and broken off: %s." },
	[TEXT_ROUTED_CLOSE] = { [TEXT_GERMAN] = "Sicher ist das nicht; sonst sag: \"nein, die "
						"andere\".",
		[TEXT_ENGLISH] = "That is not sure; if it is wrong, say: \"no, the other one\"." },
	[TEXT_STAYED_NEW] = { [TEXT_GERMAN] =
				      "Weiter mit: %s (sonst sag: \"nein, neue Konversation\").",
		[TEXT_ENGLISH] = "Going on with: %s (if not, say: \"no, new conversation\")." },
	[TEXT_STAYED_OTHER] = { [TEXT_GERMAN] = "Weiter mit: %s (sonst sag: \"nein, die andere\").",
		[TEXT_ENGLISH] = "Going on with: %s (if not, say: \"no, the other one\")." },
	[TEXT_NOT_CORRECTED] = { [TEXT_GERMAN] = "Gesagt in: %s. War das eine Korrektur, dann sag: "
						 "\"nein, die andere\".",
		[TEXT_ENGLISH] = "Said in: %s. If that was a correction, say: \"no, the other "
				 "one\"." },
	[TEXT_ROUTED_NEW] = { [TEXT_GERMAN] =
				      "Neue Konversation (sonst sag: \"nein, die andere\").",
		[TEXT_ENGLISH] = "New conversation (if not, say: \"no, the other one\")." },
	[TEXT_JUDGE_CHOSE] = { [TEXT_GERMAN] = "%s wurde gefragt, wohin das gehört (%s).",
		[TEXT_ENGLISH] = "%s was asked where that belongs (%s)." },
	[TEXT_JUDGE_ELSE] = { [TEXT_GERMAN] = "%s wurde gefragt, wohin das gehört, und hat nichts "
					      "davon genannt (%s).",
		[TEXT_ENGLISH] = "%s was asked where that belongs and named none of the choices "
				 "(%s)." },
	[TEXT_JUDGE_FAILED] = { [TEXT_GERMAN] = "%s wurde gefragt, wohin das gehört, ohne Antwort "
						"(%s).",
		[TEXT_ENGLISH] = "%s was asked where that belongs, without an answer (%s)." },
	[TEXT_ROUTED_TO] = { [TEXT_GERMAN] = "Weiter mit: %s, %s.",
		[TEXT_ENGLISH] = "Resuming: %s, %s." },
	[TEXT_ROUTED_AWAY] = { [TEXT_GERMAN] =
				       "Weiter mit: %s, %s (sonst sag: \"nein, die andere\").",
		[TEXT_ENGLISH] = "Resuming: %s, %s (if not, say: \"no, the other one\")." },
	[TEXT_ROUTED_AWAY_ONLY] = { [TEXT_GERMAN] = "Weiter mit: %s, %s (sonst sag: \"nein, neue "
						    "Konversation\").",
		[TEXT_ENGLISH] = "Resuming: %s, %s (if not, say: \"no, new conversation\")." },
	[TEXT_ROUTED_OWN] = { [TEXT_GERMAN] = "Weiter mit dem, was in %s begonnen wurde: %s, %s "
					      "(sonst sag: \"nein, die andere\").",
		[TEXT_ENGLISH] = "Resuming what was begun in %s: %s, %s (if not, say: \"no, the "
				 "other one\")." },
	[TEXT_ROUTED_OWN_ONLY] = { [TEXT_GERMAN] =
					   "Weiter mit dem, was in %s begonnen wurde: %s, %s "
					   "(sonst sag: \"nein, neue Konversation\").",
		[TEXT_ENGLISH] = "Resuming what was begun in %s: %s, %s (if not, say: \"no, new "
				 "conversation\")." },
	[TEXT_FOLDER_OWN] = { [TEXT_GERMAN] = "Weiter mit dem, was in %s begonnen wurde: %s, %s "
					      "(--new beginnt eine neue Konversation).",
		[TEXT_ENGLISH] = "Going on with what was begun in %s: %s, %s (--new starts a new "
				 "conversation)." },
	[TEXT_STAYS] = { [TEXT_GERMAN] =
				 "Hier bleibt es bei \"%s\"; in diesem Ordner geht inzwischen "
				 "\"%s\" weiter.",
		[TEXT_ENGLISH] =
			"Still in \"%s\" here; what goes on in this folder is \"%s\" by now." },
	[TEXT_STAYS_RESET] = { [TEXT_GERMAN] = "Hier bleibt es bei \"%s\"; der Ordner wurde "
					       "anderswo zurückgesetzt.",
		[TEXT_ENGLISH] = "Still in \"%s\" here; the folder was reset elsewhere." },
	[TEXT_OPEN] = { [TEXT_GERMAN] = "\"%s\" ist gerade in %s geöffnet und bleibt unberührt.",
		[TEXT_ENGLISH] = "\"%s\" is open in %s right now and is left alone." },
	[TEXT_SAME_THERE] = { [TEXT_GERMAN] = "Alles klar, dasselbe (\"%s\") in: %s.",
		[TEXT_ENGLISH] = "All right, the same (\"%s\") in: %s." },
	[TEXT_SAME_NEW] = { [TEXT_GERMAN] =
				    "Alles klar, dasselbe (\"%s\") in einer neuen Konversation.",
		[TEXT_ENGLISH] = "All right, the same (\"%s\") in a new conversation." },
	[TEXT_NEXT_THERE] = { [TEXT_GERMAN] = "Ab jetzt: %s.",
		[TEXT_ENGLISH] = "From now on: %s." },
	[TEXT_NEXT_NEW] = { [TEXT_GERMAN] = "Ab jetzt: eine neue Konversation.",
		[TEXT_ENGLISH] = "From now on: a new conversation." },
	[TEXT_DONE_NEXT_THERE] = { [TEXT_GERMAN] = "Was getan ist, bleibt. Ab jetzt: %s. Bitte sag "
						   "es noch einmal.",
		[TEXT_ENGLISH] = "What was done stands. From now on: %s. Please say it again." },
	[TEXT_DONE_NEXT_NEW] = { [TEXT_GERMAN] = "Was getan ist, bleibt. Ab jetzt: eine neue "
						 "Konversation. Bitte sag es noch einmal.",
		[TEXT_ENGLISH] =
			"What was done stands. From now on: a new conversation. Please say "
			"it again." },
	[TEXT_NONE_ABOUT] = { [TEXT_GERMAN] = "Hier gibt es keine Konversation über %s.",
		[TEXT_ENGLISH] = "There is no conversation about %s here." },
	[TEXT_NO_OTHER] = { [TEXT_GERMAN] = "Hier gibt es keine andere Konversation; nichts "
					    "wurde gesendet. Eine neue: \"nein, neue "
					    "Konversation\".",
		[TEXT_ENGLISH] = "There is no other conversation here; nothing was sent. For a new "
				 "one: \"no, new conversation\"." },
	[TEXT_TALK_STAYS] = { [TEXT_GERMAN] =
				      "Nichts wurde gesendet: ein Gespräch bleibt in seiner "
				      "Konversation. /resume NAME führt in eine andere, /clear "
				      "beginnt eine neue.",
		[TEXT_ENGLISH] = "Nothing was sent: a talk stays in its conversation. /resume NAME "
				 "goes on in another one, /clear begins a new one." },
	[TEXT_NOTHING_HERE] = { [TEXT_GERMAN] =
					"Hier gibt es nichts, womit es weitergehen könnte; "
					"nichts wurde gesendet. Was anderswo ist, zeigt: faden "
					"list --all",
		[TEXT_ENGLISH] = "There is nothing here to go on with; nothing was sent. To see "
				 "what there is elsewhere: faden list --all" },
	[TEXT_NOTHING_BUT] = { [TEXT_GERMAN] =
				       "Von selbst geht hier nichts weiter; nichts wurde gesendet. "
				       "Das letzte war \"%s\", %s; weiter damit: %s",
		[TEXT_ENGLISH] = "Nothing goes on here by itself; nothing was sent. The last one "
				 "was \"%s\", %s; to go on with it: %s" },
	[TEXT_NOTHING_SINCE_RESET] = { [TEXT_GERMAN] =
					       "Seit dem Zurücksetzen gibt es hier nichts, womit "
					       "es weitergehen könnte; nichts wurde gesendet. "
					       "Davor "
					       "war \"%s\", %s; zurück dazu: %s",
		[TEXT_ENGLISH] = "There is nothing here to go on with since the reset; nothing was "
				 "sent. Before it was \"%s\", %s; to bring it back: %s" },
	[TEXT_NOTHING_DELETED] = { [TEXT_GERMAN] =
					   "Hier gibt es nichts, womit es weitergehen könnte: "
					   "\"%s\" ist gelöscht; nichts wurde gesendet. Zurück "
					   "holt "
					   "es: faden archive restore %s",
		[TEXT_ENGLISH] = "There is nothing here to go on with: \"%s\" was deleted; nothing "
				 "was sent. To get it back: faden archive restore %s" },
	[TEXT_ANOTHERS] = { [TEXT_GERMAN] =
				    "\"%s\" gehört zu %s, nicht zu %s; nichts wurde gesendet. "
				    "Ohne --agent geht es dort weiter, mit --new geht es "
				    "trotzdem an den Agenten.",
		[TEXT_ENGLISH] = "\"%s\" belongs to %s, not to %s; nothing was sent. Without "
				 "--agent it goes on there; with --new the agent gets it all the "
				 "same." },
	[TEXT_NONE_CALLED] = { [TEXT_GERMAN] =
				       "Nichts heißt \"%s\" oder handelt davon; nichts wurde "
				       "gesendet. Was es gibt, zeigt: faden list --all; mit --in "
				       "oder --new geht es trotzdem an den Agenten.",
		[TEXT_ENGLISH] =
			"Nothing is called \"%s\" or is about it; nothing was sent. To see "
			"what there is: faden list --all; with --in or --new the agent "
			"gets it all the same." },
	[TEXT_RIGHTS_STAY] = { [TEXT_GERMAN] =
				       "--permission-mode %s gilt für diesen Ordner, dort nicht; "
				       "mit --in gilt es auch dort.",
		[TEXT_ENGLISH] = "--permission-mode %s holds for this folder and not there; with "
				 "--in it does." },
	[TEXT_PLANNING] = { [TEXT_GERMAN] = "Es wird nur geplant; nichts wird geändert.",
		[TEXT_ENGLISH] = "This turn plans; nothing is changed." },
	[TEXT_PLANNING_BUT_RULES] = { [TEXT_GERMAN] =
					      "Es wird nur geplant; %s liest nur, bis auf das, was "
					      "seine eigenen Regeln erlauben.",
		[TEXT_ENGLISH] = "This turn plans; %s only reads, but for what its own rules "
				 "allow." },
	[TEXT_CANNOT_PLAN] = { [TEXT_GERMAN] =
				       "Es soll nur geplant werden; %s lässt sich daran aber nicht "
				       "binden und kann trotzdem etwas ändern.",
		[TEXT_ENGLISH] = "This turn is meant to plan, but %s cannot be held to that: it "
				 "may change things all the same." },
	[TEXT_PLAN_TO_DOING] = { [TEXT_GERMAN] = "Vom Planen zum Tun, in derselben Konversation.",
		[TEXT_ENGLISH] = "From planning to doing, in the same conversation." },
	[TEXT_GO_ON] = { [TEXT_GERMAN] = "Bitte mach dort weiter, wo du unterbrochen wurdest.",
		[TEXT_ENGLISH] = "Please go on where you were interrupted." },
	[TEXT_OTHER_AGENT] = { [TEXT_GERMAN] = "\"%s\" gehört zu %s: eine andere Konversation mit "
					       "%s beginnt.",
		[TEXT_ENGLISH] = "\"%s\" belongs to %s: starting another conversation with %s." },
	[TEXT_OTHER_AGENT_OWN] = { [TEXT_GERMAN] = "\"%s\" gehört zu %s: weiter mit \"%s\".",
		[TEXT_ENGLISH] = "\"%s\" belongs to %s: going on with \"%s\"." },
	[TEXT_BELONGS] = { [TEXT_GERMAN] = "\"%s\" gehört zu %s.",
		[TEXT_ENGLISH] = "\"%s\" belongs to %s." },
	[TEXT_ANSWERS_HERE] = { [TEXT_GERMAN] = "%s antwortet: ihm gehört \"%s\".",
		[TEXT_ENGLISH] = "%s answers: \"%s\" is its conversation." },
	[TEXT_DELETED] = { [TEXT_GERMAN] = "\"%s\" ist gelöscht (faden archive restore %s holt es "
					   "zurück): eine neue Konversation beginnt.",
		[TEXT_ENGLISH] = "\"%s\" was deleted (faden archive restore %s gets it back): "
				 "starting a new conversation." },
	[TEXT_TOO_OLD] = { [TEXT_GERMAN] = "\"%s\" war %s: eine neue Konversation beginnt.",
		[TEXT_ENGLISH] = "\"%s\" is from %s: starting a new conversation." },
	[TEXT_GONE] = { [TEXT_GERMAN] = "%s hat diese Konversation nicht mehr (%s); sie beginnt "
					"neu.",
		[TEXT_ENGLISH] = "%s no longer has this conversation (%s); starting fresh." },
	[TEXT_LIMIT] = { [TEXT_GERMAN] =
				 "Das Limit von %s ist erreicht: es wird %s s gewartet, bis "
				 "%s. Ctrl-C gibt auf.",
		[TEXT_ENGLISH] =
			"%s's limit is reached: waiting %s s, until %s. Ctrl-C gives up." },
	[TEXT_CALLS_FAILED] = { [TEXT_GERMAN] = "Bei einer unterbrochenen Anfrage schlug fehl oder "
						"war nicht erlaubt, was der Agent versuchte: %s.",
		[TEXT_ENGLISH] = "In an interrupted turn a call of the agent failed or was not "
				 "allowed: %s." },
	[TEXT_ENDED_ALONE] = { [TEXT_GERMAN] = "Eine Anfrage wurde hier unterbrochen, aber der "
					       "Agent hat sie zu Ende gebracht (faden show %s).",
		[TEXT_ENGLISH] =
			"A turn was interrupted here, but the agent finished it (faden show %s)." },
	[TEXT_ANSWERED] = { [TEXT_GERMAN] = "Die Antwort auf \"%s\": %s",
		[TEXT_ENGLISH] = "\"%s\" was answered: %s" },
	[TEXT_UNANSWERED] = { [TEXT_GERMAN] =
				      "Eine Anfrage wurde unterbrochen: \"%s\" kam beim Agenten "
				      "an, eine Antwort ist nicht verzeichnet. Sie wird nicht noch "
				      "einmal gesendet. Nachsehen: faden show %s",
		[TEXT_ENGLISH] = "A turn was interrupted: \"%s\" reached the agent, no answer is "
				 "recorded. It is not sent again. Look with: faden show %s" },
	[TEXT_NOT_SENT] = { [TEXT_GERMAN] =
				    "Eine Anfrage wurde unterbrochen: \"%s\" kam beim Agenten "
				    "nicht an. Noch einmal senden: faden ask --again --in %s",
		[TEXT_ENGLISH] = "A turn was interrupted: \"%s\" did not reach the agent. To send "
				 "it again: faden ask --again --in %s" },
	[TEXT_NOT_BEGUN] = { [TEXT_GERMAN] = "Eine Anfrage wurde unterbrochen, während sie "
					     "wartete: \"%s\" wurde nicht gesendet. Jetzt "
					     "senden: faden ask --again%s",
		[TEXT_ENGLISH] = "A turn was interrupted while it waited: \"%s\" was not sent. To "
				 "send it: faden ask --again%s" },
	[TEXT_ELSEWHERE] = { [TEXT_GERMAN] = "Weiter mit \"%s\", in %s.",
		[TEXT_ENGLISH] = "Going on with \"%s\", in %s." },
	[TEXT_NAMESAKES] = { [TEXT_GERMAN] = "%s Konversationen heißen so; eine andere davon: "
					     "faden ask --in %s",
		[TEXT_ENGLISH] = "%s conversations have this name; another one of them: faden ask "
				 "--in %s" },
	[TEXT_UNKNOWN_SESSION] = { [TEXT_GERMAN] =
					   "Eine Anfrage wurde unterbrochen: ob \"%s\" beim "
					   "Agenten ankam, ist nicht bekannt. Der Agent hatte "
					   "seine "
					   "Sitzung noch nicht genannt. Nachsehen: faden list",
		[TEXT_ENGLISH] = "A turn was interrupted: whether \"%s\" reached the agent is not "
				 "known. The agent had not named its session yet. Look with: "
				 "faden list" },
	[TEXT_UNKNOWN_NO_RECORD] = { [TEXT_GERMAN] =
					     "Eine Anfrage wurde unterbrochen: ob \"%s\" beim "
					     "Agenten ankam, ist nicht bekannt. Dieser Agent "
					     "zeichnet nichts auf.",
		[TEXT_ENGLISH] = "A turn was interrupted: whether \"%s\" reached the agent is not "
				 "known. This agent keeps no record." },
	[TEXT_UNKNOWN_GONE] = { [TEXT_GERMAN] =
					"Eine Anfrage wurde unterbrochen: ob \"%s\" beim Agenten "
					"ankam, ist nicht bekannt. Die Aufzeichnung der Sitzung "
					"fehlt oder ist nicht lesbar. Nachsehen: faden show %s",
		[TEXT_ENGLISH] = "A turn was interrupted: whether \"%s\" reached the agent is not "
				 "known. The record of the session is gone or cannot be read. Look "
				 "with: faden show %s" },
	[TEXT_UNKNOWN_IN_HAND] = { [TEXT_GERMAN] =
					   "Eine Anfrage wurde unterbrochen: ob \"%s\" beim "
					   "Agenten ankam, ist nicht bekannt. Er hatte sie schon "
					   "angenommen, aber dass sie gestellt wurde, steht nicht "
					   "da. Nachsehen: faden show %s",
		[TEXT_ENGLISH] = "A turn was interrupted: whether \"%s\" reached the agent is not "
				 "known. It had taken it in hand, but it is not recorded that it "
				 "was said. Look with: faden show %s" },
	[TEXT_UNKNOWN_WORDS] = { [TEXT_GERMAN] =
					 "Eine Anfrage wurde unterbrochen: ob \"%s\" beim Agenten "
					 "ankam, ist nicht bekannt. In diesen Worten steht sie "
					 "nicht da, aber seither wurde dort etwas anderes gesagt. "
					 "Nachsehen: faden show %s",
		[TEXT_ENGLISH] = "A turn was interrupted: whether \"%s\" reached the agent is not "
				 "known. It is not there in these words, but something else was "
				 "said there since. Look with: faden show %s" },
	[TEXT_UNKNOWN_COMMAND] = { [TEXT_GERMAN] =
					   "Eine Anfrage wurde unterbrochen: ob \"%s\" beim "
					   "Agenten ankam, ist nicht bekannt. Sie steht nicht da, "
					   "aber ein Befehl hinterlässt nicht immer eine Spur. "
					   "Nachsehen: faden show %s",
		[TEXT_ENGLISH] = "A turn was interrupted: whether \"%s\" reached the agent is not "
				 "known. It is not there, but a command does not always leave a "
				 "trace. Look with: faden show %s" },
	[TEXT_STILL_AT_IT] = { [TEXT_GERMAN] = "Eine Anfrage wurde hier unterbrochen, aber %s "
					       "(Prozess %s) arbeitet noch daran (faden show %s).",
		[TEXT_ENGLISH] = "A turn was interrupted here, but %s (process %s) still works on "
				 "it (faden show %s)." },
	[TEXT_WAITS_FOR_IT] = { [TEXT_GERMAN] =
					"Eine Anfrage wurde hier unterbrochen, aber %s (Prozess "
					"%s) arbeitet noch daran. Es wird darauf gewartet.",
		[TEXT_ENGLISH] = "A turn was interrupted here, but %s (process %s) still works on "
				 "it. Waiting for it." },
	[TEXT_ENDS_IT] = { [TEXT_GERMAN] = "%s (Prozess %s) ist von einer unterbrochenen Anfrage "
					   "übrig und fängt nicht an: er wird beendet.",
		[TEXT_ENGLISH] = "%s (process %s) is left from an interrupted turn and does not "
				 "begin: it is ended." },
	[TEXT_SENT_AGAIN] = { [TEXT_GERMAN] = "Sie wird jetzt noch einmal gesendet.",
		[TEXT_ENGLISH] = "It is sent again now." },
	[TEXT_RESTART] = { [TEXT_GERMAN] = "Alles klar, ich starte jetzt neu.",
		[TEXT_ENGLISH] = "All right, restarting now." },
};

const char *text_get(enum text_id id, enum text_language language)
{
	return texts[id][language];
}

void text_fill(
	struct str *out, enum text_id id, enum text_language language, struct text_words words)
{
	struct sv rest = sv_of(text_get(id, language));
	size_t at;

	for (size_t i = 0; i < ARRAY_LEN(words.word) && words.word[i]; i++) {
		if (!sv_find(rest, SV("%s"), &at))
			break;
		str_add(out, sv_head(rest, at));
		str_adds(out, words.word[i]);
		rest = sv_from(rest, at + 2);
	}
	str_add(out, rest);
}

void text_ago(struct str *out, enum text_language language, int64_t age_ms)
{
	char english[CLOCK_TEXT_MAX];
	long long min = age_ms / 60000, hours = min / 60, days = hours / 24;

	if (language == TEXT_ENGLISH) {
		clock_format_ago(age_ms, english);
		str_adds(out, english);
	} else if (min < 1) {
		str_adds(out, "gerade eben");
	} else if (hours < 1) {
		str_addf(out, "vor %lld min", min);
	} else if (days < 2) {
		str_addf(out, "vor %lld h", hours);
	} else {
		str_addf(out, "vor %lld Tagen", days);
	}
}

void text_undone(struct str *out, enum text_language language, const struct conv *c, bool went_on)
{
	AUTO_STR ago = STR_INIT;

	text_ago(&ago, language, c->age_ms);
	text_fill(out, went_on ? TEXT_UNDONE_SAME : TEXT_UNDONE, language,
		TEXT_WORDS(conv_label(c), ago.buf));
}
