#include "cli/cmd.h"

#include "base/suggest.h"

#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/commands.def"
#undef CMD

static const struct cmd *const commands[] = {
#define CMD(name) &cmd_##name,
#include "cli/commands.def"
#undef CMD
};

const struct cmd *const *cmd_table(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(commands);
	return commands;
}

const struct cmd *cmd_find(struct sv name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const struct cmd *c = commands[i];
		if (sv_is(name, c->name) || (c->alias && sv_is(name, c->alias)))
			return c;
	}
	return NULL;
}

const char *cmd_suggest(struct sv name)
{
	struct suggest near = SUGGEST_INIT(name);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (commands[i]->needs & CMD_HIDDEN)
			continue;
		suggest_offer(&near, commands[i]->name);
		if (commands[i]->alias)
			suggest_offer(&near, commands[i]->alias);
	}
	return near.best;
}

const char *cmd_group_title(enum cmd_group group)
{
	static const char *const titles[] = {
#define X(id, title) [id] = title,
		CMD_GROUPS(X)
#undef X
	};
	return titles[group];
}
