#include "route/wordlist.h"

/* clang-format off */
const struct word_list words_en = {
	.words = {
		[LANG_ART] = "the",
		[LANG_INDEF] = "a|an|another|some|any|each|every|no|all|all the|all of the|both|more|several|many|"
			"few",
		[LANG_PREP] = "in|on|at|by|for|with|without|from|into|onto|to|of|about|over|under|between|through|"
			"during|before|after|behind|against|within|across|around|per|via|as|like|than|out of|"
			"because of|instead of|rather than|except|besides|near|above|below|inside|outside|"
			"towards|off|upon|next to|close to",
		[LANG_CONJ] = "that|because|since|when|whenever|while|if|unless|until|so that|so|which|who|whose|"
			"where|but|although|though|as soon as|before it|after it|whether|even if",
		[LANG_AND] = "and|or|and then|or else|plus",
		[LANG_PRON] = "it|them|they|its|their|itself|themselves|him|her|he|she|theirs|'em",
		[LANG_DEM] = "this|that|these|those",
		[LANG_THERE] = "there|in there|over there|therein|up there|down there",
		[LANG_SELF] = "i|me|my|mine|we|us|our|ours|i'm|im|myself|let us|lets|let me",
		[LANG_YOU] = "you|your|yours|yourself",
		[LANG_AUX] = "is|are|was|were|be|been|being|am|do|does|did|have|has|had|can|could|will|would|"
			"should|shall|may|might|must|dont|doesnt|didnt|isnt|arent|wasnt|cant|couldnt|wont|"
			"wouldnt|shouldnt|havent|hasnt|cannot|need to|needs to|have to|has to|want to|gets|"
			"got",
		[LANG_WH] = "what|which|how|why|when|where|who|whose|how many|how much|how long|how often|how far|how big|how fast|how large|how old|how deep|how high|"
			"how do i|how can i|how do we|what is|what are",
		[LANG_FILL] = "hey there|hi there|hello there|good morning|good evening|good afternoon|ah|ahh|aah|ahhh|ooh|ohh|oh|aha|huh|phew|oops|whoops|wow|yay|uh|um|uhm|er|erm|hm|hmm|well|please|pls|just|like|hey|hi|hello|you know|i mean|"
			"kind of|sort of|basically|can you|could you|would you|will you|can we|could we|"
			"good morning|good evening|i want you to|i need you to|i'd like you to|let's|maybe|"
			"kindly|simply|go ahead and|would you mind|jarvis",
		[LANG_FUNC] = "not|very|really|only|even|also|too|there is|there are|is there|are there|such|same|"
			"own|most|much|little|else|ever|never|always|often|sometimes|once|already|yet|almost|"
			"about|up|down|out|away|back|here|over here|someone|something|everything|nothing|"
			"anything|anyone|everyone|nobody|sure|way|ways|lot|lots|bit|thing|things|stuff|first|"
			"then|now|soon|together|each other|directly|properly|correctly|automatically|enough|"
			"perhaps|probably|anyway|instead|everywhere|somehow|somewhere|anywhere|at all|"
			"by default|as well|a bit|a little",
		[LANG_ASSENT] = "sounds fine|sounds right|sounds great|sounds reasonable|sounds sensible|looks reasonable|"
			"looks okay|looks ok|looks sensible|is fine|is good|is great|is okay|is ok|is perfect|"
			"would be nice|would be good|would be great|would be fine|would be better|yes|yeah|yep|yup|ok|okay|k|sure|of course|fine|good|great|nice|perfect|cool|"
			"excellent|awesome|alright|all right|right|correct|exactly|agreed|thanks|thank you|"
			"thx|sounds good|looks good|looks fine|looks right|looks great|go ahead|do it|"
			"do that|go for it|please do|make it so|works|works for me|that works|not bad|"
			"i like it|i like that|love it|makes sense|absolutely|definitely|got it|done|lgtm|"
			"ship it|that's it|that's right|good job|well done|approved|yes please|good idea|"
			"not yet",
		[LANG_DENY] = "no|nope|nah|no no|not that|no not that|wrong|that's wrong|not really|no wait|don't|"
			"never mind|nevermind",
		[LANG_START] = "maybe the|maybe it's|maybe its|maybe that|perhaps the|probably the|sounds like|i bet|"
			"my guess is|could be the|also|and|and also|oh and|oh|oh also|plus|additionally|in addition|furthermore|"
			"moreover|besides|besides that|on top of that|apart from that|further|actually|wait|"
			"hold on|hang on|hmm|hm|but|or|or rather|one more thing|another thing|one more|"
			"and one more thing|one last thing|last thing|ah|ah and|again|once more|once again|"
			"likewise|similarly|same|the same|ditto|instead|rather|on second thought|"
			"on second thoughts|sorry|correction|i meant|no i meant|forgot to say|i forgot|"
			"what about|how about|and what about|what if|why not|how come|still|except|yet|"
			"speaking of that|with that|for that|in that case|otherwise|if so|if not|because|"
			"that said|in other words|even better|better yet|too|nor|only",
		[LANG_STEP] = "carry on with|go on with|continue with|let's continue with|keep going with|proceed with|move on to|now|then|next|after that|afterwards|and now|and then|then also|now also|now please|"
			"from there|finally|as a next step|next step|right now|first",
		[LANG_ANYWHERE] = "the whole thing|the whole lot|while you're at it|while you are at it|while at it|while we're at it|keep going|"
			"carry on|go on|continue|proceed|keep at it|resume|same thing|the same for|same for|"
			"the same thing|do the same|one more thing|as before|like before|like that|"
			"like last time|same as before|as discussed|as you said|you said|you mentioned|"
			"you suggested|in the same|the same way|same way|same here|pick up where we left off|"
			"where were we|where we left off|the other way|the other way round|"
			"the other way around|one more|once more|try again|do it again|try it again|"
			"do that again|run it again|retry|redo|go back|take it back|take that back|"
			"put it back|change it back|never mind|follow up|following up|on that note|for that",
		[LANG_TOO] = "too|as well|also|instead|instead of that|rather|likewise|similarly|afterwards|"
			"additionally|more of|further|as well as that",
		[LANG_STILL] = "still|again|any more|anymore|no longer|any longer|yet|by now|already|back|once more|"
			"over and over|keeps|still not|is back|are back",
		[LANG_RETURN] = "back to|going back to|go back to|coming back to|come back to|return to|returning to|"
			"let's return to|let's go back to|let's get back to|get back to|getting back to|"
			"regarding|concerning|about the|about our|about that|as for|with regard to|"
			"with respect to|on the subject of|on the topic of|speaking of|do you remember|do you remember the|remember|remember the|"
			"where were we with|where are we with|where did we leave off with|where did we stop with|where did we stop|"
			"how far did we come with|what became of|"
			"how far did we get with|how far are we with|how far along is|pick up|pick up on|"
			"let's pick up|picking up|continue with|continue on|continue working on|"
			"let's continue with|carry on with|go on with|keep working on|resume work on|resume|"
			"let's resume|follow up on|following up on|the one about|the conversation about|"
			"the thread about|the session about|the discussion about|earlier we|what about the|"
			"any news on|any progress on|how is it going with|how's it going with|"
			"what's the status of|what is the status of|status of|what happened to|"
			"what happened with|once more about|again about|switch back to|switching back to|"
			"reopen|revisit|let's revisit|work on the|more on",
		[LANG_FRESH] = "park this|park that|park all this|park it|park that for now|put that aside|put this aside|leave that aside|unrelated one|an unrelated one|something unrelated|new topic|new conversation|new subject|new task|new thread|new chat|new session|"
			"what time is it|what's the time|new question|new issue|new thing|different topic|different subject|"
			"different question|different task|different thing|another topic|another subject|"
			"another question|another task|another matter|other topic|unrelated|"
			"unrelated question|completely unrelated|totally unrelated|on another note|"
			"on a different note|on an unrelated note|something else|something different|"
			"something completely different|something entirely different|something new|"
			"start a new conversation|start a new topic|start a new thread|start a new chat|"
			"start a new session|start a fresh conversation|start fresh|start over|"
			"open a new conversation|begin a new conversation|fresh start|fresh conversation|"
			"change of topic|change of subject|changing the subject|changing topics|"
			"let's change the subject|let's switch topics|switching topics|switch topics|"
			"topic change|subject change|next thing|next topic|next task|next question|next up|"
			"moving on|let's move on|forget that|forget about that|separate topic|"
			"separate question|separate issue|separate task|side question|quick question|"
			"quick side question|random question|now for something else|"
			"now something completely different|now to something else|off topic|"
			"in a new conversation|in a new chat|in a new session",
		[LANG_ASIDE] = "by the way|btw|incidentally|that reminds me|out of curiosity|just curious|"
			"just wondering|i wonder|i was wondering|question|one question",
		[LANG_UNDO] = "undo|revert|roll back|rollback|take back|restore|reverse|discard|scrap",
		[LANG_DONE] = "did you|have you|you did|you've|you changed|you made|you wrote|you added|you found|"
			"you just|your change|your changes|your fix|your last|your answer|your plan|"
			"your suggestion|your version|your solution|your idea|your code|your patch|"
			"your result|do you think|are you sure|are you done|did that|did this|has that|"
			"have they|did they|did it|is it done|is it ready|is that all|what did you|"
			"what have you|why did you|where did you|how did you|did we|we just|just did|"
			"just made|just wrote|just added|changed|happened|broke|failed|which ones|you broke|"
			"you forgot|you missed|you removed|you deleted|you put|could that be it|can that be it|could that be|"
			"is that it|could that be why|is that why|is that the reason",
		[LANG_EXPLETIVE] = "is it possible|it is possible|it's possible|would it be possible|would it be|"
			"is it worth|is it worthwhile|does it make sense|it would be|it'd be|it is time|"
			"how long does it take|how much does it cost|it takes|what time is it|is it true|"
			"it seems|it looks like|it turns out|make it possible|make it easy|make it easier|"
			"it's easy|is it hard|is it safe|is it ok|is it okay|it should be possible|"
			"it must be possible|it's time|it is raining|it depends|find it|is it allowed|"
			"is it better|is it necessary|is it bad|is it good|it is important|it's important|"
			"that is why|that's why|so that|in order that|should it be|how is it that|it matters",
		[LANG_VERB] = "came|went|gone|took|taken|gave|given|kept|lost|ran|saw|sent|shown|built|broken|wrote|written|began|brought|chose|chosen|drew|drawn|fell|grew|held|led|meant|spent|stuck|threw|thrown|woke|add|fix|write|make|create|change|update|remove|delete|move|show|check|run|test|use|"
			"set|set up|put|give|get|let|find|find out|look|look at|look into|explain|tell|open|"
			"close|start|stop|try|turn|turn on|turn off|switch|replace|generate|implement|"
			"rewrite|clean|clean up|improve|optimize|speed up|configure|commit|push|pull|"
			"document|describe|list|read|load|save|store|send|copy|paste|display|hide|enable|"
			"disable|allow|prevent|handle|support|include|exclude|join|verify|debug|investigate|"
			"figure out|review|design|plan|draft|think|think about|consider|suggest|propose|"
			"recommend|compare|rework|adjust|adapt|extend|expand|shorten|simplify|finish|"
			"complete|work|works|happen|happens|need|needs|want|wants|keep|keeps|take|takes|go|"
			"come|comes|bring|do|help|see|watch|wrap|wire|hook|mention|call|fetch|mark|center|"
			"require|ensure|make sure|apply|reuse|drop|skip|ignore|insert|append|prepare|provide|"
			"return|returns|throws|fails|fail|crashes|crash|breaks|break|shows|looks|seems|"
			"appears|starts|stops|goes|gets|gives|makes|runs|has|uses|should|repair|resolve|"
			"solve|address|shrink|style|color|colour|paint|cover|pass|fit|hold|lets|letting|"
			"using|adding|making|running|testing|doing|going|getting|trying|looking|working|"
			"being|having|started|rerun|recheck|double check|answer|respond|reply|leave|bump up|"
			"set it|say|says|said|kick off|go with|stick to|stick with|wait for|get rid of|know|"
			"think of",
		[LANG_DEED] = "build|rename|sort|print|convert|refactor|install|deploy|merge|release|publish|draw|"
			"plot|render|parse|validate|sketch|translate|summarize|export|import|upgrade|"
			"downgrade|bump|log|download|upload|archive|back up|scan|search|filter|highlight|"
			"align|pin|lock|unlock|restart|trim|resize|compress|transcode|normalize|rotate|"
			"encrypt|decrypt|migrate|index|sync|synchronize|backup|cache|benchmark|profile|"
			"calculate|calibrate|schedule|compile|crawl|scrape|stream|record|train|backtest|"
			"simulate|lint|minify|bundle|cluster|tokenize|paginate|autosave|reindex|re-index|"
			"reconnect|reload|redirect|scale|format|extract|split|connect|count",
		[LANG_ADJUST] = "add|align|append|assume|avoid|bold|cap|capitalise|capitalize|center|centre|change|"
			"color|colour|crop|darken|decrease|default|disallow|double|drop|emphasise|emphasize|"
			"enlarge|exclude|flip|group|halve|hide|highlight|ignore|include|increase|indent|insert|invert|"
			"italicise|italicize|keep|label|leave|leave out|lighten|limit|lower|mention|mirror|move|"
			"mute|narrow|number|omit|order|paint|pick|place|prefer|prefix|prepend|put|quote|raise|"
			"reduce|rephrase|replace|restrict|reverse|reword|round|set|shift|shorten|shrink|skip|sort|"
			"soften|start with|begin with|start off with|swap|tighten|tone down|treat|truncate|try|underline|use|vary|widen",
		[LANG_NOUN] = "app|application|program|project|page|pages|screen|view|window|dialog|form|field|"
			"fields|button|buttons|link|links|menu|list|table|row|rows|column|columns|cell|text|"
			"title|label|icon|image|file|files|folder|directory|path|line|lines|class|classes|"
			"function|functions|method|methods|module|modules|variable|constant|parameter|"
			"argument|value|values|key|type|object|string|number|script|command|commands|option|"
			"options|setting|settings|flag|flags|test|tests|unit test|unit tests|testing|doc|"
			"docs|documentation|readme|comment|comments|section|paragraph|sentence|word|words|"
			"message|messages|error|errors|warning|warnings|bug|bugs|issue|issues|problem|"
			"problems|crash|failure|failures|feature|features|support|server|client|service|user|"
			"users|data|database|system|version|versions|name|names|example|examples|step|steps|"
			"part|parts|piece|side|top|bottom|left|right|end|beginning|middle|size|color|colour|"
			"colors|colours|place|position|order|kind|sort|case|cases|situation|time|times|day|"
			"days|week|month|year|hour|hours|minute|minutes|second|seconds|code|output|input|"
			"result|results|report|overview|summary|note|notes|item|items|entry|entries|element|"
			"difference|reason|cause|letters|letter|character|characters|percent|people|person|"
			"phone|tool|tools|way|default|request|requests|response|call|calls|job|task|tasks|"
			"tab|box|bar|tag|article|post|api|url|web|site|website|homepage|home page|start page",
		[LANG_RESULT] = "options|alternatives|log|logs|bug|error|cause|reason|fix|change|changes|result|results|output|code|plan|draft|"
			"answer|explanation|solution|suggestion|suggestions|idea|approach|rest|others|diff|"
			"patch|commit|findings|numbers|failures|failure|problem|issue|variant|version|option|"
			"second option|first option|proposal|design|implementation|example|list|report|tests|"
			"test|response|message|summary|same file|steps|text|wording|loop",
		[LANG_ADJ] = "maximum|minimum|maximal|minimal|new|old|big|small|large|little|huge|tiny|long|short|high|low|fast|slow|quick|"
			"quickly|slowly|easy|hard|simple|simpler|good|bad|better|best|worse|nice|ugly|right|"
			"wrong|correct|broken|empty|full|whole|entire|complete|same|different|other|next|"
			"last|previous|current|main|red|green|blue|yellow|black|white|grey|gray|orange|"
			"purple|pink|dark|light|bold|italic|bright|visible|hidden|public|private|local|"
			"global|missing|unused|real|possible|available|ready|early|late|single|double|twice|"
			"daily|weekly|monthly|alphabetical|alphabetically|mandatory|optional|required|own|"
			"various|exact|exactly|proper|automatic|manual|nullable|random|special|general|"
			"common|similar|important|necessary|useful|useless|strange|weird|funny|nicely|"
			"cleanly|completely|fully|totally|entirely|immediately|finally|recently|currently|"
			"often|square|round",
		[LANG_COMP] = "shorter|longer|bigger|smaller|larger|faster|slower|quicker|darker|lighter|brighter|"
			"louder|quieter|higher|lower|wider|narrower|thinner|thicker|simpler|easier|better|"
			"nicer|cleaner|stricter|looser|softer|harder|safer|cheaper|earlier|later|closer|less|"
			"friendlier|politer|clearer|prettier|bolder|deeper|flatter|tighter|fewer|"
			"more concise|more detailed|more detail|more verbose|less verbose|more precise|"
			"more polite|more formal|less formal|more readable|more|too long|too short|too big|"
			"too small|too slow|too dark|too bright|too much|too verbose|too complicated|"
			"in detail|in short|in more detail|a bit more|a bit less|slightly",
		[LANG_NUM] = "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|"
			"fifty|sixty|hundred|thousand|million|zero|half|dozen|first|second|third|fourth|"
			"fifth|once|twice|kilobyte|megabyte|gigabyte|pixels|px|ms|kb|mb|gb|percent|times",
		[LANG_TIME] = "today|tomorrow|yesterday|tonight|morning|evening|afternoon|night|noon|midnight|"
			"monday|tuesday|wednesday|thursday|friday|saturday|sunday|sundays|saturdays|mondays|"
			"weekend|weekends|january|february|march|april|june|july|august|september|october|"
			"november|december|am|pm|o'clock|week|month|year|time|minute|minutes|moment|"
			"this morning|this week|this month|this year|this time|this evening|this afternoon|"
			"every day|every night|every evening|every week|over night|overnight|these days|"
			"last week|last month|last year|last night|next week|next month|at night|"
			"at the moment|right now|all day|daylight",
		[LANG_PAST] = "from yesterday|from earlier|from before|from the other day|the other day|"
			"from last week|from this morning|from last time|earlier today|yesterday's|"
			"we talked about|we discussed|we worked on|you built|you worked on|i asked about|"
			"we had|we started|you started|you made|you wrote|we were working on|"
			"from a while ago|a while ago|last time|previously",
		[LANG_WAIT] = "when that is done|when that's done|when it is done|when it's done|once that is done|"
			"once that's done|once it is done|once it's done|after that is done|when it finishes|"
			"when that finishes|once it finishes|once that finishes|when you're done|"
			"when you are done|once you're done|when it is finished|when that is finished|"
			"as soon as that is done|as soon as it's done|when this is done|once this is done",
		[LANG_HERE] = "cpu|gpu|device|host|phone|tablet|terminal|shell|browser|desktop|os|kernel|country|season|project|repo|repository|directory|folder|machine|computer|laptop|workspace|codebase|"
			"branch|house|room|mac|pc|system|morning|week|month|year|time|way|evening|afternoon|"
			"sort|kind|day|days",
		[LANG_ONE] = "one|ones|the first one|the second one|the third one|the last one|the previous one|"
			"the other|the others|another|the first|the second|the third|the last|the two|"
			"the three|either|neither|none|none of|all of|both of|each of|most of|some of|both|"
			"half of|option a|option b|option c|option one|option two|number one|number two|"
			"the same|everything|all|the lot|nothing|the rest|the remaining|the other one|"
			"the former|the latter|another one|the one before",
	},
};
