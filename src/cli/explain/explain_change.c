/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_change.h"

#include "api/text_template.h"
#include "base/printable.h"
#include "codec/json_edit.h"
#include "explain/advice.h"

/** --- texts --- */

/**
 * Whether the change frees more than the node's pods request, so that only a larger node helps.
 * Then *out_stock has the node's amounts, and *out_wanted the allocatable amount that the node
 * would need.
 */
static bool is_too_large(const struct bt_remedy *change, const struct bt_node_table *nodes,
	struct bt_node_amounts *out_stock, int64_t *out_wanted)
{
	uint32_t slot = nodes != NULL && change->kind == BT_REMEDY_FREE_RESOURCE
		? bt_node_table_find(nodes, change->node)
		: BT_SLOT_NONE;
	if (slot == BT_SLOT_NONE) {
		return false;
	}
	*out_stock = bt_amounts_at(bt_node_table_columns(nodes, change->resource), slot);
	return change->amount > out_stock->requested &&
		!BT_ADD_OVERFLOW(out_stock->allocatable, change->amount, out_wanted);
}

/**
 * Whether the changes concern only one node, which has to be larger, and the pod is not tied to
 * nodes or other pods. Then adding a node of that size helps, too, and moves no pods.
 */
static bool adds_node(
	const bt_remedy_list *changes, const struct bt_pod *pod, const struct bt_node_table *nodes)
{
	const struct bt_remedy *first = NULL;
	struct bt_node_amounts stock;
	int64_t wanted;
	for (uint32_t i = 0; i < changes->count; i++) {
		if (bt_remedy_is_of_pod(changes->items[i].kind)) {
			continue;
		}
		if (!is_too_large(&changes->items[i], nodes, &stock, &wanted) ||
			(first != NULL && !bt_str_equal(first->node, changes->items[i].node))) {
			return false;
		}
		first = &changes->items[i];
	}
	if (first == NULL) {
		return false;
	}
	/*
	 * If the pod requires a node by name, or its placement depends on other pods, adding a node
	 * may not help.
	 */
	static const struct bt_str hostname = BT_STR_INIT("kubernetes.io/hostname");
	const struct bt_affinity *affinity = pod->spec.affinity;
	const struct bt_node_affinity *own = affinity != NULL ? affinity->node_affinity : NULL;
	bool tied = bt_str_map_find(&pod->spec.node_selector, hostname) != NULL ||
		pod->spec.topology_spread_constraints.count != 0;
	if (affinity != NULL) {
		tied = tied ||
			(affinity->pod_affinity != NULL &&
				affinity->pod_affinity->required.count != 0) ||
			(affinity->pod_anti_affinity != NULL &&
				affinity->pod_anti_affinity->required.count != 0);
	}
	for (uint32_t i = 0; own != NULL && own->required != NULL && i < own->required->terms.count;
		i++) {
		const struct bt_node_selector_term *term = &own->required->terms.items[i];
		tied = tied || term->match_fields.count != 0;
		for (uint32_t k = 0; k < term->match_expressions.count; k++) {
			tied = tied || bt_str_equal(term->match_expressions.items[k].key, hostname);
		}
	}
	return !tied;
}

/**
 * Append "free 250m cpu on node-7" or "make room for 2 more pods on node-7". If the node is too
 * small: "replace node-7 by a node with 16 cpu (it has 8)"; or, if `adds` is true, "add a node like
 * node-7 with 12 cpu (node-7 has 8)".
 */
static void append_free(struct bt_strbuf *out, const struct bt_remedy *change, bool adds,
	const struct bt_node_table *nodes)
{
	struct bt_node_amounts stock;
	int64_t wanted;
	if (is_too_large(change, nodes, &stock, &wanted)) {
		/* An added node runs no pods yet. */
		bt_text_append(out, "%c %p %c %a %p (%p has ", adds ? "add a node like" : "replace",
			change->node, adds ? "with" : "by a node with", change->resource,
			adds ? wanted - stock.requested : wanted, BT_AMOUNT_UP, change->resource,
			adds ? change->node : BT_STR("it"));
		bt_text_append(out, stock.allocatable == 0 ? "none)" : "%a)", change->resource,
			stock.allocatable, BT_AMOUNT_DOWN);
	} else if (bt_str_equal_c(change->resource, "pods")) {
		bt_text_append(out, "make room for %d more {pod|pods} on %p", change->amount,
			change->node);
	} else {
		bt_text_append(out, "free %a %p on %p", change->resource, change->amount,
			BT_AMOUNT_UP, change->resource, change->node);
	}
}

/**
 * Append "ask for 7.9 cpu instead of 64", or "ask for 56.1 less cpu" if no request would be left.
 */
static void append_lower(
	struct bt_strbuf *out, const struct bt_remedy *change, const struct bt_pod *pod)
{
	int64_t requested = bt_remedy_requested_of(pod, change->resource);

	if (change->amount >= requested) {
		bt_text_append(out, "ask for %a less %p", change->resource, change->amount,
			BT_AMOUNT_UP, change->resource);
	} else {
		bt_text_append(out, "ask for %a %p instead of %a", change->resource,
			requested - change->amount, BT_AMOUNT_DOWN, change->resource,
			change->resource, requested, BT_AMOUNT_UP);
	}
}

/** Returns the topology key of the spread constraint; "" if there is no such constraint. */
static struct bt_str constraint_key(const struct bt_remedy *change, const struct bt_pod *pod)
{
	return change->index < pod->spec.topology_spread_constraints.count
		? pod->spec.topology_spread_constraints.items[change->index].topology_key
		: BT_STR("");
}

static void append_pod_affinity(
	struct bt_strbuf *out, const struct bt_remedy *change, const struct bt_pod *pod)
{
	bool anti = change->kind == BT_REMEDY_DROP_POD_ANTI_AFFINITY;
	const struct bt_affinity *affinity = pod->spec.affinity;
	const struct bt_pod_affinity *terms = NULL;
	if (affinity != NULL) {
		terms = anti ? affinity->pod_anti_affinity : affinity->pod_affinity;
	}
	bt_text_append(out, "drop required term [[%u] of the pod's %c[ (%p)]", change->index,
		anti ? "podAntiAffinity" : "podAffinity",
		terms != NULL && change->index < terms->required.count
			? terms->required.items[change->index].topology_key
			: BT_STR(""));
}

/** adds: the result of adds_node. */
static void append_text(const struct bt_remedy *change, bool adds, const struct bt_pod *pod,
	const struct bt_node_table *nodes, struct bt_strbuf *out)
{
	switch (change->kind) {
	case BT_REMEDY_FREE_RESOURCE:
		append_free(out, change, adds, nodes);
		return;
	case BT_REMEDY_REMOVE_POD:
		bt_text_append(out, "delete pod %m from %p", change->pod_namespace,
			change->pod_name, change->node);
		return;
	case BT_REMEDY_TOLERATE:
		bt_text_append(out, "let the pod tolerate taint %p[=%p][:%p]",
			change->key.length != 0 ? change->key : BT_STR("(any)"), change->value,
			change->effect);
		return;
	case BT_REMEDY_UNCORDON:
		bt_text_append(out, "uncordon %p", change->node);
		return;
	case BT_REMEDY_SET_LABEL:
		bt_text_append(
			out, "label %p with %p=%p", change->node, change->key, change->value);
		return;
	case BT_REMEDY_REMOVE_LABEL:
		bt_text_append(out, "take label %p from %p", change->key, change->node);
		return;
	case BT_REMEDY_DROP_NODE_SELECTOR:
		bt_text_append(out, "drop %p from the pod's nodeSelector", change->key);
		return;
	case BT_REMEDY_DROP_NODE_AFFINITY:
		bt_strbuf_append_c(out, "drop the pod's required node affinity");
		return;
	case BT_REMEDY_DROP_POD_AFFINITY:
	case BT_REMEDY_DROP_POD_ANTI_AFFINITY:
		append_pod_affinity(out, change, pod);
		return;
	case BT_REMEDY_RAISE_MAX_SKEW:
		bt_text_append(out,
			"raise maxSkew of the pod's topologySpreadConstraints[[%u][ (%p)] to %d",
			change->index, constraint_key(change, pod), change->amount);
		return;
	case BT_REMEDY_ALLOW_SKEW:
		bt_text_append(out,
			"set whenUnsatisfiable of the pod's topologySpreadConstraints[[%u][ (%p)] "
			"to ScheduleAnyway",
			change->index, constraint_key(change, pod));
		return;
	case BT_REMEDY_DROP_HOST_PORT:
		bt_text_append(out, "do without host port %d/%p", change->amount, change->value);
		return;
	case BT_REMEDY_DROP_VOLUME:
		bt_text_append(out, "do without the pod's volume %p", change->key);
		return;
	case BT_REMEDY_PROVISION_VOLUME: {
		const struct bt_volume *volume = BT_STR_FIND(&pod->spec.volumes, name, change->key);
		const struct bt_pvc_volume_source *claim =
			volume != NULL ? volume->persistent_volume_claim : NULL;
		bt_text_append(out,
			change->value.length != 0
				? "create StorageClass %p"
				: "create a default StorageClass, or mark one as default",
			change->value);
		bt_text_append(out, ", for %c %p", claim != NULL ? "claim" : "volume",
			claim != NULL ? claim->claim_name : change->key);
		return;
	}
	case BT_REMEDY_LOWER_REQUEST:
		append_lower(out, change, pod);
		return;
	case BT_REMEDY_REMOVE_GATE:
		bt_text_append(out, "remove the pod's scheduling gate %p", change->key);
		return;
	case BT_REMEDY_SET_SCHEDULER_NAME:
		bt_text_append(out, "set the pod's schedulerName to %p", change->value);
		return;
	case BT_REMEDY__COUNT:
		return;
	}
}

bool bt_changes_append_text(const bt_remedy_list *changes, const struct bt_pod *pod,
	const struct bt_node_table *nodes, struct bt_strbuf *out)
{
	bool adds = adds_node(changes, pod, nodes);
	for (uint32_t i = 0; i < changes->count; i++) {
		bt_strbuf_append_c(out, i != 0 ? ", and " : "");
		append_text(&changes->items[i], adds, pod, nodes, out);
	}
	return adds;
}

/** --- commands --- */

/** Whether the word can be copied from a terminal, and kubectl does not take it for a flag. */
static bool is_fit_for_commands(struct bt_str word)
{
	struct bt_strbuf shown = {0};
	bt_printable_append(&shown, word);
	bool same = bt_str_equal(bt_strbuf_str(&shown), word);
	bt_strbuf_finish(&shown);
	return same && (word.length == 0 || word.data[0] != '-');
}

static void append_patch(struct bt_strbuf *out, const struct bt_pod *pod, const char *type,
	const struct bt_json_value *patch)
{
	struct bt_strbuf json = {0};
	bt_json_format(patch, &json);
	bt_text_append(out, "kubectl patch pod %w -n %w%c -p %w", pod->metadata.name,
		pod->metadata.namespace_, type, bt_strbuf_str(&json));
	bt_strbuf_finish(&json);
}

bool bt_change_append_command(const struct bt_remedy *change, const struct bt_pod *pod,
	bool in_input, bool lacks_tolerations, struct bt_strbuf *out)
{
	size_t length = out->length;
	const struct bt_str words[] = {change->node, change->pod_namespace, change->pod_name,
		change->key, change->value, change->effect, pod->metadata.namespace_,
		pod->metadata.name};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(words); i++) {
		if (!is_fit_for_commands(words[i])) {
			return false;
		}
	}
	if (change->kind == BT_REMEDY_UNCORDON) {
		bt_text_append(out, "kubectl uncordon %w", change->node);
	} else if (change->kind == BT_REMEDY_SET_LABEL || change->kind == BT_REMEDY_REMOVE_LABEL) {
		bool sets = change->kind == BT_REMEDY_SET_LABEL;
		struct bt_strbuf word = {0};
		bt_text_append(&word, "%s%c%s", change->key, sets ? "=" : "-",
			sets ? change->value : BT_STR(""));
		bt_text_append(out, "kubectl label node %w %w%c", change->node,
			bt_strbuf_str(&word), sets ? " --overwrite" : "");
		bt_strbuf_finish(&word);
	} else if (change->kind == BT_REMEDY_REMOVE_POD) {
		bt_text_append(out, "kubectl delete pod %w -n %w", change->pod_name,
			change->pod_namespace);
	} else if (change->kind == BT_REMEDY_TOLERATE && in_input) {
		struct bt_arena arena = {0};
		struct bt_json_value *toleration = bt_json_put(&arena, NULL,
			"{key?: %s, operator: %c, value?: %s, effect?: %s}", change->key,
			change->value.length != 0 ? "Equal" : "Exists", change->value,
			change->effect);
		append_patch(out, pod, " --type=json",
			lacks_tolerations
				? bt_json_put(&arena, NULL,
					  "[{op: 'add', path: '/spec/tolerations', value: [%v]}]",
					  toleration)
				: bt_json_put(&arena, NULL,
					  "[{op: 'add', path: '/spec/tolerations/-', value: %v}]",
					  toleration));
		bt_arena_finish(&arena);
	} else if (change->kind == BT_REMEDY_REMOVE_GATE && in_input) {
		/* Delete by name, so that several gates can be removed one after another. */
		struct bt_arena arena = {0};
		append_patch(out, pod, "",
			bt_json_put(&arena, NULL,
				"{spec: {schedulingGates: [{'$patch': 'delete', name: %s}]}}",
				change->key));
		bt_arena_finish(&arena);
	}
	return out->length != length;
}

bool bt_change_append_alternative(
	const struct bt_remedy *change, struct bt_str node, struct bt_strbuf *out)
{
	struct bt_strbuf word = {0};
	/* Controllers restore taints with these names as long as their condition holds. */
	if (change->kind != BT_REMEDY_TOLERATE || change->key.length == 0 || node.length == 0 ||
		bt_str_has_prefix(change->key, BT_STR("node.kubernetes.io/")) ||
		!is_fit_for_commands(change->key) || !is_fit_for_commands(change->effect) ||
		!is_fit_for_commands(node)) {
		return false;
	}
	bt_text_append(&word, "%s[:%s]-", change->key, change->effect);
	bt_text_append(out, "kubectl taint node %w %w", node, bt_strbuf_str(&word));
	bt_strbuf_finish(&word);
	return true;
}

/** --- JSON --- */

void bt_changes_write_json(const bt_remedy_list *changes, const struct bt_pod *pod,
	const struct bt_node_table *nodes, struct bt_json_writer *writer)
{
	bool adds = adds_node(changes, pod, nodes);
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < changes->count; i++) {
		const struct bt_remedy *change = &changes->items[i];
		uint32_t members = bt_remedy_members(change->kind);
		const struct {
			uint32_t member;
			const char *name;
			struct bt_str text;
		} texts[] = {
			{BT_REMEDY_HAS_NODE, "node", change->node},
			{BT_REMEDY_HAS_RESOURCE, "resource", change->resource},
			{BT_REMEDY_HAS_KEY, "key", change->key},
			{BT_REMEDY_HAS_VALUE, "value", change->value},
			{BT_REMEDY_HAS_EFFECT, "effect", change->effect},
		};
		bt_json_write(writer, "{type: %c", bt_remedy_kind_name(change->kind));
		for (size_t k = 0; k < BT_ARRAY_LENGTH(texts); k++) {
			if ((members & texts[k].member) != 0) {
				bt_json_write_member(writer, texts[k].name, texts[k].text);
			}
		}
		if ((members & BT_REMEDY_HAS_AMOUNT) != 0) {
			bt_json_write_member_int64(writer, "amount", change->amount);
		}
		if ((members & BT_REMEDY_HAS_INDEX) != 0) {
			bt_json_write_member_int64(writer, "index", change->index);
		}
		if ((members & BT_REMEDY_HAS_POD) != 0) {
			bt_json_write(writer, "pod: {namespace: %s, name: %s}",
				change->pod_namespace, change->pod_name);
		}
		struct bt_strbuf text = {0};
		append_text(change, adds, pod, nodes, &text);
		bt_json_write_member(writer, "text", bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		bt_json_end_object(writer);
	}
	bt_json_end_array(writer);
}
