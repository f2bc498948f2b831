/* SPDX-License-Identifier: Apache-2.0 */
#include "api/defaulting.h"

#include "api/resources.h"

/** Defaults of device requests. Spec: 12 section 3.2. */

/** A macro, because requests and subrequests are different types with the same fields. */
#define DEFAULT_MODE(request) \
	do { \
		if ((request)->allocation_mode.length == 0) { \
			(request)->allocation_mode = \
				BT_DEFAULT_EXACT_DEVICE_REQUEST_ALLOCATION_MODE; \
		} \
		if (bt_str_equal_c((request)->allocation_mode, "ExactCount") && \
			(request)->count == 0) { \
			(request)->count = 1; \
		} \
	} while (0)

void bt_device_claim_default(struct bt_device_claim *devices, struct bt_arena *arena)
{
	uint32_t count = devices->requests.count;

	if (count == 0) {
		return;
	}
	struct bt_device_request *requests =
		BT_ARENA_NEW_ARRAY(arena, struct bt_device_request, count);
	for (uint32_t i = 0; i < count; i++) {
		requests[i] = devices->requests.items[i];
		const struct bt_exact_device_request *exactly = requests[i].exactly;
		if (exactly != NULL) {
			struct bt_exact_device_request *copy =
				BT_ARENA_NEW(arena, struct bt_exact_device_request);
			*copy = *exactly;
			DEFAULT_MODE(copy);
			requests[i].exactly = copy;
		}
		uint32_t alternative_count = requests[i].first_available.count;
		if (alternative_count != 0) {
			struct bt_device_sub_request *alternatives = BT_ARENA_NEW_ARRAY(
				arena, struct bt_device_sub_request, alternative_count);
			for (uint32_t k = 0; k < alternative_count; k++) {
				alternatives[k] = requests[i].first_available.items[k];
				DEFAULT_MODE(&alternatives[k]);
			}
			requests[i].first_available.items = alternatives;
		}
	}
	devices->requests.items = requests;
}

static bool term_has_keys(const struct bt_pod_affinity_term *term)
{
	return term->label_selector != NULL &&
		(term->match_label_keys.count != 0 || term->mismatch_label_keys.count != 0);
}

static bool affinity_has_keys(const struct bt_pod_affinity *affinity)
{
	if (affinity == NULL) {
		return false;
	}
	for (uint32_t i = 0; i < affinity->required.count; i++) {
		if (term_has_keys(&affinity->required.items[i])) {
			return true;
		}
	}
	for (uint32_t i = 0; i < affinity->preferred.count; i++) {
		if (term_has_keys(&affinity->preferred.items[i].term)) {
			return true;
		}
	}
	return false;
}

/** Appends a requirement for each key that is a label of the pod; returns the new count. */
static uint32_t add_requirements(struct bt_label_selector_requirement *out, uint32_t count,
	const bt_str_list *keys, struct bt_str operator_, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < keys->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, keys->items[i]);

		if (value == NULL) {
			continue;
		}
		out[count] = (struct bt_label_selector_requirement){
			.key = keys->items[i], .operator_ = operator_};
		/* the cast is safe: decoded objects are never changed */
		out[count].values.items = (struct bt_str *)(uintptr_t)value;
		out[count].values.count = 1;
		out[count].values.present = true;
		count++;
	}
	return count;
}

static void merge_term(
	struct bt_pod_affinity_term *term, const struct bt_str_map *labels, struct bt_arena *arena)
{
	if (!term_has_keys(term)) {
		return;
	}
	struct bt_label_selector *selector = BT_ARENA_NEW(arena, struct bt_label_selector);
	uint32_t count = term->label_selector->match_expressions.count;
	struct bt_label_selector_requirement *items = bt_arena_copy_array(arena,
		term->label_selector->match_expressions.items, count,
		term->match_label_keys.count + term->mismatch_label_keys.count, sizeof(items[0]));

	*selector = *term->label_selector;
	count = add_requirements(items, count, &term->match_label_keys, BT_STR("In"), labels);
	count = add_requirements(items, count, &term->mismatch_label_keys, BT_STR("NotIn"), labels);
	selector->match_expressions.items = items;
	selector->match_expressions.count = count;
	selector->match_expressions.present = true;
	term->label_selector = selector;
}

static const struct bt_pod_affinity *merge_affinity(
	const struct bt_pod_affinity *old, const struct bt_str_map *labels, struct bt_arena *arena)
{
	if (!affinity_has_keys(old)) {
		return old;
	}
	struct bt_pod_affinity *affinity = BT_ARENA_NEW(arena, struct bt_pod_affinity);
	struct bt_pod_affinity_term *required =
		BT_ARENA_NEW_ARRAY(arena, struct bt_pod_affinity_term, old->required.count);
	struct bt_weighted_pod_affinity_term *preferred = BT_ARENA_NEW_ARRAY(
		arena, struct bt_weighted_pod_affinity_term, old->preferred.count);

	*affinity = *old;
	for (uint32_t i = 0; i < old->required.count; i++) {
		required[i] = old->required.items[i];
		merge_term(&required[i], labels, arena);
	}
	for (uint32_t i = 0; i < old->preferred.count; i++) {
		preferred[i] = old->preferred.items[i];
		merge_term(&preferred[i].term, labels, arena);
	}
	affinity->required.items = required;
	affinity->preferred.items = preferred;
	return affinity;
}

void bt_pod_default_affinity(struct bt_pod *pod, struct bt_arena *arena)
{
	const struct bt_affinity *old = pod->spec.affinity;

	if (old == NULL ||
		(!affinity_has_keys(old->pod_affinity) &&
			!affinity_has_keys(old->pod_anti_affinity))) {
		return;
	}
	struct bt_affinity *affinity = BT_ARENA_NEW(arena, struct bt_affinity);
	*affinity = *old;
	affinity->pod_affinity = merge_affinity(old->pod_affinity, &pod->metadata.labels, arena);
	affinity->pod_anti_affinity =
		merge_affinity(old->pod_anti_affinity, &pod->metadata.labels, arena);
	pod->spec.affinity = affinity;
}

#define MILLI_EXPONENT (-3)

/**
 * Rounds the quantity up to a multiple of 1/1000. false: the quantity needs no rounding, or is too
 * large to be rounded.
 */
static bool round_up(const struct bt_quantity *quantity, struct bt_quantity *out_rounded)
{
	if (quantity->big == NULL && quantity->exponent >= MILLI_EXPONENT) {
		return false;
	}
	*out_rounded = bt_quantity_make(bt_quantity_milli(quantity), MILLI_EXPONENT,
		(enum bt_quantity_format)quantity->format);
	/*
	 * If a positive value in thousandths overflows int64, *out_rounded is smaller than the
	 * quantity, so the function returns false.
	 */
	return bt_quantity_compare(out_rounded, quantity) > 0;
}

static void round_list(struct bt_resource_list *list, struct bt_arena *arena)
{
	struct bt_resource_entry *copy = NULL;

	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_quantity rounded;

		if (!round_up(&list->items[i].quantity, &rounded)) {
			continue;
		}
		if (copy == NULL) {
			copy = bt_arena_copy_array(
				arena, list->items, list->count, 0, sizeof(copy[0]));
		}
		copy[i].quantity = rounded;
	}
	if (copy != NULL) {
		list->items = copy;
	}
}

/** Adds to `list` the entries of `extra` that it lacks and that `keep` accepts (NULL: all). */
static void add_missing(struct bt_resource_list *list, const struct bt_resource_list *extra,
	bool (*keep)(struct bt_str name), struct bt_arena *arena)
{
	struct bt_resource_entry *merged;
	uint32_t missing = 0;
	uint32_t count = 0;
	uint32_t i = 0;

	for (uint32_t e = 0; e < extra->count; e++) {
		struct bt_str name = extra->items[e].name;

		missing +=
			bt_resource_list_find(list, name) == NULL && (keep == NULL || keep(name));
	}
	if (missing == 0) {
		return;
	}
	merged = BT_ARENA_NEW_ARRAY(
		arena, struct bt_resource_entry, (size_t)list->count + (size_t)missing);
	for (uint32_t e = 0; e < extra->count; e++) {
		const struct bt_resource_entry *entry = &extra->items[e];

		while (i < list->count && bt_str_compare(list->items[i].name, entry->name) < 0) {
			merged[count++] = list->items[i++];
		}
		if (i < list->count && bt_str_equal(list->items[i].name, entry->name)) {
			continue;
		}
		if (keep == NULL || keep(entry->name)) {
			merged[count++] = *entry;
		}
	}
	while (i < list->count) {
		merged[count++] = list->items[i++];
	}
	*list = (struct bt_resource_list){merged, count, true};
}

static void default_ports(bt_container_port_list *list, bool host_network, struct bt_arena *arena)
{
	struct bt_container_port *copy = NULL;

	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_container_port port = list->items[i];

		if (port.protocol.length != 0 && !(host_network && port.host_port == 0)) {
			continue;
		}
		if (port.protocol.length == 0) {
			port.protocol = BT_DEFAULT_CONTAINER_PORT_PROTOCOL;
		}
		if (host_network && port.host_port == 0) {
			port.host_port = port.container_port;
		}
		if (copy == NULL) {
			copy = bt_arena_copy_array(
				arena, list->items, list->count, 0, sizeof(copy[0]));
		}
		copy[i] = port;
	}
	if (copy != NULL) {
		list->items = copy;
	}
}

static void default_containers(bt_container_list *list, bool host_network, struct bt_arena *arena)
{
	struct bt_container *copy = NULL;

	for (uint32_t i = 0; i < list->count; i++) {
		const struct bt_container *before = &list->items[i];
		struct bt_resource_requirements resources = before->resources;
		bt_container_port_list ports = before->ports;

		default_ports(&ports, host_network, arena);
		round_list(&resources.limits, arena);
		round_list(&resources.requests, arena);
		add_missing(&resources.requests, &resources.limits, NULL, arena);
		/* the steps replace the items that they change */
		if (ports.items == before->ports.items &&
			resources.limits.items == before->resources.limits.items &&
			resources.requests.items == before->resources.requests.items) {
			continue;
		}
		if (copy == NULL) {
			copy = bt_arena_copy_array(
				arena, list->items, list->count, 0, sizeof(copy[0]));
		}
		copy[i].ports = ports;
		copy[i].resources = resources;
	}
	if (copy != NULL) {
		list->items = copy;
	}
}

/**
 * Whether the server copies the containers' requests of this resource to the pod level if the pod
 * has pod-level resources.
 */
static bool is_copied_request(struct bt_str name)
{
	return bt_resource_is_pod_level_supported(name) && bt_resource_is_overcommit_allowed(name);
}

void bt_pod_spec_default(struct bt_pod_spec *spec, bool pod_level, struct bt_arena *arena)
{
	default_containers(&spec->containers, spec->host_network, arena);
	default_containers(&spec->init_containers, spec->host_network, arena);
	round_list(&spec->overhead, arena);
	if (spec->scheduler_name.length == 0) {
		spec->scheduler_name = BT_DEFAULT_POD_SPEC_SCHEDULER_NAME;
	}
	if (!pod_level || spec->resources == NULL) {
		return;
	}
	const struct bt_request_options containers_only = {
		.no_overhead = true, .no_pod_level = true};
	struct bt_resource_requirements *own = BT_ARENA_NEW(arena, struct bt_resource_requirements);
	struct bt_pod pod = {.spec = *spec};

	*own = *spec->resources;
	round_list(&own->limits, arena);
	round_list(&own->requests, arena);
	if (own->limits.count != 0 || own->requests.count != 0) {
		struct bt_resource_list wanted = bt_pod_limits(&pod, &containers_only, arena);
		struct bt_resource_list known = own->requests;
		struct bt_resource_entry *left =
			BT_ARENA_NEW_ARRAY(arena, struct bt_resource_entry, wanted.count);
		struct bt_resource_list unnamed = {left, 0, true};

		for (uint32_t i = 0; i < wanted.count; i++) {
			if (bt_resource_list_find(&known, wanted.items[i].name) == NULL) {
				left[unnamed.count++] = wanted.items[i];
			}
		}
		add_missing(&own->limits, &unnamed, bt_resource_is_hugepage, arena);
	}
	if (own->limits.count != 0) {
		struct bt_resource_list wanted = bt_pod_requests(&pod, &containers_only, arena);

		add_missing(&own->requests, &wanted, is_copied_request, arena);
		add_missing(
			&own->requests, &own->limits, bt_resource_is_pod_level_supported, arena);
	}
	spec->resources = own;
}

void bt_node_default(struct bt_node *node, struct bt_arena *arena)
{
	round_list(&node->status.capacity, arena);
	if (!node->status.allocatable.present) {
		node->status.allocatable = node->status.capacity;
	}
	round_list(&node->status.allocatable, arena);
}
