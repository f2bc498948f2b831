/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaulting.h"
#include "api/selector.h"
#include "api/toleration.h"
#include "cli/suffix.h"
#include "cli/workload_private.h"

/** A DaemonSet while its nodes are gone through. */
struct daemon {
	struct bt_expansion *expansion;
	struct bt_pod_maker maker;
	struct bt_pod_spec spec; /* of the template, the controller's tolerations added */
	struct bt_required_node_affinity affinity;
	struct bt_arena scratch;
};

/** Tolerations that every daemon pod gets; the last one only on the host's network. */
static const struct bt_toleration daemon_tolerations[] = {
	{.key = BT_STR_INIT("node.kubernetes.io/not-ready"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoExecute")},
	{.key = BT_STR_INIT("node.kubernetes.io/unreachable"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoExecute")},
	{.key = BT_STR_INIT("node.kubernetes.io/disk-pressure"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/memory-pressure"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/pid-pressure"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/unschedulable"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
	{.key = BT_STR_INIT("node.kubernetes.io/network-unavailable"),
		.operator_ = BT_STR_INIT("Exists"),
		.effect = BT_STR_INIT("NoSchedule")},
};

/** Required node affinity for exactly this node, in place of the template's. Everything else stays.
 */
static const struct bt_affinity *pin_to_node(
	const struct bt_affinity *old, struct bt_str node_name, struct bt_arena *arena)
{
	struct bt_affinity *affinity = BT_ARENA_NEW(arena, struct bt_affinity);
	struct bt_node_affinity *node_affinity = BT_ARENA_NEW(arena, struct bt_node_affinity);
	struct bt_node_selector *selector = BT_ARENA_NEW(arena, struct bt_node_selector);
	struct bt_node_selector_term *term = BT_ARENA_NEW(arena, struct bt_node_selector_term);
	struct bt_node_selector_requirement *field =
		BT_ARENA_NEW(arena, struct bt_node_selector_requirement);
	struct bt_str *value = BT_ARENA_NEW(arena, struct bt_str);
	if (old != NULL) {
		*affinity = *old;
		if (old->node_affinity != NULL) {
			*node_affinity = *old->node_affinity;
		}
	}
	*value = node_name;
	field->key = BT_STR("metadata.name");
	field->operator_ = BT_STR("In");
	field->values.items = value;
	field->values.count = 1;
	field->values.present = true;
	term->match_fields.items = field;
	term->match_fields.count = 1;
	term->match_fields.present = true;
	selector->terms.items = term;
	selector->terms.count = 1;
	selector->terms.present = true;
	node_affinity->required = selector;
	affinity->node_affinity = node_affinity;
	return affinity;
}

/** The node that a daemon pod was made for: it is bound, or its affinity names the node. */
static struct bt_str target_node(const struct bt_pod *pod)
{
	const struct bt_affinity *affinity = pod->spec.affinity;
	if (pod->spec.node_name.length != 0 || affinity == NULL ||
		affinity->node_affinity == NULL || affinity->node_affinity->required == NULL) {
		return pod->spec.node_name;
	}
	const struct bt_node_selector *required = affinity->node_affinity->required;
	for (uint32_t i = 0; i < required->terms.count; i++) {
		const struct bt_node_selector_term *term = &required->terms.items[i];
		for (uint32_t f = 0; f < term->match_fields.count; f++) {
			if (bt_str_equal_c(term->match_fields.items[f].key, "metadata.name") &&
				term->match_fields.items[f].values.count == 1) {
				return term->match_fields.items[f].values.items[0];
			}
		}
	}
	return BT_STR("");
}

static void mark_covered_nodes(struct daemon *daemon)
{
	struct bt_expansion *expansion = daemon->expansion;
	BT_FOR_EACH_OWNED(expansion, daemon->maker.owner, index)
	{
		const struct bt_pod *pod = bt_expansion_pod_at(expansion, index);
		if (pod == NULL || !bt_pod_is_active(pod)) {
			continue;
		}
		uint32_t node = bt_manifests_find(
			expansion->cluster, BT_KIND_NODE, BT_STR(""), target_node(pod));
		if (node != BT_MANIFESTS_NONE) {
			expansion->covered_for[node] = daemon->maker.owner + 1;
		}
	}
}

/** What the controller asks before it makes a pod: node name, node affinity, hard taints. */
static bool matches_node(struct daemon *daemon, const struct bt_node *node)
{
	struct bt_str wanted = daemon->spec.node_name;
	if (wanted.length != 0 && !bt_str_equal(wanted, node->metadata.name)) {
		return false;
	}
	if (!bt_required_node_affinity_matches(&daemon->affinity, node->metadata.name,
		    &node->metadata.labels, &daemon->scratch, NULL)) {
		return false;
	}
	return bt_find_untolerated_taint(&node->spec.taints, &daemon->spec.tolerations,
		       BT_TAINT_HARD, daemon->expansion->taint_comparison) == NULL;
}

static int visit_node(struct daemon *daemon, uint32_t index, struct berth_error *err)
{
	struct bt_expansion *expansion = daemon->expansion;
	const struct bt_node *node =
		bt_object_value(expansion->cluster->objects.items[index].object, BT_KIND_NODE);
	if (expansion->covered_for[index] == daemon->maker.owner + 1 ||
		!matches_node(daemon, node)) {
		return 0;
	}
	struct bt_pod *pod;
	struct bt_str name = bt_pod_maker_next_name(expansion, &daemon->maker);
	int result = bt_expansion_add(expansion, &daemon->maker, name, &pod, err);
	if (result == 0) {
		pod->spec.affinity =
			pin_to_node(daemon->spec.affinity, node->metadata.name, &expansion->arena);
	}
	return result;
}

static int visit_nodes(struct daemon *daemon, struct berth_error *err)
{
	struct bt_expansion *expansion = daemon->expansion;
	expansion->daemon_checks += expansion->nodes.count;
	if (expansion->daemon_checks > BT_WORKLOAD_DAEMON_CHECKS_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"more than %d pairs of DaemonSet and node", BT_WORKLOAD_DAEMON_CHECKS_MAX);
	}
	for (uint32_t i = 0; i < expansion->nodes.count; i++) {
		int result = visit_node(daemon, expansion->nodes.items[i], err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

int bt_expand_daemon_set(struct bt_expansion *expansion, uint32_t owner, struct berth_error *err)
{
	const struct bt_manifests_object *object = &expansion->cluster->objects.items[owner];
	const struct bt_daemon_set *set = bt_object_value(object->object, BT_KIND_DAEMON_SET);
	const struct bt_pod_template *template_ = &set->spec.template_;
	struct daemon daemon = {.expansion = expansion, .spec = template_->spec};
	char hash[BT_HASH_SUFFIX_LENGTH + 1];
	bt_arena_init(&daemon.scratch, 0);
	struct bt_pod_spec *spec = &daemon.spec;
	uint32_t old_count = spec->tolerations.count;
	uint32_t added = BT_ARRAY_LENGTH(daemon_tolerations) - (spec->host_network ? 0 : 1);
	struct bt_toleration *items = BT_ARENA_NEW_ARRAY(
		&expansion->arena, struct bt_toleration, (size_t)old_count + added);
	if (old_count != 0) {
		memcpy(items, spec->tolerations.items, old_count * sizeof(items[0]));
	}
	memcpy(items + old_count, daemon_tolerations, added * sizeof(items[0]));
	spec->tolerations.items = items;
	spec->tolerations.count = old_count + added;
	spec->tolerations.present = true;
	daemon.maker = bt_pod_maker_init(
		expansion, owner, BT_STR("apps/v1"), &template_->metadata, &daemon.spec);
	bt_suffix_make_hash(object->name, hash);
	struct bt_str_pair pair = {
		BT_STR("controller-revision-hash"), bt_arena_printf(&expansion->arena, "%s", hash)};
	daemon.maker.labels = bt_labels_with(&daemon.maker.labels, &pair, 1, &expansion->arena);
	daemon.affinity = bt_required_node_affinity_parse(&daemon.spec, &daemon.scratch);
	mark_covered_nodes(&daemon);
	int result = visit_nodes(&daemon, err);
	bt_arena_finish(&daemon.scratch);
	return result;
}
