/*
 * How many tokens, and how sure that is.
 *
 * The agents record what each call to the model took in. So the size of the context at a call is
 * exact; what two calls differ by is what was added between them; and from those differences the
 * bytes a token of this session takes are fitted, per model, for everything else. Where nothing was
 * recorded, a ratio per model generation is assumed. A figure always says which of these it is.
 *
 * The unit of bytes is the text as it stands in the file (escaped), the same for fitting and use.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "transcript/transcript.h"

enum sure {
	SURE_EXACT, /* the agent recorded it */
	SURE_DIFFERENCED, /* between two recorded figures */
	SURE_FITTED, /* by this session's own bytes a token */
	SURE_ASSUMED, /* by what is usual for the model */
};
const char *sure_name(enum sure sure); /* "exact", "differenced", "fitted", "assumed" */

struct figure {
	int64_t tokens;
	enum sure sure;
};

/* Bytes a token for one model. */
struct token_ratio {
	double bytes;
	enum sure sure; /* SURE_FITTED or SURE_ASSUMED */
	size_t samples; /* differences it was fitted from */
};
/* Whether so many bytes of text can be so many tokens. */
bool tokens_plausible(uint64_t bytes, int64_t tokens);
/* What is usual for a model by its name; "" is fine. */
double tokens_assumed_ratio(struct sv model);
static inline struct figure tokens_of(const struct token_ratio *ratio, uint64_t bytes)
{
	return (struct figure){ (int64_t)((double)bytes / ratio->bytes), ratio->sure };
}

enum {
	TOKEN_MODELS_MAX = 16,
	TOKEN_MODEL_NAME = 64,
	TOKENS_IMAGE = 1500, /* about what a picture of a screen takes; bytes tell nothing */
};

struct token_model {
	char name[TOKEN_MODEL_NAME];
	uint64_t bytes; /* of accepted differences, and their tokens */
	int64_t tokens;
	size_t samples;
};

/*
 * Fed with what requests carry, in the order of the file: text as it comes, a call when the model
 * has answered, a break where the history was compacted or begins anew. Records of one answer
 * repeat its usage; they count once.
 */
struct tokens {
	struct token_model models[TOKEN_MODELS_MAX];
	size_t n_models;
	size_t current; /* of the last call */
	uint64_t last_message; /* hash of its id; 0: none */
	int64_t context; /* at the last call: what went in; 0: none since the break */
	int64_t output; /* what came out of it, the most that was recorded */
	uint64_t answer; /* bytes of the answer to the last call */
	uint64_t tail; /* bytes since that answer */
	uint64_t next_answer, next_tail; /* of one whose usage comes after its text, or even after
					  * the results of its calls (Codex) */
	uint64_t bytes; /* all bytes since the break */
	int64_t left; /* what the break left of the context, as the agent said; 0: not told */
	int64_t first; /* context of the first call of all, and what texts it held; 0: none */
	uint64_t first_bytes;
	uint64_t first_images;
	uint64_t images; /* since the break */
	int64_t least; /* the smallest context recorded; 0: none */
	int64_t most; /* the largest context recorded since the model changed */
	bool told; /* `context` is what tokens_known() said, and how sure that is */
	enum sure told_sure;
	double told_ratio; /* bytes a token, as it said; 0: not */
	int64_t told_base;
	bool partial; /* what it said is in the context, but not among `bytes` */
	bool odd; /* something not measured in bytes lies in between: no difference is taken */
};
#define TOKENS_INIT           \
	{                     \
		.n_models = 0 \
	}

enum token_text {
	TOKEN_REST, /* words of the user, results of tools, notices */
	TOKEN_ANSWER, /* of the call given before */
	TOKEN_ANSWER_EARLY, /* of the call given next */
};
void tokens_text(struct tokens *t, enum token_text what, uint64_t bytes);
/* One image or the like, whose tokens have nothing to do with its bytes. */
void tokens_odd(struct tokens *t);
/* An answer's usage; all 0 is none, and only the model counts. model may be empty: as before. */
void tokens_call(
	struct tokens *t, struct sv model, struct sv message_id, const struct usage *usage);
void tokens_break(struct tokens *t);
/* A break that says how much it left, with what it kept of before; 0: it does not say. */
void tokens_compacted(struct tokens *t, int64_t left);
/* The bytes of all texts that a resume would send: they count where no call was made since the
 * break, which keeps texts from before it. */
void tokens_sent(struct tokens *t, uint64_t bytes);
/* What is known from elsewhere; 0: not. */
struct tokens_told {
	struct figure context;
	double bytes_per_token; /* counts where no own differences tell */
	int64_t base, most; /* as tokens_base() and tokens.most */
};
/* The context up to here, where the file does not record it any more: until the next call, it
 * counts as one, but is fitted at best. */
void tokens_known(struct tokens *t, const struct tokens_told *told);
/* The model of calls to come, where the file tells it apart from them. */
void tokens_set_model(struct tokens *t, struct sv model);
/* One item of transcript_next(): whichever of the above it is. Side chains are skipped. */
void tokens_item(struct tokens *t, const struct transcript_format *format, const struct item *item);

/* The agent's usage object; Codex: one of those in "info". */
struct usage tokens_usage(const struct transcript_format *format, struct jval usage);

struct token_ratio tokens_ratio(const struct tokens *t); /* for the current model */
/* What the first call took beside the texts and images before it: the agent's own prompt and tools.
 * 0: not known, which it is only where later calls tell bytes a token. */
int64_t tokens_base(const struct tokens *t);
/* Whether so many tokens of texts can be in the context beside that. */
bool tokens_have_room(const struct tokens *t, int64_t tokens);
/*
 * The ratio for texts of so many bytes that a resume would send. The agents themselves leave out
 * old results now and then, without a trace in the file: then the context recorded is less than
 * the texts would take, each counts for less, and which were left out is a guess.
 */
struct token_ratio tokens_sent_ratio(const struct tokens *t, uint64_t bytes);
/* What goes from the context when `gone` of the `sent` bytes and so many images do. */
struct figure tokens_saved(const struct tokens *t, uint64_t gone, uint64_t sent, int64_t images);
/* The context a next call would have: exact when nothing came after the last call, else with the
 * rest fitted or assumed; without any call all of it is. */
struct figure tokens_context(const struct tokens *t);
/* The model of the last call, "" when there was none. */
const char *tokens_model(const struct tokens *t);
/* The model's window where its name tells, else 0. */
int64_t tokens_window(struct sv model);
