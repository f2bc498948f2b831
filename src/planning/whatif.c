/* SPDX-License-Identifier: Apache-2.0 */
#include "planning/whatif.h"

#include "api/identity.h"
#include "api/selector.h"
#include "api/suggest.h"
#include "api/text_template.h"
#include "base/printable.h"
#include "planning/reference.h"
#include "planning/whatif_private.h"
#include "cluster/manifests.h"
#include "cluster/pod_claims.h"

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

/** --- taints and labels --- */

static int check_pair(struct bt_str key, struct bt_str value, struct berth_error *err)
{
	if (!bt_label_key_is_valid(key)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the key is not valid: it is [PREFIX/]NAME, of letters, digits, '-', "
			"'_' and '.'");
	}
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

/** Parses NODE=KEY[=VALUE]:EFFECT[-] or NODE=KEY-. rest: the text after NODE=. */
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
	int result = check_pair(change->key, change->value, err);
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
	if (bt_str_is_one_of(change->effect, effects, BT_ARRAY_LENGTH(effects))) {
		return 0;
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

/** Parses NODE=KEY=VALUE or NODE=KEY-. rest: the text after NODE=. */
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
	return check_pair(change->key, change->value, err);
}

/** --- numbers --- */

static int parse_count(
	struct bt_str text, int64_t min, int64_t max, int64_t *out_count, struct berth_error *err)
{
	if (!bt_str_parse_int64(text, out_count) || *out_count < min || *out_count > max) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"the number must be a whole number from %lld to %lld", (long long)min,
			(long long)max);
	}
	return 0;
}

/** Parse N=NODE. */
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

/** Parse KIND/[NAMESPACE/]NAME=N. */
static int parse_scale(struct bt_whatif_change *change, struct bt_str rest, struct berth_error *err)
{
	struct bt_str name = bt_str_cut(&rest, '=');
	struct bt_str kind = bt_str_cut(&name, '/');
	if (rest.data == NULL || name.data == NULL || name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"write KIND/[NAMESPACE/]NAME=N, as in deployment/shop/web=5");
	}
	if (!bt_pod_reference_find_kind(kind, &change->workload) ||
		!bt_kind_has_replicas(change->workload)) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"only a deployment, replicaset, statefulset or replicationcontroller can "
			"be scaled: write deployment/NAMESPACE/NAME=N");
	}
	change->namespace_ = bt_str_cut(&name, '/');
	change->target = name;
	if (name.data == NULL) {
		change->target = change->namespace_;
		change->namespace_ = BT_STR("default");
	}
	return parse_count(rest, 0, BT_WHATIF_REPLICAS_MAX, &change->count, err);
}

int bt_whatif_change_parse(enum bt_whatif_kind kind, const char *text,
	struct bt_whatif_change *out_change, struct berth_error *err)
{
	struct bt_whatif_change change = {.kind = kind, .text = text};
	struct bt_str rest = bt_str_from(text);
	int result = 0;
	if (rest.length > 4 * BT_MANIFESTS_NAME_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "the value is too long");
	}
	switch (kind) {
	case BT_WHATIF_ADD:
		result = parse_add(&change, rest, err);
		break;
	case BT_WHATIF_SCALE:
		result = parse_scale(&change, rest, err);
		break;
	case BT_WHATIF_TAINT:
	case BT_WHATIF_LABEL:
		result = bt_node_reference_cut(&rest, '=', &change.target, err);
		if (result == 0) {
			result = kind == BT_WHATIF_TAINT ? parse_taint(&change, rest, err)
							 : parse_label(&change, rest, err);
		}
		break;
	case BT_WHATIF_WITH:
		change.target = rest;
		break;
	case BT_WHATIF_DRAIN:
	case BT_WHATIF_REMOVE:
	case BT_WHATIF_CORDON:
	case BT_WHATIF_UNCORDON:
	case BT_WHATIF__COUNT:
		result = bt_node_reference_cut(&rest, 0, &change.target, err);
		break;
	}
	if (result == 0) {
		*out_change = change;
	}
	return result;
}

const char *bt_departure_name(enum bt_departure departure)
{
	static const char *const names[] = {
		[BT_DEPARTURE_NONE] = "",
		[BT_DEPARTURE_DRAINED] = "its node is drained",
		[BT_DEPARTURE_NODE_REMOVED] = "its node is removed",
		[BT_DEPARTURE_TAINTED] = "it does not tolerate a taint of its node",
		[BT_DEPARTURE_UNSELECTED] = "its DaemonSet does not select its node any more",
		[BT_DEPARTURE_SCALED_DOWN] = "its workload is scaled down",
		[BT_DEPARTURE_REPLACED] = "its workload has another template",
		[BT_DEPARTURE_TERMINATING] = "it was being deleted",
	};
	return names[departure];
}

void bt_whatif_init(struct bt_whatif *whatif, struct bt_manifests *base)
{
	*whatif = (struct bt_whatif){.base = base};
	for (uint32_t i = 0; i < base->objects.count; i++) {
		base->objects.items[i].pods_exist &=
			base->objects.items[i].kind != BT_KIND_DAEMON_SET;
	}
	bt_manifests_init(&whatif->work);
	bt_manifests_copy(base, NULL, &whatif->work);
	bt_whatif_sync_marks(whatif);
}

void bt_whatif_finish(struct bt_whatif *whatif)
{
	bt_manifests_finish(&whatif->work);
	bt_vec_finish(&whatif->marks);
	bt_vec_finish_each(&whatif->budgets, bt_object_release(each->object));
	bt_map_finish(&whatif->budget_map);
	bt_free(whatif->pod_next);
	bt_arena_finish(&whatif->arena);
}

void bt_whatif_sync_marks(struct bt_whatif *whatif)
{
	bt_vec_pad(&whatif->marks, whatif->work.objects.count, (struct bt_whatif_mark){0});
}

void bt_whatif_result(const struct bt_whatif *whatif, struct bt_manifests *out_cluster)
{
	const struct bt_whatif_mark *marks = whatif->marks.items;
	bool *gone = BT_NEW_ARRAY(bool, whatif->marks.count);
	struct bt_text_set left = {0}; /* uids of pods, which get new claims if created again */
	for (uint32_t i = 0; i < whatif->marks.count; i++) {
		const struct bt_manifests_object *object = &whatif->work.objects.items[i];
		uint32_t node = bt_manifests_node_of_slice(&whatif->work, i);
		gone[i] = marks[i].is_deleted ||
			(node != BT_MANIFESTS_NONE && marks[node].is_deleted);
		if (object->kind == BT_KIND_POD && marks[i].departure != BT_DEPARTURE_NONE) {
			(void)bt_text_set_add(&left, object->uid); /* uids are unique */
		}
	}
	bt_manifests_copy(&whatif->work, gone, out_cluster);
	bt_pod_claims_release_all(out_cluster, &left);
	bt_text_set_finish(&left);
	bt_free(gone);
}

/** --- pods --- */

enum bt_pod_keeper bt_pod_keeper_of(const struct bt_pod *pod)
{
	const struct bt_owner_reference *controller = bt_object_controller(&pod->metadata);
	if (bt_pod_is_mirror(pod)) {
		return BT_KEEPER_NODE;
	}
	if (controller == NULL) {
		return BT_KEEPER_NONE;
	}
	if (bt_str_equal_c(controller->kind, "Node")) {
		return BT_KEEPER_NODE;
	}
	return bt_str_equal_c(controller->kind, "DaemonSet") ? BT_KEEPER_DAEMON_SET
							     : BT_KEEPER_CONTROLLER;
}

struct bt_pod bt_pod_recreated(const struct bt_pod *pod)
{
	struct bt_pod copy = *pod;
	copy.metadata.creation_timestamp = (struct bt_time){0};
	copy.spec.node_name = BT_STR("");
	copy.status = (struct bt_pod_status){0};
	return copy;
}

const struct bt_pod *bt_whatif_running_pod(const struct bt_whatif *whatif, uint32_t index)
{
	const struct bt_manifests_object *object = &whatif->work.objects.items[index];
	if (object->kind != BT_KIND_POD || whatif->marks.items[index].is_deleted) {
		return NULL;
	}
	const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
	return bt_pod_is_assigned(pod) && !bt_pod_is_terminal(pod) ? pod : NULL;
}

void bt_whatif_unplace(struct bt_manifests *cluster)
{
	struct bt_text_set uids = {0};
	for (uint32_t i = 0; i < cluster->objects.count; i++) {
		const struct bt_manifests_object *object = &cluster->objects.items[i];
		if (object->kind != BT_KIND_POD) {
			continue;
		}
		const struct bt_pod *pod = bt_object_value(object->object, BT_KIND_POD);
		enum bt_pod_keeper keeper = bt_pod_keeper_of(pod);
		if (!bt_pod_is_assigned(pod) || bt_pod_is_terminal(pod) ||
			bt_pod_is_terminating(pod) || keeper == BT_KEEPER_DAEMON_SET ||
			keeper == BT_KEEPER_NODE) {
			continue;
		}
		struct bt_pod copy = bt_pod_recreated(pod);
		copy.metadata.creation_timestamp = pod->metadata.creation_timestamp;
		bt_manifests_exchange(cluster, i, bt_object_create(BT_KIND_POD, &copy));
		(void)bt_text_set_add(&uids, cluster->objects.items[i].uid); /* uids are unique */
	}
	bt_pod_claims_release_all(cluster, &uids);
	bt_text_set_finish(&uids);
}

/** --- objects by name --- */

uint32_t bt_whatif_find(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name)
{
	uint32_t index = bt_manifests_find(&whatif->work, kind, namespace_, name);
	return index != BT_MANIFESTS_NONE && !whatif->marks.items[index].is_deleted
		? index
		: BT_MANIFESTS_NONE;
}

bool bt_whatif_is_there(const void *context, uint32_t index)
{
	const struct bt_whatif *whatif = context;
	return !whatif->marks.items[index].is_deleted;
}

int bt_whatif_unknown(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err)
{
	const char *kind_name = bt_kind_info(kind)->name;
	struct bt_arena arena = {0};
	struct bt_strbuf meant = {0};
	uint32_t count = 0;
	for (uint32_t i = 0; i < whatif->work.objects.count; i++) {
		const struct bt_manifests_object *object = &whatif->work.objects.items[i];
		if (object->kind == kind && bt_whatif_is_there(whatif, i)) {
			count++;
			if (meant.length == 0 && bt_str_equal(object->name, name)) {
				bt_printable_append_name(&meant, object->namespace_, name);
			}
		}
	}
	const char *near = bt_manifests_suggest(
		&whatif->work, kind, &namespace_, name, bt_whatif_is_there, whatif, &arena);
	if (meant.length == 0 && near != NULL) {
		bt_printable_append(&meant, bt_str_from(near));
	}
	int result = count != 0
		? bt_text_error(err, BERTH_ERR_INVALID,
			  "no such %c is in the input[; did you mean %s?]", kind_name,
			  bt_strbuf_str(&meant))
		: bt_error_set(err, BERTH_ERR_INVALID,
			  "there is no %s in the input: add the output of \"kubectl get %s -A -o "
			  "yaml\" with -f",
			  kind_name, bt_kind_info(kind)->resource);
	bt_strbuf_finish(&meant);
	bt_arena_finish(&arena);
	return result;
}

int bt_whatif_put(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	enum bt_kind kind, const void *value, struct berth_error *err)
{
	uint32_t index;
	struct bt_strbuf source = {0};
	bt_strbuf_printf(&source, "--%s %s", bt_whatif_kind_name(change->kind), change->text);
	int result = bt_manifests_put(
		&whatif->work, bt_strbuf_c(&source), bt_object_create(kind, value), &index, err);
	bt_strbuf_finish(&source);
	bt_whatif_sync_marks(whatif);
	return result;
}

int bt_whatif_apply(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err)
{
	int result = change->kind == BT_WHATIF_ADD ? bt_whatif_add_nodes(whatif, change, err)
		: change->kind == BT_WHATIF_SCALE  ? bt_whatif_scale(whatif, change, err)
		: change->kind == BT_WHATIF_WITH   ? bt_whatif_with(whatif, change, err)
						   : bt_whatif_change_nodes(whatif, change, err);
	if (result < 0 && change->kind != BT_WHATIF_WITH) {
		struct bt_strbuf shown = {0};
		bt_printable_append(&shown, bt_str_from(change->text));
		result = bt_error_wrap(err, result, "--%s %s", bt_whatif_kind_name(change->kind),
			bt_strbuf_c(&shown));
		bt_strbuf_finish(&shown);
	}
	return result;
}
