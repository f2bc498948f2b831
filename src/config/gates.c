/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gates.h"

#include "base/strbuf.h"
#include "base/vec.h"
#include "config/error_list.h"

struct gate_row {
	const char *name;
	struct bt_gate_state state;
};

static const struct gate_row gate_rows[BT_GATE__COUNT] = {
#define BT_GATE(gate_name, upper, gate_stage, gate_value, gate_locked) \
	[BT_GATE_##upper] = {#gate_name, {BT_GATE_STAGE_##gate_stage, gate_value, gate_locked}},
#include "config/gates.def"
};

struct gate_past {
	enum bt_gate gate;
	int until_minor;
	struct bt_gate_state state;
};

/*
 * The states of gates in older releases. The rows of each gate are in ascending order of releases.
 */
static const struct gate_past gate_pasts[] = {
#define BT_GATE_WAS(upper, until, past_stage, past_value, past_locked) \
	{BT_GATE_##upper, until, {BT_GATE_STAGE_##past_stage, past_value, past_locked}},
#include "config/gates.def"
};

struct gate_need {
	enum bt_gate gate;
	enum bt_gate needed;
};

/* The gates that must be on if `gate` is on. The rows of each gate are adjacent. */
static const struct gate_need gate_needs[] = {
#define BT_GATE_NEEDS(upper, needed_upper) {BT_GATE_##upper, BT_GATE_##needed_upper},
#include "config/gates.def"
};

const char *bt_gate_name(enum bt_gate gate)
{
	return gate_rows[gate].name;
}

struct bt_gate_state bt_gate_state_at(enum bt_gate gate, int minor)
{
	int from = minor < BT_GATE_RELEASE_OLDEST_MINOR ? BT_GATE_RELEASE_OLDEST_MINOR : minor;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(gate_pasts); i++) {
		if (gate_pasts[i].gate == gate && from <= gate_pasts[i].until_minor) {
			return gate_pasts[i].state;
		}
	}
	return gate_rows[gate].state;
}

const char *bt_gate_stage_name(enum bt_gate_stage stage)
{
	switch (stage) {
	case BT_GATE_STAGE_ALPHA:
		return "ALPHA";
	case BT_GATE_STAGE_BETA:
		return "BETA";
	case BT_GATE_STAGE_DEPRECATED:
		return "DEPRECATED";
	case BT_GATE_STAGE_GA:
	case BT_GATE_STAGE_NONE:
		break;
	}
	return "";
}

enum bt_gate bt_gate_find(struct bt_str name)
{
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		if (bt_str_equal_c(name, gate_rows[i].name)) {
			return (enum bt_gate)i;
		}
	}
	return BT_GATE__COUNT;
}

struct bt_gates bt_gates_default_at(int minor)
{
	struct bt_gates gates = {.all_alpha = false};
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		gates.enabled[i] = bt_gate_state_at((enum bt_gate)i, minor).value;
	}
	return gates;
}

struct bt_gates bt_gates_default(void)
{
	return bt_gates_default_at(BT_GATE_RELEASE_MINOR);
}

struct gate_change {
	const struct bt_gate_release *release;
	bool is_strict;
	struct bt_gates gates;
	bool named[BT_GATE__COUNT];
	bool stage_given[BT_GATE_STAGE_BETA + 1]; /* whether text sets AllAlpha, AllBeta */
	bool stage_value[BT_GATE_STAGE_BETA + 1];
	bool with_prefix;
	bool without_prefix;
	BT_VEC(struct bt_gate_warning) unknown; /* texts are borrowed from the flag */
};

static const struct bt_gate_release newest = {BT_GATE_RELEASE_MINOR, BT_GATE_RELEASE_MINOR - 1};

/*
 * Checks the optional component name before a colon, and removes the name and the colon from item.
 */
static int take_component(struct gate_change *change, struct bt_str *item, struct berth_error *err)
{
	struct bt_str rest = *item;
	struct bt_str component = bt_str_trim(bt_str_cut(&rest, ':'), BT_STR_SPACE);
	if (rest.data == NULL) {
		change->without_prefix = true;
	} else {
		if (!bt_str_equal_c(component, "kube")) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"component not registered: %.*s", BT_STR_ARG(component));
		}
		change->with_prefix = true;
		*item = rest;
	}
	if (change->with_prefix && change->without_prefix) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"set kube feature gates with default empty prefix or kube: "
			"prefix consistently, do not mix use");
	}
	return 0;
}

static int set_item(struct gate_change *change, struct bt_str item, struct berth_error *err)
{
	bool value = false;

	if (bt_str_trim(item, BT_STR_SPACE).length == 0) {
		return 0;
	}
	int code = take_component(change, &item, err);
	if (code != 0) {
		return code;
	}
	struct bt_str name = bt_str_trim(bt_str_cut(&item, '='), BT_STR_SPACE);
	if (item.data == NULL) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "missing bool value for %.*s", BT_STR_ARG(name));
	}
	struct bt_str text = bt_str_trim(item, BT_STR_SPACE);
	if (!bt_str_parse_bool(text, &value)) {
		struct bt_strbuf quoted = {0};
		bt_strbuf_append_quoted(&quoted, text);
		code = bt_error_set(err, BERTH_ERR_INVALID,
			"invalid value of %.*s=%.*s, err: strconv.ParseBool: parsing %s: "
			"invalid syntax",
			BT_STR_ARG(name), BT_STR_ARG(text), bt_strbuf_c(&quoted));
		bt_strbuf_finish(&quoted);
		return code;
	}

	enum bt_gate gate = bt_gate_find(name);
	bool all_alpha = bt_str_equal_c(name, "AllAlpha");
	if (all_alpha || bt_str_equal_c(name, "AllBeta")) {
		enum bt_gate_stage stage = all_alpha ? BT_GATE_STAGE_ALPHA : BT_GATE_STAGE_BETA;
		change->stage_given[stage] = true;
		change->stage_value[stage] = value;
		return 0;
	}
	if (gate == BT_GATE__COUNT && change->is_strict) {
		return bt_error_set(err, BERTH_ERR_INVALID, "unrecognized feature gate: %.*s",
			BT_STR_ARG(name));
	}
	if (gate == BT_GATE__COUNT) {
		struct bt_gate_warning warning = {BT_GATE_WARNING_UNKNOWN, name, value};
		bt_vec_push(&change->unknown, warning);
		return 0;
	}
	struct bt_gate_state state = bt_gate_state_at(gate, change->release->emulated_minor);
	if (state.locked && value != state.value) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"cannot set feature gate %s to %s, feature is locked to %s",
			gate_rows[gate].name, value ? "true" : "false",
			state.value ? "true" : "false");
	}
	if (state.stage == BT_GATE_STAGE_NONE) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"cannot set feature gate %s to %s, feature is PreAlpha at emulated version "
			"1.%d, min compatibility version 1.%d",
			gate_rows[gate].name, value ? "true" : "false",
			change->release->emulated_minor, change->release->min_compatibility_minor);
	}
	change->gates.enabled[gate] = value;
	change->named[gate] = true;
	return 0;
}

static int parse_change(struct gate_change *change, struct bt_str text, struct berth_error *err)
{
	int code = 0;
	if (text.length > BT_GATES_TEXT_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "feature gates: more than %d bytes",
			BT_GATES_TEXT_MAX);
	}
	while (code == 0 && text.length != 0) {
		code = set_item(change, bt_str_cut(&text, ','), err);
	}
	if (code == 0) {
		/*
		 * AllAlpha and AllBeta do not change gates that were set by name (spec 11 section
		 * 5.1 rule 5).
		 */
		for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
			struct bt_gate_state state =
				bt_gate_state_at((enum bt_gate)i, change->release->emulated_minor);
			if (state.stage <= BT_GATE_STAGE_BETA && change->stage_given[state.stage] &&
				!change->named[i] && !state.locked) {
				change->gates.enabled[i] = change->stage_value[state.stage];
			}
		}
		change->gates.all_alpha = change->stage_value[BT_GATE_STAGE_ALPHA];
		change->gates.all_beta = change->stage_value[BT_GATE_STAGE_BETA];

		struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
		struct bt_strbuf missing = {0};
		for (size_t i = 0; i < BT_ARRAY_LENGTH(gate_needs); i++) {
			enum bt_gate gate = gate_needs[i].gate;
			if (change->gates.enabled[gate] &&
				!change->gates.enabled[gate_needs[i].needed]) {
				bt_strbuf_printf(&missing, "%s%s", missing.length > 0 ? " " : "",
					gate_rows[gate_needs[i].needed].name);
			}
			if (missing.length > 0 &&
				(i + 1 == BT_ARRAY_LENGTH(gate_needs) ||
					gate_needs[i + 1].gate != gate)) {
				bt_config_errors_add(&errors, NULL,
					"%s is enabled, but depends on features that are disabled: "
					"[%s]",
					gate_rows[gate].name, bt_strbuf_c(&missing));
				bt_strbuf_reset(&missing);
			}
		}
		bt_strbuf_finish(&missing);
		code = bt_config_errors_finish(&errors, err);
	}
	return code;
}

int bt_gates_set(struct bt_gates *gates, struct bt_str text, struct berth_error *err)
{
	struct gate_change change = {.release = &newest, .is_strict = true, .gates = *gates};
	int code = parse_change(&change, text, err);
	if (code == 0) {
		*gates = change.gates;
	}
	return code;
}

int bt_gates_set_at(const struct bt_gate_release *release, bool is_strict, struct bt_str text,
	struct bt_gates *out_gates, bt_gate_warning_list *out_warnings, struct bt_arena *arena,
	struct berth_error *err)
{
	struct gate_change change = {
		.release = release != NULL ? release : &newest, .is_strict = is_strict};
	change.gates = bt_gates_default_at(change.release->emulated_minor);
	int code = parse_change(&change, text, err);
	if (code == 0) {
		*out_gates = change.gates;

		struct bt_gate_warning *items = BT_ARENA_NEW_ARRAY(
			arena, struct bt_gate_warning, BT_GATE__COUNT + change.unknown.count);
		uint32_t count = 0;
		for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
			enum bt_gate gate = (enum bt_gate)i;
			enum bt_gate_stage stage =
				bt_gate_state_at(gate, change.release->emulated_minor).stage;
			if (change.named[i] &&
				(stage == BT_GATE_STAGE_GA || stage == BT_GATE_STAGE_DEPRECATED)) {
				items[count++] = (struct bt_gate_warning){stage == BT_GATE_STAGE_GA
						? BT_GATE_WARNING_GA
						: BT_GATE_WARNING_DEPRECATED,
					bt_str_from(bt_gate_name(gate)), change.gates.enabled[i]};
			}
		}
		for (uint32_t i = 0; i < change.unknown.count; i++) {
			items[count] = change.unknown.items[i];
			items[count].gate = bt_arena_str(arena, items[count].gate);
			count++;
		}
		out_warnings->items = items;
		out_warnings->count = count;
	}
	bt_vec_finish(&change.unknown);
	return code;
}

const char *bt_gate_warning_text(enum bt_gate_warning_kind kind)
{
	switch (kind) {
	case BT_GATE_WARNING_GA:
		return "Warning: setting GA feature gate. It will be removed in a future release.";
	case BT_GATE_WARNING_DEPRECATED:
		return "Warning: setting deprecated feature gate. It will be removed in a future "
		       "release.";
	case BT_GATE_WARNING_UNKNOWN:
		break;
	}
	return "Warning: unknown feature gate is ignored.";
}
