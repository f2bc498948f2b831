/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_COMPLETE_PRIVATE_H
#define BT_CLI_COMPLETE_PRIVATE_H
/** Shared by the files of complete.h. */
#include "cli/completion/complete.h"

/** What of the current word is replaced. Texts are borrowed. */
struct bt_complete_word {
	struct bt_str prefix; /* stays: "--output=", "-o", "" */
	const char *text;     /* what a candidate must begin with */
	const char *suffix;   /* put behind it; NULL: nothing */
};

struct bt_complete {
	const struct bt_command *const *commands;
	size_t command_count;
	const struct bt_command *command; /* NULL: its name is being typed */
	struct bt_arguments words;        /* behind the command, before the current one */
	const char *current;
	/* Found in words. */
	BT_VEC(const struct bt_flag *) given;
	struct bt_arguments files;     /* values of --filename */
	const char *namespace_;        /* value of --namespace; NULL: not given */
	const struct bt_flag *waiting; /* the last word is a flag without its value */
	bool only_arguments;           /* "--" came */
	struct bt_strbuf out;
};

/** A line for candidate, if it begins as the word does. description: "" for none. */
void bt_complete_offer(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str candidate, const char *description);
/** ":files", ":dirs" or ":nospace". */
void bt_complete_tell_shell(struct bt_complete *complete, const char *instruction);
/** Everything that value_name (see bt_flag) allows. */
void bt_complete_value(
	struct bt_complete *complete, const struct bt_complete_word *word, const char *value_name);
/** Names of nodes or pods in the files of -f; none when reading them would take long. */
void bt_complete_nodes(struct bt_complete *complete, const struct bt_complete_word *word);
void bt_complete_pods(struct bt_complete *complete, const struct bt_complete_word *word);
#endif
