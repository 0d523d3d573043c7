/*
 * What one agent's adapter gives to the rest of this room. Private to the room.
 *
 * An adapter sees one record at a time, scanned and lying in memory until the call returns.
 */
#pragma once

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "os/tree.h"
#include "transcript/chain.h"
#include "transcript/home.h"
#include "transcript/line.h"
#include "transcript/transcript.h"
#include "json/jsonl.h"
#include "json/scan.h"

/* A scan under way. */
struct summary {
	struct session_info *info;
	struct str usage; /* raw, of the latest answer */
	struct str model, branch, cwd; /* raw, the latest: most lines repeat them */
	struct str tmp;
};

/* Items of one record in the making; its slices point into the record. */
struct item_list {
	VEC(struct item) items;
	size_t at; /* next to hand out */
	bool expand;
	struct str tmp;
};

/* What the live chain needs of one record. Hashes stand for ids; 0 is none. */
enum {
	LINK_SPOKEN = CHAIN_SPOKEN,
	LINK_SENT = CHAIN_SENT,
	LINK_BOUNDARY = CHAIN_BOUNDARY,
	LINK_CALL = 1u << 3,
	LINK_RESULT = 1u << 4,
	LINK_PROMPT = CHAIN_PROMPT,
	LINK_ASSISTANT = CHAIN_ASSISTANT,
	LINK_SIDE = CHAIN_SIDE, /* part of the chain only where a parent names it */
};
/* Files have millions of records: 32 bytes each. */
struct link {
	uint64_t id, parent;
	union {
		uint64_t message; /* Claude: hash of the message id */
		uint64_t rollback; /* Codex: turns taken back here */
	};
	uint32_t size; /* bytes of the line; 0 for later records of a glued line */
	uint32_t flags;
};
struct link_tool {
	uint64_t tool; /* hash of the tool id */
	uint32_t record;
	bool result;
};
struct link_kept {
	uint64_t id;
	uint32_t record; /* of the compaction that keeps it */
};
struct links {
	VEC(struct link) v;
	VEC(struct link_tool) tools;
	VEC(struct link_kept) kept;
	uint64_t noted; /* Claude: the leaf by the last note about it */
	char *base_id;
	uint64_t base_offset;
};

/* Where one agent keeps its sessions below its home. */
struct transcript_places {
	const char *tops[3]; /* folders that hold them; ends with NULL */
	bool packs; /* the agent compresses some of them (os/unpack.h) */
	/* Whether a file below them is a session, and then whether it is a sub-agent's. */
	bool (*is_session)(const struct tree_file *file, bool *ret_subagent);
	/* The session that a sub-agent's file belongs to by where it lies; NULL: none ever. */
	struct sv (*subagent_of)(struct sv path);
	/* Folders between a top and what lies in a session's own folder, which is called as its
	 * file is; 0: sessions have none. */
	unsigned beside;
	/* The session id in a file name, empty when it is not one of a session. */
	struct sv (*path_id)(struct sv base);
	/* transcript_new_path() below a root. */
	char *(*new_path)(const char *root, const char *cwd, int64_t wall_ms, const char *id);
	/* transcript_writers() below a root; NULL: nobody can tell. */
	void (*writers)(const char *root, writer_ours_fn ours, struct map *ids);
	/* A file below the root with the names of sessions: id → index into *names. NULL: none. */
	const char *names_file;
	int (*read_names)(
		const char *path, struct map *ids, struct strv *names, struct err *reterr);
	/* The argument that the agent's server is started with, see writer_is_server(); NULL: it
	 * has none. */
	const char *server_word;
};
extern const struct transcript_places claude_places, codex_places;

struct transcript_format {
	int64_t number; /* in the store: never another's */
	/* 1 when only this format has such records, 0 when another may have them too. */
	int (*recognises)(struct sv text);
	const struct transcript_places *places;
	/* What stands on every line in which somebody speaks. */
	const char *speaks;
	bool forks_silently; /* see transcript_forks_silently() */
	bool forks_share; /* see transcript_forks_share() */
	/* How a user message begins that a program put in: tags ("<tag>" or "<tag …"), and words.
	 * Both end with NULL. */
	const char *const *injected_tags;
	const char *const *injected_words;
	const char *interrupted; /* … and how the one that a turn was stopped; NULL: none does */
	const char *answer_tool; /* a call of it is an answer by a schema; NULL: there is none */
	/* transcript_in_hand(): the words, J_NONE when it is no such note. NULL: there are none. */
	struct jval (*in_hand)(const struct item *item);
	/* transcript_spilled(), of a tool's result. NULL: there are none. */
	bool (*spilled)(const struct item *item, struct str *out);
	/* transcript_typed(): false when the text is as it was typed. NULL: all are. */
	bool (*typed)(struct sv text, struct str *out);
	/* The members that are looked at, and those of the elements of lists; see json/scan.h. */
	const struct scan_key *keys, *row_keys;
	size_t n_keys, n_row_keys;
	uint64_t lists, row_lists;
	/* Brings lines that are written another way to the usual shape; NULL: there are none. */
	void (*shape)(struct line *line);
	/* What a line says of itself behind its texts, for one that was cut off there: as far as
	 * its head tells it. NULL: nothing. */
	void (*complete)(struct line *line);
	/* Takes a record into the summary. */
	void (*scan)(struct summary *s, const struct line *line);
	/* Appends the record's items, at least one; `base` holds place and flags. */
	void (*items)(struct item_list *list, const struct item *base, const struct line *line);
	/* Appends exactly one link; its size is set by the caller. */
	void (*link)(struct links *links, const struct line *line);
	/* See line_look(), line_swaps(), line_note_place(), line_model() (NULL: no line has one).
	 */
	void (*look)(const struct line *line, struct line_look *look);
	void (*swaps)(
		const struct line *line, unsigned changes, struct sv own, struct line_swaps *out);
	struct jval (*note_place)(const struct line *line);
	struct sv (*model)(const struct line *line);
	unsigned cwd_key; /* see line_cwd(); 0: lines name no folder */
	/* The usage object of an answer. */
	struct usage (*usage)(struct jval usage);
	/* Where a new session belongs that is made from the one at `parent`; out_dir: NULL, or the
	 * folder it is put into instead. Caller frees. */
	char *(*sibling_path)(
		const char *parent, const char *out_dir, const char *id, int64_t wall_ms);
	const char *text_type; /* of a text block among results */
	const char *title; /* who answers, in words to the user */
	bool usage_follows; /* an answer's usage is recorded behind its texts */
	/* How many objects of a line that holds several the agent reads. */
	size_t glued_read;
	/* Sets state[record] of all that lead to the end to 1 (those that are sent are picked from
	 * them), and healed, compacted, compaction. state is zeroed, one byte a record. */
	void (*mark)(const struct links *links, unsigned char *state, struct transcript_live *live);
	const struct native_writer *native; /* see native.h; NULL: its lines cannot be written */
};
/* One place an agent, in the order of their table, which defines it (agent/agents.c): NULL for one
 * that keeps no sessions, the same twice where two share a format. */
extern const struct transcript_format *const transcript_formats[];
extern const size_t transcript_format_count;

void live_claude(const struct links *links, unsigned char *state, struct transcript_live *live);

/*
 * Calls take() for every record of a line, and broken() (may be NULL) for what is none. take()
 * answers ERR_INPUT, having changed nothing, when it is not given one object. A blank line has no
 * record. The agents lose lines with a NUL in them, and so must whoever foretells what they do:
 * such a line is broken as a whole.
 */
struct record_fns {
	int (*take)(void *data, struct sv text);
	void (*broken)(void *data, struct sv text);
};
void record_each(struct sv line, const struct record_fns *fns, void *data);
/* scan_keys() for a text that must be one object, else ERR_INPUT. */
int record_keys(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals);

/* ---- lines ---- */
/* The numbers of a usage object to 0. */
void line_zero_usage(struct jval usage, struct line_swaps *out);
/* Bytes and images of the list `under` whose rows of `level` begin at `at`; `text` is the key of a
 * row's text. They stay what they are in a line with too many rows. */
void line_count_blocks(const struct line *line, size_t at, unsigned level, unsigned under,
	unsigned text, struct line_piece *piece);

/* Private bits of session_mark.flags. */
enum {
	MARK_CHAINED = 1u << 0, /* the first chained record was seen */
	MARK_CWD_FITS = 1u << 1, /* cwd is the one the project folder is named after */
	MARK_META = 1u << 2, /* Codex: a session_meta was taken */
	MARK_META_OWN = 1u << 3, /* … whose id is the file's */
};

static inline void jsonl_freep(struct jsonl **r)
{
	jsonl_free(*r);
}

/* ---- summary fields ---- */
/* Decodes val into an owned string of at most max bytes, one line; other types leave it alone. */
void summary_field(struct summary *s, char **field, struct jval val, size_t max);
/* A path is kept as it is, or not at all. */
void summary_path(struct summary *s, char **field, struct jval val);
/* Whether the raw string differs from `last`, which is then updated. */
bool summary_changed(struct str *last, struct jval val);
void summary_time(struct summary *s, struct jval val);
/* Counts a turn and keeps the first prompt. */
void summary_prompt(struct summary *s, struct jval text);
/* Parent by the notes that this program and others leave in an object. */
void summary_parent(struct summary *s, struct jval trim, struct jval cont, struct jval ours);
void summary_usage(struct summary *s, struct jval usage);

/* ---- values ---- */
/* Whether the block's member "type" is name. */
bool value_is_type(struct jval block, const char *name);
/* The beginning of a string, decoded: from at most max_raw bytes of it. */
void value_head(struct jval val, size_t max_raw, struct str *out);
bool value_injected(const struct transcript_format *format, struct jval text, struct str *tmp);
/* A number of tokens; 0 for what is none. */
int64_t value_tokens(struct jval val);
uint64_t link_hash(struct sv text); /* never 0 for text, 0 for "" */
/* A line that is sent is smaller than this can hold. */
static inline uint32_t link_size(uint64_t size)
{
	return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}
