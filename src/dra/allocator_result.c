/* SPDX-License-Identifier: Apache-2.0 */
/* Builds status.allocation from the chosen devices. Spec: 12 section 9.9. */
#include "dra/allocator_private.h"
#include "dra/device_capacity.h"

struct result_builder {
	const struct bt_allocator *allocator;
	const struct bt_allocation_choice *choice;
	const struct bt_prepared_claim *claim;
	uint32_t claim_number;
	struct bt_prng *share_ids;
	struct bt_arena *arena;
};

static void make_device(const struct result_builder *builder, const struct bt_chosen_device *chosen,
	struct bt_device_request_allocation_result *out)
{
	const struct bt_device_pools *pools = builder->allocator->pools;
	const struct bt_device_row *row = &pools->rows.items[chosen->row];
	const struct bt_resource_slice *slice = bt_pool_slice_value(pools, row->slice);
	const struct bt_option *option = chosen->option;

	out->request = bt_option_name(option, builder->arena);
	out->driver = slice->spec.driver;
	out->pool = slice->spec.pool.name;
	out->device = row->spec->name;
	if (option->is_admin) {
		out->admin_access = (struct bt_opt_bool){.present = true, .value = true};
	}
	out->tolerations.items = (struct bt_device_toleration *)option->tolerations;
	out->tolerations.count = option->toleration_count;
	out->tolerations.present = option->toleration_count != 0;
	if ((row->flags & BT_DEVICE_SHAREABLE) != 0) {
		struct bt_prng *prng = builder->share_ids;
		struct bt_prng fixed;
		struct bt_strbuf text = {0};

		if (prng == NULL) {
			prng = &fixed;
			bt_prng_init(prng, ++builder->allocator->pools->share_count);
		}
		uint64_t high = bt_prng_next(prng);
		bt_strbuf_append_uuid(&text, high, bt_prng_next(prng));
		struct bt_str share_id = bt_arena_take_strbuf(builder->arena, &text);
		out->share_id = share_id;
		const struct bt_device *device = row->spec;
		struct bt_resource_list *out_list = &out->consumed_capacity;
		uint32_t count = device->capacity.count;

		if (count != 0) {
			out_list->items =
				BT_ARENA_NEW_ARRAY(builder->arena, struct bt_resource_entry, count);
			out_list->count = count;
			out_list->present = true;
			for (uint32_t i = 0; i < count; i++) {
				const struct bt_device_capacity_entry *entry =
					&device->capacity.items[i];
				out_list->items[i].name = entry->key;
				out_list->items[i].quantity =
					bt_device_capacity_consumed(option->capacity != NULL
							? bt_resource_list_find(
								  option->capacity, entry->key)
							: NULL,
						&entry->value);
			}
		}
	}
	if (pools->with_binding) {
		out->binding_conditions = row->spec->binding_conditions;
		out->binding_failure_conditions = row->spec->binding_failure_conditions;
	}
}

/** Returns the option chosen for a request: its only option, or the subrequest that got devices. */
static const struct bt_option *option_of_request(
	const struct result_builder *builder, uint32_t request)
{
	const struct bt_prepared *prepared = builder->choice->prepared;
	const struct bt_prepared_request *item =
		&prepared->requests[builder->claim->first_request + request];

	for (uint32_t i = 0; item->has_alternatives && i < builder->choice->device_count; i++) {
		const struct bt_option *option = builder->choice->devices[i].option;
		if (option->claim == builder->claim_number && option->request == request) {
			return option;
		}
	}
	return &prepared->options[item->first_option];
}

/**
 * Returns the names of all requests that use the class of request `first`; empty if an earlier
 * request uses the class.
 */
static bt_str_list requests_of_class(const struct result_builder *builder, uint32_t first)
{
	const struct bt_device_class *device_class =
		option_of_request(builder, first)->device_class;
	bt_str_list names = {.present = true};

	names.items =
		BT_ARENA_NEW_ARRAY(builder->arena, struct bt_str, builder->claim->request_count);
	for (uint32_t r = 0; r < builder->claim->request_count; r++) {
		const struct bt_option *option = option_of_request(builder, r);
		if (option->device_class == device_class) {
			if (r < first) {
				return (bt_str_list){0};
			}
			names.items[names.count++] = bt_option_name(option, builder->arena);
		}
	}
	return names;
}

typedef BT_VEC(struct bt_device_allocation_configuration) configuration_vec;

static void add_claim_configs(const struct result_builder *builder, configuration_vec *out)
{
	const struct bt_device_claim *devices = &builder->claim->claim->spec.devices;

	for (uint32_t i = 0; i < devices->config.count; i++) {
		const struct bt_device_claim_configuration *config = &devices->config.items[i];
		struct bt_device_allocation_configuration entry = {
			.source = BT_STR("FromClaim"),
			.requests = config->requests,
			.configuration = config->configuration,
		};
		if (config->requests.count == 0) {
			bt_vec_push(out, entry);
			continue;
		}
		for (uint32_t r = 0; r < builder->claim->request_count; r++) {
			const struct bt_option *option = option_of_request(builder, r);
			if (bt_names_option(&config->requests, option,
				    bt_option_name(option, builder->arena))) {
				bt_vec_push(out, entry);
			}
		}
	}
}

typedef BT_VEC(struct bt_node_selector_requirement) requirement_vec;

/** Whether b contains every value of a. */
static bool has_values(const bt_str_list *a, const bt_str_list *b)
{
	for (uint32_t i = 0; i < a->count; i++) {
		if (!bt_str_list_has(b, a->items[i])) {
			return false;
		}
	}
	return true;
}

static void merge(
	requirement_vec *out, const struct bt_node_selector_requirement *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		bool is_there = false;
		for (uint32_t k = 0; k < out->count && !is_there; k++) {
			const struct bt_node_selector_requirement *other = &out->items[k];
			is_there = bt_str_equal(other->key, items[i].key) &&
				bt_str_equal(other->operator_, items[i].operator_) &&
				has_values(&other->values, &items[i].values) &&
				has_values(&items[i].values, &other->values);
		}
		if (!is_there) {
			bt_vec_push(out, items[i]);
		}
	}
}

static struct bt_node_selector *make_selector(const struct result_builder *builder,
	const requirement_vec *expressions, const requirement_vec *fields)
{
	struct bt_node_selector *selector = BT_ARENA_NEW(builder->arena, struct bt_node_selector);
	struct bt_node_selector_term *term =
		BT_ARENA_NEW(builder->arena, struct bt_node_selector_term);
	const requirement_vec *const vecs[] = {expressions, fields};
	bt_node_selector_requirement_list *const lists[] = {
		&term->match_expressions, &term->match_fields};

	selector->terms.items = term;
	selector->terms.count = 1;
	selector->terms.present = true;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		if (vecs[i]->count != 0) {
			size_t bytes = vecs[i]->count * sizeof(vecs[i]->items[0]);

			lists[i]->items = bt_arena_alloc(builder->arena, bytes);
			memcpy(lists[i]->items, vecs[i]->items, bytes);
			lists[i]->count = vecs[i]->count;
			lists[i]->present = true;
		}
	}
	return selector;
}

/**
 * Add the node requirements of one device. Returns 0 or BERTH_ERR_INVALID. *out_is_bound: the
 * device is usable on this node only.
 */
static int merge_device(const struct result_builder *builder, uint32_t row_number,
	requirement_vec *expressions, requirement_vec *fields, bool *out_is_bound,
	struct berth_error *err)
{
	const struct bt_device_pools *pools = builder->allocator->pools;
	const struct bt_device_row *row = &pools->rows.items[row_number];
	const struct bt_resource_slice *slice = bt_pool_slice_value(pools, row->slice);
	bool is_own = (row->flags & BT_DEVICE_OWN_SCOPE) != 0;
	struct bt_str node_name = is_own ? row->spec->node_name : slice->spec.node_name;
	const struct bt_node_selector *selector =
		is_own ? row->spec->node_selector : slice->spec.node_selector;

	*out_is_bound = node_name.length != 0 ||
		(row->spec->binds_to_node.present && row->spec->binds_to_node.value);
	if (*out_is_bound || selector == NULL || selector->terms.count == 0) {
		return 0;
	}
	if (selector->terms.count > 1) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"create NodeSelector for claim %.*s: unsupported "
			"ResourceSlice.NodeSelector with %u terms",
			BT_STR_ARG(builder->claim->claim->metadata.name), selector->terms.count);
	}
	merge(fields, selector->terms.items[0].match_fields.items,
		selector->terms.items[0].match_fields.count);
	merge(expressions, selector->terms.items[0].match_expressions.items,
		selector->terms.items[0].match_expressions.count);
	return 0;
}

int bt_allocation_choice_result(const struct bt_allocator *allocator,
	const struct bt_allocation_choice *choice, uint32_t claim, struct bt_prng *share_ids,
	struct bt_arena *arena, struct bt_allocation_result *out_result, struct berth_error *err)
{
	struct result_builder builder = {
		.allocator = allocator,
		.choice = choice,
		.claim = &choice->prepared->items[claim],
		.claim_number = claim,
		.share_ids = share_ids,
		.arena = arena,
	};
	struct bt_allocation_result result = {0};
	/* The claim's devices are the range from first to end. */
	uint32_t first = 0;

	while (first < choice->device_count && choice->devices[first].option->claim != claim) {
		first++;
	}
	uint32_t end = first;
	while (end < choice->device_count && choice->devices[end].option->claim == claim) {
		end++;
	}
	const struct bt_chosen_device *devices = &choice->devices[first];
	uint32_t count = end - first;

	if (count != 0) {
		result.devices.results.items = BT_ARENA_NEW_ARRAY(
			arena, struct bt_device_request_allocation_result, count);
		result.devices.results.count = count;
		result.devices.results.present = true;
	}
	for (uint32_t i = 0; i < count; i++) {
		make_device(&builder, &devices[i], &result.devices.results.items[i]);
	}
	struct bt_device_allocation_result *out = &result.devices;
	configuration_vec configs = {0};
	size_t bytes;

	for (uint32_t r = 0; r < builder.claim->request_count; r++) {
		const struct bt_device_class *device_class =
			option_of_request(&builder, r)->device_class;
		bt_str_list requests = {0};
		if (device_class->spec.config.count != 0) {
			requests = requests_of_class(&builder, r);
		}
		for (uint32_t k = 0; requests.count != 0 && k < device_class->spec.config.count;
			k++) {
			struct bt_device_allocation_configuration entry = {
				.source = BT_STR("FromClass"),
				.requests = requests,
				.configuration = device_class->spec.config.items[k].configuration,
			};
			bt_vec_push(&configs, entry);
		}
	}
	add_claim_configs(&builder, &configs);
	if (configs.count != 0) {
		bytes = configs.count * sizeof(configs.items[0]);
		out->config.items = bt_arena_alloc(builder.arena, bytes);
		memcpy(out->config.items, configs.items, bytes);
		out->config.count = configs.count;
		out->config.present = true;
	}
	bt_vec_finish(&configs);
	requirement_vec expressions = {0};
	requirement_vec fields = {0};
	bool is_bound = false;
	int code = 0;

	for (uint32_t i = 0; i < count && code == 0 && !is_bound; i++) {
		code = merge_device(
			&builder, devices[i].row, &expressions, &fields, &is_bound, err);
	}
	if (is_bound) {
		struct bt_str *name = BT_ARENA_NEW(builder.arena, struct bt_str);
		struct bt_node_selector_requirement requirement = {
			.key = BT_STR("metadata.name"),
			.operator_ = BT_STR("In"),
			.values = {.items = name, .count = 1, .present = true},
		};

		*name = bt_arena_str(builder.arena,
			bt_node_table_name(&builder.allocator->pools->dra->state->nodes,
				builder.choice->slot));
		/* The requirements of earlier devices do not count. */
		expressions.count = 0;
		fields.count = 0;
		bt_vec_push(&fields, requirement);
	}
	if (code == 0 && (expressions.count != 0 || fields.count != 0)) {
		result.node_selector = make_selector(&builder, &expressions, &fields);
	}
	bt_vec_finish(&expressions);
	bt_vec_finish(&fields);
	if (code == 0) {
		*out_result = result;
	}
	return code;
}
