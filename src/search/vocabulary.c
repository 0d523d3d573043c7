#include "search/vocabulary.h"

#include "base/attr.h"

/* clang-format off */
static const char weak_words[] =
	/* English */
	"a|an|the|is|are|was|were|be|been|being|am|do|does|did|doing|done|what|when|where|who|whom|whose|"
	"which|why|how|of|in|on|at|to|for|and|or|with|by|from|as|it|its|this|that|these|those|has|have|"
	"had|having|will|would|could|should|can|may|might|shall|must|i|you|he|she|we|they|me|him|her|us|"
	"them|my|your|his|their|our|s|t|d|ll|re|ve|m|not|no|if|then|than|there|here|about|into|so|but|"
	"also|just|any|some|"
	/* German */
	"der|die|das|den|dem|des|ein|eine|einen|einem|einer|eines|ist|sind|war|waren|sein|bin|bist|wird|"
	"werden|wurde|wurden|hat|haben|habe|hast|hatte|hatten|kann|können|konnte|soll|sollen|sollte|"
	"muss|müssen|was|wie|wo|wann|wer|wem|wen|warum|wieso|weshalb|welche|welcher|welches|welchen|"
	"welchem|womit|wofür|wozu|im|ins|am|an|auf|aus|bei|beim|mit|nach|von|vom|zu|zum|zur|für|durch|"
	"um|über|vor|und|oder|aber|als|wenn|ob|dass|weil|ich|du|er|sie|es|wir|ihr|mich|mir|uns|dich|"
	"dir|ihn|ihm|ihnen|mein|meine|unser|unsere|nicht|kein|keine|da|dort|hier|dann|denn|doch|mal|"
	"noch|auch|sich|man|diese|dieser|dieses|diesen|diesem";

/* Beside a date they ask for what was done then. */
static const char asking_words[] =
	/* English */
	"happen|happens|happened|happening|work|worked|working|go|going|went|show|list|tell|give|find|see|"
	"please|all|everything|anything|something|session|sessions|conversation|conversations|chat|chats|"
	"talk|talks|talked|talking|discuss|discussed|changed|made|early|late|mid|during|around|back|"
	"morning|noon|afternoon|evening|night|day|week|month|year|"
	/* German */
	"woran|worum|worüber|worueber|wovon|gemacht|machen|machten|getan|tun|taten|gearbeitet|arbeiten|"
	"arbeiteten|beschäftigt|beschaeftigt|erledigt|geschafft|passiert|passierte|geschehen|geschah|"
	"gelaufen|lief|los|ging|gab|gibt|geändert|geaendert|besprochen|gesprochen|geredet|zeig|zeige|"
	"zeigen|liste|nenne|finde|such|suche|bitte|alle|alles|etwas|sitzung|sitzungen|gespräch|gespräche|"
	"gesprächen|gespraech|gespraeche|gespraechen|unterhaltung|unterhaltungen|chats|eigentlich|so|"
	"anfang|mitte|ende|während|waehrend|früh|frueh|morgen|vormittag|mittag|nachmittag|abend|nacht|"
	"tag|woche|monat|jahr|hab|habe|haben|hatte|hatten|hast|sprach|sprachen|sprechen|redeten|reden|"
	"machte|redete|arbeitete";

/* Of programs and of talk about them. */
static const char common_words[] =
	"all|now|use|used|using|up|out|only|each|other|more|one|new|first|last|same|after|before|because|"
	"let|need|make|sure|get|set|add|added|change|changed|fix|run|running|see|look|like|check|work|"
	"works|still|want|please|"
	"else|while|return|returns|int|char|const|static|void|bool|true|false|null|none|self|def|class|"
	"function|import|export|type|string|struct|public|private|var|async|await|include|define|"
	"error|errors|test|tests|file|files|line|lines|code|value|values|name|names|path|data|key|list|"
	"size|index|id|src|lib|usr|bin|home|tmp|etc|http|https|com|org|git|commit|main|json|js|ts|py|sh|"
	"md|txt|log|"
	"nur|jetzt|alle|neue|neuen|immer|schon|wieder|mehr|datei|zeile|fehler";

/* Folded: the sharp s is ss. */
static const char *const irregular[] = {
	/* English */
	"become|becomes|became", "begin|begins|began|begun", "bend|bends|bent", "bite|bites|bit|bitten",
	"bleed|bled", "blow|blows|blew|blown", "break|breaks|broke|broken", "bring|brings|brought",
	"build|builds|built", "burn|burnt", "buy|buys|bought", "catch|catches|caught",
	"choose|chooses|chose|chosen", "come|comes|came", "deal|deals|dealt", "dig|digs|dug",
	"draw|draws|drew|drawn", "dream|dreamt", "drink|drinks|drank|drunk", "drive|drives|drove|driven",
	"eat|eats|ate|eaten", "fall|falls|fell|fallen", "feed|feeds|fed", "feel|feels|felt",
	"fight|fights|fought", "find|finds|found", "fly|flies|flew|flown",
	"forget|forgets|forgot|forgotten", "forgive|forgave|forgiven", "freeze|freezes|froze|frozen",
	"get|gets|got|gotten", "give|gives|gave|given", "go|goes|went|gone", "grow|grows|grew|grown",
	"hang|hangs|hung", "hear|hears|heard", "hide|hides|hid|hidden", "hold|holds|held",
	"keep|keeps|kept", "know|knows|knew|known", "lead|leads|led", "learn|learnt", "leave|leaves|left",
	"lend|lends|lent", "light|lit", "lose|loses|lost", "make|makes|made", "mean|means|meant",
	"meet|meets|met", "pay|pays|paid", "rebuild|rebuilt", "redo|redid|redone", "rerun|reran",
	"rewrite|rewrites|rewrote|rewritten", "ride|rides|rode|ridden", "ring|rang|rung",
	"rise|rises|rose|risen", "run|runs|ran", "say|says|said", "see|sees|saw|seen", "seek|sought",
	"sell|sells|sold", "send|sends|sent", "shake|shook|shaken", "shine|shone", "shoot|shot",
	"show|shows|shown", "sing|sang|sung", "sink|sank|sunk", "sit|sits|sat", "sleep|sleeps|slept",
	"speak|speaks|spoke|spoken", "spend|spends|spent", "stand|stands|stood", "steal|stole|stolen",
	"stick|sticks|stuck", "strike|struck", "swim|swam|swum", "take|takes|took|taken",
	"teach|teaches|taught", "tear|tore|torn", "tell|tells|told", "think|thinks|thought",
	"throw|throws|threw|thrown", "understand|understands|understood", "undo|undid|undone",
	"wake|woke|woken", "wear|wears|wore|worn", "win|wins|won", "write|writes|wrote|written",
	"child|children", "person|people", "man|men", "woman|women", "foot|feet", "tooth|teeth",
	"mouse|mice", "life|lives", "wife|wives", "index|indices|indexes",
	"vertex|vertices", "matrix|matrices", "good|better|best", "bad|worse|worst",
	/* German */
	"abbrechen|abgebrochen|brach", "beginnen|beginnt|begann|begonnen", "bleiben|bleibt|blieb|geblieben",
	"brechen|bricht|gebrochen", "bringen|bringt|brachte|gebracht", "denken|denkt|dachte|gedacht",
	"entscheiden|entscheidet|entschied|entschieden", "fahren|fährt|fuhr|gefahren",
	"fallen|fällt|fiel|gefallen", "finden|findet|fand|fanden|gefunden", "geben|gibt|gab|gegeben",
	"gehen|geht|ging|gegangen", "halten|hält|hielt|gehalten", "heissen|heisst|hiess|geheissen",
	"kommen|kommt|kam|gekommen", "laden|lädt|lud|geladen", "lassen|lässt|liess|gelassen",
	"laufen|läuft|lief|liefen|gelaufen", "lesen|liest|las|gelesen", "liegen|liegt|lag|gelegen",
	"löschen|löscht|gelöscht", "nehmen|nimmt|nahm|genommen", "rufen|ruft|rief|gerufen",
	"schliessen|schliesst|schloss|geschlossen", "schlagen|schlägt|schlug|geschlagen",
	"schreiben|schreibt|schrieb|geschrieben", "sehen|sieht|sah|gesehen", "senden|sendet|gesendet|gesandt",
	"setzen|setzt|gesetzt", "sprechen|spricht|sprach|gesprochen", "stehen|steht|stand|gestanden",
	"stürzen|stürzt|stürzte|gestürzt|abgestürzt|abstürzen", "tragen|trägt|trug|getragen",
	"treffen|trifft|traf|getroffen", "treten|tritt|trat|getreten", "tun|tut|tat|getan",
	"verlieren|verliert|verlor|verloren", "vergessen|vergisst|vergass", "werfen|wirft|warf|geworfen",
	"wissen|weiss|wusste|gewusst", "ziehen|zieht|zog|gezogen",
};
/* clang-format on */

bool vocabulary_weak(struct sv word)
{
	return sv_among(word, weak_words);
}

bool vocabulary_asking(struct sv word)
{
	return sv_among(word, weak_words) || sv_among(word, asking_words);
}

bool vocabulary_common(struct sv word)
{
	return sv_among(word, weak_words) || sv_among(word, common_words);
}

void vocabulary_each_common(void (*fn)(void *data, struct sv word), void *data)
{
	const struct sv lists[] = { sv_of(weak_words), sv_of(common_words) };

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		struct sv rest = lists[i], word;
		while (sv_split(&rest, '|', &word))
			fn(data, word);
	}
}

void vocabulary_forms(struct sv word, struct strv *out)
{
	for (size_t i = 0; i < ARRAY_LEN(irregular); i++) {
		struct sv row = sv_of(irregular[i]), form;
		if (!sv_among(word, irregular[i]))
			continue;
		while (sv_split(&row, '|', &form))
			if (!sv_eq(form, word))
				strv_addsv(out, form);
	}
}
