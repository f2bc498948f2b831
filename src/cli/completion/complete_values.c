/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/str.h"
#include "cli/completion/complete_private.h"
#include "config/gates.h"

static void offer_files(struct bt_complete *complete, const struct bt_complete_word *word)
{
	(void)word;
	bt_complete_tell_shell(complete, ":files");
}

static void offer_folders(struct bt_complete *complete, const struct bt_complete_word *word)
{
	(void)word;
	bt_complete_tell_shell(complete, ":dirs");
}

static void offer_workloads(struct bt_complete *complete, const struct bt_complete_word *word)
{
	const struct bt_command *command = complete->command;
	const char *summary;
	const char *name;
	for (uint32_t i = 0;
		command->workload_at != NULL && (name = command->workload_at(i, &summary)) != NULL;
		i++) {
		bt_complete_offer(complete, word, bt_str_from(name), summary);
	}
}

/** "A=true,B=fa": what is typed of the last entry is completed. */
static void offer_gates(struct bt_complete *complete, const struct bt_complete_word *word)
{
	const char *comma = strrchr(word->text, ',');
	const char *entry = comma != NULL ? comma + 1 : word->text;
	const char *equals = strchr(entry, '=');
	const char *typed = equals != NULL ? equals + 1 : entry;
	struct bt_strbuf prefix = {0};
	bt_strbuf_append_str(&prefix, word->prefix);
	bt_strbuf_append(&prefix, word->text, (size_t)(typed - word->text));
	struct bt_complete_word part = {.prefix = bt_strbuf_str(&prefix), .text = typed};
	if (equals != NULL) {
		bt_complete_offer(complete, &part, BT_STR("true"), "");
		bt_complete_offer(complete, &part, BT_STR("false"), "");
	} else {
		struct bt_strbuf text = {0};
		struct bt_strbuf description = {0};
		bt_complete_offer(complete, &part, BT_STR("AllAlpha="), "every gate that is alpha");
		bt_complete_offer(complete, &part, BT_STR("AllBeta="), "every gate that is beta");
		for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
			enum bt_gate gate = (enum bt_gate)i;
			if (bt_gate_is_locked(gate)) {
				continue;
			}
			bt_strbuf_reset(&text);
			bt_strbuf_reset(&description);
			bt_strbuf_printf(&text, "%s=", bt_gate_name(gate));
			bt_strbuf_printf(&description, "default %s",
				bt_gate_default(gate) ? "true" : "false");
			bt_complete_offer(
				complete, &part, bt_strbuf_str(&text), bt_strbuf_c(&description));
		}
		bt_strbuf_finish(&text);
		bt_strbuf_finish(&description);
		bt_complete_tell_shell(complete, ":nospace");
	}
	bt_strbuf_finish(&prefix);
}

/** Words in value names that stand for what can be listed. */
static const struct {
	const char *name;
	void (*offer)(struct bt_complete *complete, const struct bt_complete_word *word);
} placeholders[] = {
	{"DIR", offer_folders},
	{"FILE", offer_files},
	{"NAME=BOOL,...", offer_gates},
	{"NODE", bt_complete_nodes},
	{"POD", bt_complete_pods},
	{"WORKLOAD", offer_workloads},
};

static bool is_placeholder(struct bt_str name)
{
	bool has_capital = false;
	for (uint32_t i = 0; i < name.length; i++) {
		if (name.data[i] >= 'a' && name.data[i] <= 'z') {
			return false;
		}
		has_capital = has_capital || (name.data[i] >= 'A' && name.data[i] <= 'Z');
	}
	return has_capital;
}

static void offer_pair(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str left, struct bt_str right);
static void offer_last_of_list(
	struct bt_complete *complete, const struct bt_complete_word *word, struct bt_str entry);

static void offer_alternative(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str alternative)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(placeholders); i++) {
		if (bt_str_equal_c(alternative, placeholders[i].name)) {
			placeholders[i].offer(complete, word);
			return;
		}
	}
	int64_t equals = bt_str_find_char(alternative, '=');
	if (bt_str_has_suffix(alternative, BT_STR(",..."))) {
		offer_last_of_list(
			complete, word, bt_str_sub(alternative, 0, alternative.length - 4));
	} else if (equals > 0) {
		offer_pair(complete, word, bt_str_sub(alternative, 0, (uint32_t)equals),
			bt_str_sub(alternative, (uint32_t)equals + 1, UINT32_MAX));
	} else if (!is_placeholder(alternative)) {
		bt_complete_offer(complete, word, alternative, "");
	}
}

/** The candidates, with the first bytes of the typed text in front of them. */
static void offer_behind(struct bt_complete *complete, const struct bt_complete_word *word,
	const char *typed, struct bt_str alternative)
{
	struct bt_complete_word part = *word;
	struct bt_strbuf prefix = {0};
	bt_strbuf_append_str(&prefix, word->prefix);
	bt_strbuf_append(&prefix, word->text, (size_t)(typed - word->text));
	part.prefix = bt_strbuf_str(&prefix);
	part.text = typed;
	offer_alternative(complete, &part, alternative);
	bt_strbuf_finish(&prefix);
}

static void offer_last_of_list(
	struct bt_complete *complete, const struct bt_complete_word *word, struct bt_str entry)
{
	const char *comma = strrchr(word->text, ',');
	offer_behind(complete, word, comma != NULL ? comma + 1 : word->text, entry);
}

/** "NODE=TAINT": what stands before the sign, with the sign, until it is typed. */
static void offer_pair(struct bt_complete *complete, const struct bt_complete_word *word,
	struct bt_str left, struct bt_str right)
{
	const char *equals = strchr(word->text, '=');
	if (equals != NULL) {
		offer_behind(complete, word, equals + 1, right);
		return;
	}
	struct bt_complete_word part = *word;
	part.suffix = "=";
	offer_alternative(complete, &part, left);
	bt_complete_tell_shell(complete, ":nospace");
}

void bt_complete_value(
	struct bt_complete *complete, const struct bt_complete_word *word, const char *value_name)
{
	while (*value_name != '\0') {
		size_t length = strcspn(value_name, "|");
		offer_alternative(complete, word, (struct bt_str){value_name, (uint32_t)length});
		value_name += length;
		value_name += *value_name == '|';
	}
}
