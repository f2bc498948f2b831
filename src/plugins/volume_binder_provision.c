/* SPDX-License-Identifier: Apache-2.0 */
/* Volumes that can be made for a claim on a node. Spec: 07 sections 7.5 and 7.6; topologies: 07
 * section 2.9. */
#include "plugins/volume_binder_private.h"

/** Requirements of a term; none when it can match nothing. */
static struct bt_topology_term parse_term(
	const struct bt_topology_selector_term *term, struct bt_arena *arena)
{
	struct bt_topology_term parsed = {0};

	parsed.items = BT_ARENA_NEW_ARRAY(
		arena, struct bt_topology_requirement, term->match_label_expressions.count);
	for (uint32_t i = 0; i < term->match_label_expressions.count; i++) {
		const struct bt_topology_selector_label_requirement *expression =
			&term->match_label_expressions.items[i];

		if (!bt_label_key_is_valid(expression->key) || expression->values.count == 0) {
			return (struct bt_topology_term){0};
		}
		for (uint32_t k = 0; k < expression->values.count; k++) {
			if (!bt_label_value_is_valid(expression->values.items[k])) {
				return (struct bt_topology_term){0};
			}
		}
		parsed.items[parsed.count++] =
			(struct bt_topology_requirement){expression->key, &expression->values};
	}
	return parsed;
}

static bool term_matches(const struct bt_topology_term *term, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < term->count; i++) {
		const struct bt_str *value = bt_str_map_find(labels, term->items[i].key);
		uint32_t k = 0;

		while (value != NULL && k < term->items[i].values->count &&
			!bt_str_equal(term->items[i].values->items[k], *value)) {
			k++;
		}
		if (value == NULL || k == term->items[i].values->count) {
			return false;
		}
	}
	return term->count != 0;
}

static bool topologies_match(const struct bt_provision_plan *plan, const struct bt_str_map *labels)
{
	for (uint32_t i = 0; i < plan->topology_count; i++) {
		if (term_matches(&plan->topologies[i], labels)) {
			return true;
		}
	}
	return plan->topology_count == 0;
}

/** maximumVolumeSize if set, else capacity; may be NULL. */
static const struct bt_quantity *limit_of(const struct bt_csi_storage_capacity *capacity)
{
	return capacity->maximum_volume_size != NULL ? capacity->maximum_volume_size
						     : capacity->capacity;
}

static void collect_pools(struct bt_real_binder *binder, struct bt_provision_plan *plan,
	struct bt_str class_name, const struct bt_quantity *request, struct bt_arena *arena)
{
	struct bt_object_store *store = &binder->handle->state->objects;
	int64_t size = bt_quantity_value(request);
	const struct bt_csi_storage_capacity *capacity;
	uint32_t cursor = 0;

	plan->needs_capacity = true;
	plan->pools = BT_ARENA_NEW_ARRAY(arena, struct bt_capacity_pool,
		bt_object_store_count(store, BT_KIND_CSI_STORAGE_CAPACITY));
	while ((capacity = bt_object_store_next(store, BT_KIND_CSI_STORAGE_CAPACITY,
			(struct bt_str){0}, &cursor)) != NULL) {
		struct bt_capacity_pool *pool = &plan->pools[plan->pool_count];

		if (!bt_str_equal(capacity->storage_class_name, class_name) ||
			limit_of(capacity) == NULL ||
			bt_quantity_value(limit_of(capacity)) < size ||
			capacity->node_topology == NULL) {
			continue;
		}
		/* One that does not parse matches no node; upstream only logs it. */
		if (bt_selector_from_label_selector(
			    capacity->node_topology, arena, &pool->topology, NULL) == 0) {
			pool->capacity = capacity;
			plan->pool_count++;
		}
	}
}

static int prepare(struct bt_real_binder *binder, struct bt_provision_plan *plan,
	struct bt_arena *arena, struct berth_error *err)
{
	const struct bt_persistent_volume_claim *claim = plan->claim;
	const struct bt_state *state = binder->handle->state;
	struct bt_str class_name = bt_persistent_volume_claim_class(claim);
	const struct bt_quantity *request = bt_claim_request(claim);
	const struct bt_storage_class *storage_class;
	const struct bt_csi_driver *driver;

	if (class_name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no class for claim \"%.*s/%.*s\"",
			BT_STR_ARG(claim->metadata.namespace_), BT_STR_ARG(claim->metadata.name));
	}
	storage_class = bt_find_storage_class(state, class_name);
	if (storage_class == NULL) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"failed to find storage class \"%.*s\"", BT_STR_ARG(class_name));
	}
	plan->prepared = true;
	if (storage_class->provisioner.length == 0 ||
		bt_str_equal_c(storage_class->provisioner, "kubernetes.io/no-provisioner")) {
		plan->impossible = true;
		return 0;
	}
	plan->topology_count = storage_class->allowed_topologies.count;
	plan->topologies = BT_ARENA_NEW_ARRAY(arena, struct bt_topology_term, plan->topology_count);
	for (uint32_t i = 0; i < plan->topology_count; i++) {
		plan->topologies[i] =
			parse_term(&storage_class->allowed_topologies.items[i], arena);
	}
	driver = bt_find_csi_driver(state, storage_class->provisioner);
	if (request != NULL && driver != NULL && driver->spec.storage_capacity.present &&
		driver->spec.storage_capacity.value) {
		collect_pools(binder, plan, storage_class->metadata.name, request, arena);
	}
	return 0;
}

int bt_check_provision(struct bt_real_binder *binder, struct bt_provision_plan *plan,
	const struct bt_str_map *labels, struct bt_arena *arena,
	enum bt_provision_answer *out_answer, const struct bt_csi_storage_capacity **out_capacity,
	struct berth_error *err)
{
	int code = plan->prepared ? 0 : prepare(binder, plan, arena, err);

	if (code != 0) {
		return code;
	}
	*out_capacity = NULL;
	if (plan->impossible || !topologies_match(plan, labels)) {
		*out_answer = BT_PROVISION_IMPOSSIBLE;
		return 0;
	}
	*out_answer = BT_PROVISION_POSSIBLE;
	if (!plan->needs_capacity) {
		return 0;
	}
	for (uint32_t i = 0; i < plan->pool_count; i++) {
		if (bt_selector_matches(&plan->pools[i].topology, labels)) {
			*out_capacity = plan->pools[i].capacity;
			return 0;
		}
	}
	*out_answer = BT_PROVISION_NO_SPACE;
	return 0;
}
