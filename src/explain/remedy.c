/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/remedy.h"

#include "api/resources.h"

#define NODE BT_REMEDY_HAS_NODE
#define RESOURCE BT_REMEDY_HAS_RESOURCE
#define AMOUNT BT_REMEDY_HAS_AMOUNT
#define POD BT_REMEDY_HAS_POD
#define KEY BT_REMEDY_HAS_KEY
#define VALUE BT_REMEDY_HAS_VALUE
#define EFFECT BT_REMEDY_HAS_EFFECT
#define INDEX BT_REMEDY_HAS_INDEX

static const struct {
	const char *name;
	uint32_t members;
} kinds[BT_REMEDY__COUNT] = {
#define BT_REMEDY(name, text, members) [BT_REMEDY_##name] = {text, members},
#include "explain/remedies.def"
#undef BT_REMEDY
};

const char *bt_remedy_kind_name(enum bt_remedy_kind kind)
{
	return kinds[kind].name;
}

uint32_t bt_remedy_members(enum bt_remedy_kind kind)
{
	return kinds[kind].members;
}

struct bt_remedy bt_remedy_copy(const struct bt_remedy *remedy, struct bt_arena *arena)
{
	struct bt_remedy copy = *remedy;

	copy.node = bt_arena_str(arena, remedy->node);
	copy.resource = bt_arena_str(arena, remedy->resource);
	copy.pod_namespace = bt_arena_str(arena, remedy->pod_namespace);
	copy.pod_name = bt_arena_str(arena, remedy->pod_name);
	copy.key = bt_arena_str(arena, remedy->key);
	copy.value = bt_arena_str(arena, remedy->value);
	copy.effect = bt_arena_str(arena, remedy->effect);
	return copy;
}

int bt_remedy_compare(const void *a, const void *b)
{
	const struct bt_remedy *x = a;
	const struct bt_remedy *y = b;

	if (x->kind != y->kind) {
		return x->kind < y->kind ? -1 : 1;
	}
	const struct bt_str texts[][2] = {
		{x->node, y->node},
		{x->resource, y->resource},
		{x->pod_namespace, y->pod_namespace},
		{x->pod_name, y->pod_name},
		{x->key, y->key},
		{x->value, y->value},
		{x->effect, y->effect},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		int order = bt_str_compare(texts[i][0], texts[i][1]);

		if (order != 0) {
			return order;
		}
	}
	if (x->index != y->index) {
		return x->index < y->index ? -1 : 1;
	}
	return BT_ORDER(x->amount, y->amount);
}

bool bt_remedy_equal(const struct bt_remedy *a, const struct bt_remedy *b)
{
	return bt_remedy_compare(a, b) == 0;
}

bt_remedy_list bt_remedies_copy(struct bt_arena *arena, const bt_remedy_list *remedies)
{
	bt_remedy_list copy = {0};

	copy.items = bt_arena_copy_array(
		arena, remedies->items, remedies->count, 0, sizeof(*copy.items));
	copy.count = remedies->count;
	return copy;
}

bool bt_remedies_contain(const bt_remedy_list *remedies, const struct bt_remedy *remedy)
{
	for (uint32_t i = 0; i < remedies->count; i++) {
		if (bt_remedy_equal(&remedies->items[i], remedy)) {
			return true;
		}
	}
	return false;
}

bool bt_remedies_equal(const bt_remedy_list *a, const bt_remedy_list *b)
{
	bool equal = a->count == b->count;

	for (uint32_t i = 0; i < a->count && equal; i++) {
		equal = bt_remedy_equal(&a->items[i], &b->items[i]);
	}
	return equal;
}

bool bt_remedies_equal_but_node(const bt_remedy_list *a, const bt_remedy_list *b)
{
	bool equal = a->count == b->count;

	for (uint32_t i = 0; i < a->count && equal; i++) {
		struct bt_remedy other = b->items[i];

		other.node = a->items[i].node;
		equal = bt_remedy_equal(&a->items[i], &other);
	}
	return equal;
}

bool bt_remedy_is_of_pod(enum bt_remedy_kind kind)
{
	return (kinds[kind].members & BT_REMEDY_HAS_NODE) == 0;
}

bool bt_remedy_has_least_amount(enum bt_remedy_kind kind)
{
	return kind == BT_REMEDY_FREE_RESOURCE || kind == BT_REMEDY_LOWER_REQUEST ||
		kind == BT_REMEDY_RAISE_MAX_SKEW;
}

int64_t bt_remedy_requested_of(const struct bt_pod *pod, struct bt_str resource)
{
	const struct bt_pod_spec *spec = &pod->spec;
	const struct bt_quantity *request = NULL;

	/*
	 * LowerRequest changes the request of the only container. Resources that cannot be
	 * overcommitted must have equal requests and limits, so their requests cannot be lowered
	 * alone.
	 */
	if (spec->containers.count == 1 && spec->init_containers.count == 0 &&
		spec->resources == NULL && bt_resource_is_overcommit_allowed(resource)) {
		request = bt_resource_list_find(
			&spec->containers.items[0].resources.requests, resource);
	}
	if (request == NULL) {
		return 0;
	}
	return bt_str_equal_c(resource, "cpu") ? bt_quantity_milli(request)
					       : bt_quantity_value(request);
}

#define UNSCHEDULABLE_TAINT "node.kubernetes.io/unschedulable"

/** Copies the list, with memory for one more element. */
#define COPY_LIST(arena, list) \
	((list)->items = bt_arena_copy_array( \
		 (arena), (list)->items, (list)->count, 1, sizeof(*(list)->items)))

bool bt_remedies_have(const bt_remedy_list *remedies, enum bt_remedy_kind kind)
{
	for (uint32_t i = 0; i < remedies->count; i++) {
		if (remedies->items[i].kind == kind) {
			return true;
		}
	}
	return false;
}

/** Returns the affinity without the terms that remedies drop. */
static const struct bt_pod_affinity *without_terms(const struct bt_pod_affinity *affinity,
	const bt_remedy_list *remedies, enum bt_remedy_kind kind, struct bt_arena *arena)
{
	struct bt_pod_affinity *copy;
	uint32_t kept = 0;

	if (affinity == NULL || !bt_remedies_have(remedies, kind)) {
		return affinity;
	}
	copy = BT_ARENA_NEW(arena, struct bt_pod_affinity);
	*copy = *affinity;
	COPY_LIST(arena, &copy->required);
	for (uint32_t i = 0; i < affinity->required.count; i++) {
		if (!bt_remedies_contain(remedies, &(struct bt_remedy){.kind = kind, .index = i})) {
			copy->required.items[kept++] = affinity->required.items[i];
		}
	}
	copy->required.count = kept;
	return copy;
}

static void drop_port(
	const struct bt_remedy *remedy, bt_container_list *containers, struct bt_arena *arena)
{
	COPY_LIST(arena, containers);
	for (uint32_t i = 0; i < containers->count; i++) {
		struct bt_container *container = &containers->items[i];

		COPY_LIST(arena, &container->ports);
		for (uint32_t k = container->ports.count; k-- > 0;) {
			const struct bt_container_port *port = &container->ports.items[k];
			struct bt_str protocol =
				port->protocol.length != 0 ? port->protocol : BT_STR("TCP");

			if (port->host_port == remedy->amount &&
				bt_str_equal(protocol, remedy->value)) {
				bt_vec_remove_ordered(&container->ports, k);
			}
		}
	}
}

static void drop_volume(struct bt_pod_spec *spec, struct bt_str name, struct bt_arena *arena)
{
	COPY_LIST(arena, &spec->volumes);
	for (uint32_t i = spec->volumes.count; i-- > 0;) {
		if (bt_str_equal(spec->volumes.items[i].name, name)) {
			bt_vec_remove_ordered(&spec->volumes, i);
		}
	}
}

static void remove_gate(struct bt_pod_spec *spec, struct bt_str name, struct bt_arena *arena)
{
	COPY_LIST(arena, &spec->scheduling_gates);
	for (uint32_t i = spec->scheduling_gates.count; i-- > 0;) {
		if (bt_str_equal(spec->scheduling_gates.items[i].name, name)) {
			bt_vec_remove_ordered(&spec->scheduling_gates, i);
		}
	}
}

static void relax_spread(
	const struct bt_remedy *remedy, struct bt_pod_spec *spec, struct bt_arena *arena)
{
	struct bt_topology_spread_constraint *constraint;

	if (remedy->index >= spec->topology_spread_constraints.count) {
		return;
	}
	COPY_LIST(arena, &spec->topology_spread_constraints);
	constraint = &spec->topology_spread_constraints.items[remedy->index];
	if (remedy->kind == BT_REMEDY_ALLOW_SKEW) {
		constraint->when_unsatisfiable = BT_STR("ScheduleAnyway");
	} else {
		constraint->max_skew =
			remedy->amount < INT32_MAX ? (int32_t)remedy->amount : INT32_MAX;
	}
}

/** Returns the remedy's amount as a quantity of a resource list (cpu is in milli). */
static struct bt_quantity quantity_of(const struct bt_remedy *remedy)
{
	return bt_quantity_make(remedy->amount, bt_str_equal_c(remedy->resource, "cpu") ? -3 : 0,
		BT_QUANTITY_DECIMAL_SI);
}

static void lower_request(
	const struct bt_remedy *remedy, struct bt_pod *pod, struct bt_arena *arena)
{
	struct bt_quantity amount = quantity_of(remedy);
	struct bt_resource_list *requests;

	if (remedy->amount >= bt_remedy_requested_of(pod, remedy->resource)) {
		return;
	}
	COPY_LIST(arena, &pod->spec.containers);
	requests = &pod->spec.containers.items[0].resources.requests;
	COPY_LIST(arena, requests);
	for (uint32_t i = 0; i < requests->count; i++) {
		if (bt_str_equal(requests->items[i].name, remedy->resource)) {
			bt_quantity_sub(&requests->items[i].quantity, &amount, arena);
		}
	}
}

void bt_remedies_apply_to_pod(
	const bt_remedy_list *remedies, struct bt_pod *pod, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < remedies->count; i++) {
		const struct bt_remedy *remedy = &remedies->items[i];
		struct bt_pod_spec *spec = &pod->spec;

		switch (remedy->kind) {
		case BT_REMEDY_TOLERATE:
			COPY_LIST(arena, &spec->tolerations);
			spec->tolerations.present = true;
			spec->tolerations.items[spec->tolerations.count++] = (struct bt_toleration){
				.key = remedy->key,
				.operator_ = remedy->value.length == 0 ? BT_STR("Exists")
								       : BT_STR("Equal"),
				.value = remedy->value,
				.effect = remedy->effect,
			};
			break;
		case BT_REMEDY_DROP_NODE_SELECTOR:
			spec->node_selector =
				bt_str_map_set(&spec->node_selector, remedy->key, NULL, arena);
			break;
		case BT_REMEDY_RAISE_MAX_SKEW:
		case BT_REMEDY_ALLOW_SKEW:
			relax_spread(remedy, spec, arena);
			break;
		case BT_REMEDY_DROP_HOST_PORT:
			drop_port(remedy, &spec->containers, arena);
			drop_port(remedy, &spec->init_containers, arena);
			break;
		case BT_REMEDY_DROP_VOLUME:
		case BT_REMEDY_PROVISION_VOLUME:
			drop_volume(spec, remedy->key, arena);
			break;
		case BT_REMEDY_LOWER_REQUEST:
			lower_request(remedy, pod, arena);
			break;
		case BT_REMEDY_REMOVE_GATE:
			remove_gate(spec, remedy->key, arena);
			break;
		case BT_REMEDY_SET_SCHEDULER_NAME:
			spec->scheduler_name = remedy->value;
			break;
		/* applied together below */
		case BT_REMEDY_DROP_NODE_AFFINITY:
		case BT_REMEDY_DROP_POD_AFFINITY:
		case BT_REMEDY_DROP_POD_ANTI_AFFINITY:
		/* not a change of the pod */
		case BT_REMEDY_FREE_RESOURCE:
		case BT_REMEDY_REMOVE_POD:
		case BT_REMEDY_UNCORDON:
		case BT_REMEDY_SET_LABEL:
		case BT_REMEDY_REMOVE_LABEL:
		case BT_REMEDY__COUNT:
			break;
		}
	}
	struct bt_affinity *copy;

	if (pod->spec.affinity == NULL) {
		return;
	}
	copy = BT_ARENA_NEW(arena, struct bt_affinity);
	*copy = *pod->spec.affinity;
	if (copy->node_affinity != NULL &&
		bt_remedies_have(remedies, BT_REMEDY_DROP_NODE_AFFINITY)) {
		struct bt_node_affinity *preferred = BT_ARENA_NEW(arena, struct bt_node_affinity);

		*preferred = *copy->node_affinity;
		preferred->required = NULL;
		copy->node_affinity = preferred;
	}
	copy->pod_affinity =
		without_terms(copy->pod_affinity, remedies, BT_REMEDY_DROP_POD_AFFINITY, arena);
	copy->pod_anti_affinity = without_terms(
		copy->pod_anti_affinity, remedies, BT_REMEDY_DROP_POD_ANTI_AFFINITY, arena);
	pod->spec.affinity = copy;
}

void bt_remedies_apply_to_node(
	const bt_remedy_list *remedies, struct bt_node *node, struct bt_arena *arena)
{
	for (uint32_t i = 0; i < remedies->count; i++) {
		const struct bt_remedy *remedy = &remedies->items[i];

		if (bt_remedy_is_of_pod(remedy->kind) ||
			!bt_str_equal(remedy->node, node->metadata.name)) {
			continue;
		}
		if (remedy->kind == BT_REMEDY_FREE_RESOURCE) {
			struct bt_resource_list *list = &node->status.allocatable;
			struct bt_quantity amount = quantity_of(remedy);

			COPY_LIST(arena, list);
			bt_resource_list_add(
				list, list->count + 1, remedy->resource, &amount, arena);
		} else if (remedy->kind == BT_REMEDY_UNCORDON) {
			struct bt_node_spec *spec = &node->spec;
			spec->unschedulable = false;
			COPY_LIST(arena, &spec->taints);
			for (uint32_t k = spec->taints.count; k-- > 0;) {
				if (bt_str_equal_c(
					    spec->taints.items[k].key, UNSCHEDULABLE_TAINT)) {
					bt_vec_remove_ordered(&spec->taints, k);
				}
			}
		} else if (remedy->kind == BT_REMEDY_SET_LABEL) {
			node->metadata.labels = bt_str_map_set(
				&node->metadata.labels, remedy->key, &remedy->value, arena);
		} else if (remedy->kind == BT_REMEDY_REMOVE_LABEL) {
			node->metadata.labels =
				bt_str_map_set(&node->metadata.labels, remedy->key, NULL, arena);
		}
	}
}
