/* SPDX-License-Identifier: Apache-2.0 */
#include "config/gates.h"

#include "base/strbuf.h"
#include "config/error_list.h"

struct gate_row {
	const char *name;
	enum bt_gate_stage stage;
	bool value;
	bool locked;
};

static const struct gate_row gate_rows[BT_GATE__COUNT] = {
#define BT_GATE(gate_name, upper, gate_stage, gate_value, gate_locked) \
	[BT_GATE_##upper] = {#gate_name, BT_GATE_STAGE_##gate_stage, gate_value, gate_locked},
#include "config/gates.def"
};

struct gate_need {
	enum bt_gate gate;
	enum bt_gate needed;
};

/* Rows of one gate are neighbours. */
static const struct gate_need gate_needs[] = {
#define BT_GATE_NEEDS(upper, needed_upper) {BT_GATE_##upper, BT_GATE_##needed_upper},
#include "config/gates.def"
};

const char *bt_gate_name(enum bt_gate gate)
{
	return gate_rows[gate].name;
}

enum bt_gate_stage bt_gate_stage(enum bt_gate gate)
{
	return gate_rows[gate].stage;
}

bool bt_gate_default(enum bt_gate gate)
{
	return gate_rows[gate].value;
}

bool bt_gate_is_locked(enum bt_gate gate)
{
	return gate_rows[gate].locked;
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

struct bt_gates bt_gates_default(void)
{
	struct bt_gates gates;
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		gates.enabled[i] = gate_rows[i].value;
	}
	return gates;
}

/* --- parsing --- */

struct gate_change {
	struct bt_gates gates;
	bool named[BT_GATE__COUNT];
	bool stage_given[BT_GATE_STAGE_BETA + 1]; /* AllAlpha, AllBeta */
	bool stage_value[BT_GATE_STAGE_BETA + 1];
	bool with_prefix;
	bool without_prefix;
};

static struct bt_str trim(struct bt_str text)
{
	while (text.length > 0 &&
		(text.data[0] == ' ' || (text.data[0] >= '\t' && text.data[0] <= '\r'))) {
		text = bt_str_sub(text, 1, text.length - 1);
	}
	while (text.length > 0 &&
		(text.data[text.length - 1] == ' ' ||
			(text.data[text.length - 1] >= '\t' &&
				text.data[text.length - 1] <= '\r'))) {
		text.length--;
	}
	return text;
}

static bool parse_bool(struct bt_str text, bool *out_value)
{
	static const char *const words[2][6] = {
		{"0", "f", "F", "FALSE", "false", "False"},
		{"1", "t", "T", "TRUE", "true", "True"},
	};
	for (uint32_t value = 0; value < 2; value++) {
		for (uint32_t i = 0; i < 6; i++) {
			if (bt_str_equal_c(text, words[value][i])) {
				*out_value = value == 1;
				return true;
			}
		}
	}
	return false;
}

static int refuse_value(struct bt_str name, struct bt_str value, struct berth_error *err)
{
	struct bt_strbuf quoted = {0};
	int code;
	bt_strbuf_append_quoted(&quoted, value);
	code = bt_error_set(err, BERTH_ERR_INVALID,
		"invalid value of %.*s=%.*s, err: strconv.ParseBool: parsing %s: "
		"invalid syntax",
		BT_STR_ARG(name), BT_STR_ARG(value), bt_strbuf_c(&quoted));
	bt_strbuf_finish(&quoted);
	return code;
}

/* The component in front of a colon. */
static int take_component(struct gate_change *change, struct bt_str *item, struct berth_error *err)
{
	int64_t colon = bt_str_find_char(*item, ':');
	if (colon < 0) {
		change->without_prefix = true;
	} else {
		struct bt_str component = trim(bt_str_sub(*item, 0, (uint32_t)colon));
		if (!bt_str_equal_c(component, "kube")) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"component not registered: %.*s", BT_STR_ARG(component));
		}
		change->with_prefix = true;
		*item = bt_str_sub(*item, (uint32_t)colon + 1, item->length);
	}
	if (change->with_prefix && change->without_prefix) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"set kube feature gates with default empty prefix or kube: "
			"prefix consistently, do not mix use");
	}
	return 0;
}

static int set_gate(
	struct gate_change *change, struct bt_str name, bool value, struct berth_error *err)
{
	enum bt_gate gate = bt_gate_find(name);
	bool all_alpha = bt_str_equal_c(name, "AllAlpha");
	if (all_alpha || bt_str_equal_c(name, "AllBeta")) {
		enum bt_gate_stage stage = all_alpha ? BT_GATE_STAGE_ALPHA : BT_GATE_STAGE_BETA;
		change->stage_given[stage] = true;
		change->stage_value[stage] = value;
		return 0;
	}
	if (gate == BT_GATE__COUNT) {
		return bt_error_set(err, BERTH_ERR_INVALID, "unrecognized feature gate: %.*s",
			BT_STR_ARG(name));
	}
	if (gate_rows[gate].locked && value != gate_rows[gate].value) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"cannot set feature gate %s to %s, feature is locked to %s",
			gate_rows[gate].name, value ? "true" : "false",
			gate_rows[gate].value ? "true" : "false");
	}
	change->gates.enabled[gate] = value;
	change->named[gate] = true;
	return 0;
}

static int set_item(struct gate_change *change, struct bt_str item, struct berth_error *err)
{
	struct bt_str name;
	struct bt_str text;
	int64_t equals;
	bool value = false;
	int code;

	if (trim(item).length == 0) {
		return 0;
	}
	code = take_component(change, &item, err);
	if (code != 0) {
		return code;
	}
	equals = bt_str_find_char(item, '=');
	name = trim(equals < 0 ? item : bt_str_sub(item, 0, (uint32_t)equals));
	if (equals < 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "missing bool value for %.*s", BT_STR_ARG(name));
	}
	text = trim(bt_str_sub(item, (uint32_t)equals + 1, item.length));
	if (!parse_bool(text, &value)) {
		return refuse_value(name, text, err);
	}
	return set_gate(change, name, value, err);
}

/* Spec 11 section 5.1 rule 5: gates that were named keep what they were given. */
static void apply_stages(struct gate_change *change)
{
	for (uint32_t i = 0; i < BT_GATE__COUNT; i++) {
		enum bt_gate_stage stage = gate_rows[i].stage;
		if (stage != BT_GATE_STAGE_GA && change->stage_given[stage] && !change->named[i] &&
			!gate_rows[i].locked) {
			change->gates.enabled[i] = change->stage_value[stage];
		}
	}
}

static int check_needs(const struct bt_gates *gates, struct berth_error *err)
{
	struct bt_config_errors errors = BT_CONFIG_ERRORS_INIT;
	struct bt_strbuf missing = {0};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(gate_needs); i++) {
		enum bt_gate gate = gate_needs[i].gate;
		if (gates->enabled[gate] && !gates->enabled[gate_needs[i].needed]) {
			bt_strbuf_printf(&missing, "%s%s", missing.length > 0 ? " " : "",
				gate_rows[gate_needs[i].needed].name);
		}
		if (missing.length > 0 &&
			(i + 1 == BT_ARRAY_LENGTH(gate_needs) || gate_needs[i + 1].gate != gate)) {
			bt_config_errors_add(&errors, NULL,
				"%s is enabled, but depends on features that are disabled: [%s]",
				gate_rows[gate].name, bt_strbuf_c(&missing));
			bt_strbuf_reset(&missing);
		}
	}
	bt_strbuf_finish(&missing);
	return bt_config_errors_finish(&errors, err);
}

int bt_gates_set(struct bt_gates *gates, struct bt_str text, struct berth_error *err)
{
	struct gate_change change = {.gates = *gates};
	int code = 0;
	if (text.length > BT_GATES_TEXT_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "feature gates: more than %d bytes",
			BT_GATES_TEXT_MAX);
	}
	while (code == 0) {
		int64_t comma = bt_str_find_char(text, ',');
		code = set_item(
			&change, comma < 0 ? text : bt_str_sub(text, 0, (uint32_t)comma), err);
		if (comma < 0) {
			break;
		}
		text = bt_str_sub(text, (uint32_t)comma + 1, text.length);
	}
	if (code != 0) {
		return code;
	}
	apply_stages(&change);
	code = check_needs(&change.gates, err);
	if (code == 0) {
		*gates = change.gates;
	}
	return code;
}
