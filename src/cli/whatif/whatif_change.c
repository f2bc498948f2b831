/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/whatif/whatif_change.h"

#include "api/selector.h"
#include "cli/manifests.h"
#include "cli/node_reference.h"
#include "cli/pod_reference.h"
#include "cli/suggest.h"

const char *bt_whatif_kind_name(enum bt_whatif_kind kind)
{
	static const char *const names[] = {
		[BT_WHATIF_DRAIN] = "drain",
		[BT_WHATIF_REMOVE] = "remove",
		[BT_WHATIF_ADD] = "add",
		[BT_WHATIF_CORDON] = "cordon",
		[BT_WHATIF_UNCORDON] = "uncordon",
		[BT_WHATIF_TAINT] = "taint",
		[BT_WHATIF_LABEL] = "label",
		[BT_WHATIF_SCALE] = "scale",
		[BT_WHATIF_WITH] = "with",
	};
	return names[kind];
}

bool bt_whatif_is_of_nodes(enum bt_whatif_kind kind)
{
	return kind != BT_WHATIF_ADD && kind != BT_WHATIF_SCALE && kind != BT_WHATIF_WITH;
}

/** --- taints and labels --- */

static int check_key(struct bt_str key, struct berth_error *err)
{
	return bt_label_key_is_valid(key)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "the key is not valid: it is [PREFIX/]NAME, of letters, digits, '-', "
			  "'_' and '.'");
}

static int check_value(struct bt_str value, struct berth_error *err)
{
	return bt_label_value_is_valid(value)
		? 0
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "the value is not valid: at most 63 letters, digits, '-', '_' and '.'");
}

static bool take_minus(struct bt_str *text)
{
	if (text->length == 0 || text->data[text->length - 1] != '-') {
		return false;
	}
	text->length--;
	return true;
}

/** NODE=KEY[=VALUE]:EFFECT[-] or NODE=KEY- */
static int parse_taint(struct bt_whatif_change *change, struct bt_str rest, struct berth_error *err)
{
	if (rest.data == NULL || rest.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no taint is given: write NODE=key=value:NoSchedule, or NODE=key- to "
			"remove one");
	}
	change->removes = take_minus(&rest);
	struct bt_str effect = rest;
	struct bt_str pair = bt_str_cut(&effect, ':');
	change->key = bt_str_cut(&pair, '=');
	change->value = pair.data != NULL ? pair : BT_STR("");
	change->effect = effect.data != NULL ? effect : BT_STR("");
	int result = check_key(change->key, err);
	if (result == 0) {
		result = check_value(change->value, err);
	}
	if (result < 0 || (change->removes && effect.data == NULL)) {
		return result;
	}
	if (effect.data == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the taint has no effect: write key=value:NoSchedule (or :NoExecute, "
			":PreferNoSchedule), or key- to remove it");
	}
	static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
	char given[32];
	for (size_t i = 0; i < BT_ARRAY_LENGTH(effects); i++) {
		if (bt_str_equal_c(change->effect, effects[i])) {
			return 0;
		}
	}
	const char *meant = NULL;
	if (change->effect.length < sizeof(given)) {
		memcpy(given, change->effect.data, change->effect.length);
		given[change->effect.length] = 0;
		meant = bt_suggest(given, effects, BT_ARRAY_LENGTH(effects));
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"the effect is none of NoSchedule, PreferNoSchedule, NoExecute%s%s%s",
		meant != NULL ? ": did you mean " : "", meant != NULL ? meant : "",
		meant != NULL ? "?" : "");
}

/** NODE=KEY=VALUE or NODE=KEY- */
static int parse_label(struct bt_whatif_change *change, struct bt_str rest, struct berth_error *err)
{
	if (rest.data != NULL && bt_str_find_char(rest, '=') < 0) {
		change->removes = take_minus(&rest);
	}
	if (rest.data == NULL || (!change->removes && bt_str_find_char(rest, '=') < 0)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"no label is given: write NODE=key=value, or NODE=key- to remove one");
	}
	change->key = bt_str_cut(&rest, '=');
	change->value = rest.data != NULL ? rest : BT_STR("");
	int result = check_key(change->key, err);
	return result < 0 ? result : check_value(change->value, err);
}

/** --- numbers --- */

static int parse_count(
	struct bt_str text, int64_t min, int64_t max, int64_t *out_count, struct berth_error *err)
{
	if (!bt_str_parse_int64(text, out_count) || *out_count < min || *out_count > max) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the number must be a whole one from %lld to %lld", (long long)min,
			(long long)max);
	}
	return 0;
}

/** N=NODE */
static int parse_add(struct bt_whatif_change *change, struct bt_str rest, struct berth_error *err)
{
	struct bt_str count = bt_str_cut(&rest, '=');
	if (rest.data == NULL || rest.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"write N=NODE, for N nodes like NODE, as in 3=node-a1");
	}
	change->target = rest;
	if (bt_node_reference_of(rest) != BT_NODE_NAME) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"new nodes are like one node: name it, as in 3=node-a1");
	}
	return parse_count(count, 1, BT_WHATIF_ADDED_MAX, &change->count, err);
}

/** --- workloads --- */

static int find_workload_kind(struct bt_str word, enum bt_kind *out_kind, struct berth_error *err)
{
	enum bt_kind kind;
	if (bt_pod_reference_find_kind(word, &kind) &&
		(kind == BT_KIND_DEPLOYMENT || kind == BT_KIND_REPLICA_SET ||
			kind == BT_KIND_STATEFUL_SET || kind == BT_KIND_REPLICATION_CONTROLLER)) {
		*out_kind = kind;
		return 0;
	}
	return bt_error_set(err, BERTH_ERR_INVALID,
		"only a deployment, replicaset, statefulset or replicationcontroller can be "
		"scaled: write deployment/NAMESPACE/NAME=N");
}

/** KIND/[NAMESPACE/]NAME=N */
static int parse_scale(struct bt_whatif_change *change, struct bt_str rest, struct berth_error *err)
{
	struct bt_str name = bt_str_cut(&rest, '=');
	struct bt_str kind = bt_str_cut(&name, '/');
	if (rest.data == NULL || name.data == NULL || name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"write KIND/[NAMESPACE/]NAME=N, as in deployment/shop/web=5");
	}
	int result = find_workload_kind(kind, &change->workload, err);
	if (result < 0) {
		return result;
	}
	change->namespace_ = bt_str_cut(&name, '/');
	change->target = name;
	if (name.data == NULL) {
		change->target = change->namespace_;
		change->namespace_ = BT_STR("default");
	}
	return parse_count(rest, 0, BT_WHATIF_REPLICAS_MAX, &change->count, err);
}

static int parse(struct bt_whatif_change *change, struct bt_str text, struct berth_error *err)
{
	int result;
	struct bt_str rest = text;
	if (text.length > 4 * BT_MANIFESTS_NAME_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the value is too long");
	}
	switch (change->kind) {
	case BT_WHATIF_ADD:
		return parse_add(change, rest, err);
	case BT_WHATIF_SCALE:
		return parse_scale(change, rest, err);
	case BT_WHATIF_TAINT:
		result = bt_node_reference_cut(&rest, '=', &change->target, err);
		return result < 0 ? result : parse_taint(change, rest, err);
	case BT_WHATIF_LABEL:
		result = bt_node_reference_cut(&rest, '=', &change->target, err);
		return result < 0 ? result : parse_label(change, rest, err);
	case BT_WHATIF_WITH:
		change->target = text;
		return 0;
	case BT_WHATIF_DRAIN:
	case BT_WHATIF_REMOVE:
	case BT_WHATIF_CORDON:
	case BT_WHATIF_UNCORDON:
	case BT_WHATIF__COUNT:
		break;
	}
	return bt_node_reference_cut(&rest, 0, &change->target, err);
}

int bt_whatif_change_parse(enum bt_whatif_kind kind, const char *text,
	struct bt_whatif_change *out_change, struct berth_error *err)
{
	struct bt_whatif_change change = {.kind = kind, .text = text};
	int result = parse(&change, bt_str_from(text), err);
	if (result == 0) {
		*out_change = change;
	}
	return result;
}
