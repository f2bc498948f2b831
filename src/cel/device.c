/* SPDX-License-Identifier: Apache-2.0 */
#include "cel/device.h"

#include "cel/evaluate_private.h"

#define TYPE(kind_) (&bt_cel_types[BT_CEL_##kind_])
#define MAP_OF(value_) \
	{ \
		.kind = BT_CEL_MAP, .of = { TYPE(STRING), (value_) } \
	}

static const struct bt_cel_type any_ids = MAP_OF(TYPE(ANY));
static const struct bt_cel_type dyn_ids = MAP_OF(TYPE(DYN));
static const struct bt_cel_type quantity_ids = MAP_OF(TYPE(QUANTITY));

#define FIELDS(ids_) \
	{ \
		[BT_CEL_DEVICE_DRIVER] = {"driver", {.kind = BT_CEL_STRING}}, \
		[BT_CEL_DEVICE_ALLOW_MULTIPLE_ALLOCATIONS] = {"allowMultipleAllocations", \
			{.kind = BT_CEL_BOOL}}, \
		[BT_CEL_DEVICE_ATTRIBUTES] = {"attributes", MAP_OF(&(ids_))}, \
		[BT_CEL_DEVICE_CAPACITY] = {"capacity", MAP_OF(&quantity_ids)}, \
	}

static const struct bt_cel_device_field_info any_fields[] = FIELDS(any_ids);
static const struct bt_cel_device_field_info dyn_fields[] = FIELDS(dyn_ids);

const struct bt_cel_device_field_info *bt_cel_device_fields(bool list_attributes)
{
	return list_attributes ? dyn_fields : any_fields;
}

const struct bt_cel_environment *bt_cel_device_environment(bool list_attributes)
{
	static const struct bt_cel_variable variable = {
		BT_STR_INIT("device"), &bt_cel_types[BT_CEL_DEVICE]};
	static const struct bt_cel_environment environments[] = {
		{.variables = &variable, .variable_count = 1, .must_be_bool = true},
		{.variables = &variable,
			.variable_count = 1,
			.must_be_bool = true,
			.accepts_dyn = true},
	};

	return &environments[list_attributes];
}

/** An attribute or capacity before it is grouped by domain. */
struct named {
	struct bt_str domain;
	struct bt_str id;
	uint32_t domain_index;
	struct bt_cel_value value;
};

static const struct bt_cel_map no_ids;
static const struct bt_cel_value missing_domain = {.kind = BT_CEL_MAP, .map = &no_ids};

/** Splits "domain/id"; a name without domain belongs to the driver's domain. */
static void split_name(struct named *named, struct bt_str name, struct bt_str driver)
{
	int64_t slash = bt_str_find_char(name, '/');

	named->domain = slash < 0 ? driver : bt_str_sub(name, 0, (uint32_t)slash);
	named->id = slash < 0 ? name : bt_str_sub(name, (uint32_t)slash + 1, name.length);
}

/** Makes the map domain -> id -> value; indexing an unknown domain gives an empty map. */
static struct bt_cel_value group_by_domain(
	struct named *items, uint32_t count, struct bt_arena *arena)
{
	struct bt_cel_map *map = BT_ARENA_NEW(arena, struct bt_cel_map);
	struct bt_cel_entry *domains = BT_ARENA_NEW_ARRAY(arena, struct bt_cel_entry, count);
	struct bt_cel_entry *ids = BT_ARENA_NEW_ARRAY(arena, struct bt_cel_entry, count);
	/* Number the domains in order of first appearance. */
	uint32_t domain_count = 0;
	uint32_t index = 0;

	for (uint32_t i = 0; i < count; i++) {
		/* Most items have the domain of the previous item. */
		if (index >= domain_count ||
			!bt_str_equal(domains[index].key.text, items[i].domain)) {
			index = BT_STR_INDEX(domains, domain_count, key.text, items[i].domain);
		}
		if (index == domain_count) {
			domains[domain_count++].key = bt_cel_string(items[i].domain);
		}
		items[i].domain_index = index;
	}
	struct bt_cel_map *maps = BT_ARENA_NEW_ARRAY(arena, struct bt_cel_map, domain_count);
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++) {
		maps[items[i].domain_index].count++;
	}
	for (uint32_t i = 0; i < domain_count; i++) {
		maps[i].entries = ids + first;
		first += maps[i].count;
		maps[i].count = 0;
		domains[i].value = (struct bt_cel_value){.kind = BT_CEL_MAP, .map = &maps[i]};
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_cel_map *domain = &maps[items[i].domain_index];

		ids[(domain->entries - ids) + domain->count++] =
			(struct bt_cel_entry){bt_cel_string(items[i].id), items[i].value};
	}
	*map = (struct bt_cel_map){
		.entries = domains, .count = domain_count, .missing = &missing_domain};
	return (struct bt_cel_value){.kind = BT_CEL_MAP, .map = map};
}

static int make_version(struct bt_str text, struct bt_arena *arena, struct bt_cel_value *out_value,
	struct berth_error *err)
{
	struct bt_cel_semver *version = BT_ARENA_NEW(arena, struct bt_cel_semver);
	int code = bt_cel_semver_parse(text, false, arena, version, err);

	if (code != 0) {
		return bt_error_wrap(err, code, "parse semantic version");
	}
	*out_value = (struct bt_cel_value){.kind = BT_CEL_SEMVER, .semver = version};
	return 0;
}

static int make_scalar(const struct bt_device_attribute *attribute, struct bt_arena *arena,
	struct bt_cel_value *out_value, struct berth_error *err)
{
	if (attribute->int_.present) {
		*out_value = bt_cel_int(attribute->int_.value);
	} else if (attribute->bool_.present) {
		*out_value = bt_cel_bool(attribute->bool_.value);
	} else if (attribute->string.data != NULL) {
		*out_value = bt_cel_string(attribute->string);
	} else if (attribute->version.data != NULL) {
		return make_version(attribute->version, arena, out_value, err);
	} else {
		return bt_error_set(err, BERTH_ERR_INVALID, "unsupported attribute value");
	}
	return 0;
}

static int make_list(const struct bt_device_attribute *attribute, struct bt_arena *arena,
	struct bt_cel_value *out_value, struct berth_error *err)
{
	uint32_t count = attribute->ints.present ? attribute->ints.count
		: attribute->bools.present       ? attribute->bools.count
		: attribute->strings.present     ? attribute->strings.count
						 : attribute->versions.count;
	struct bt_cel_value *items = BT_ARENA_NEW_ARRAY(arena, struct bt_cel_value, count);

	for (uint32_t i = 0; i < count; i++) {
		if (attribute->ints.present) {
			items[i] = bt_cel_int(attribute->ints.items[i]);
		} else if (attribute->bools.present) {
			items[i] = bt_cel_bool(attribute->bools.items[i]);
		} else if (attribute->strings.present) {
			items[i] = bt_cel_string(attribute->strings.items[i]);
		} else {
			int code =
				make_version(attribute->versions.items[i], arena, &items[i], err);
			if (code != 0) {
				return code;
			}
		}
	}
	*out_value = (struct bt_cel_value){.kind = BT_CEL_LIST, .list = {items, count}};
	return 0;
}

int bt_cel_device_make(struct bt_str driver, const struct bt_device *device, bool list_attributes,
	struct bt_arena *arena, struct bt_cel_value *out_value, struct berth_error *err)
{
	struct bt_cel_value *fields =
		BT_ARENA_NEW_ARRAY(arena, struct bt_cel_value, BT_CEL_DEVICE_FIELD__COUNT);
	const struct bt_opt_bool *shared = &device->allow_multiple_allocations;
	uint32_t count = device->attributes.count;
	struct named *items = BT_ARENA_NEW_ARRAY(arena, struct named, count);

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_device_attribute_entry *entry = &device->attributes.items[i];
		const struct bt_device_attribute *attribute = &entry->value;
		bool is_list = attribute->ints.present || attribute->bools.present ||
			attribute->strings.present || attribute->versions.present;
		int code = is_list && list_attributes
			? make_list(attribute, arena, &items[i].value, err)
			: make_scalar(attribute, arena, &items[i].value, err);

		if (code != 0) {
			return bt_error_wrap(err, code, "attribute %.*s", BT_STR_ARG(entry->key));
		}
		split_name(&items[i], entry->key, driver);
	}
	fields[BT_CEL_DEVICE_ATTRIBUTES] = group_by_domain(items, count, arena);
	fields[BT_CEL_DEVICE_DRIVER] = bt_cel_string(driver);
	fields[BT_CEL_DEVICE_ALLOW_MULTIPLE_ALLOCATIONS] =
		bt_cel_bool(shared->present && shared->value);
	count = device->capacity.count;
	items = BT_ARENA_NEW_ARRAY(arena, struct named, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_device_capacity_entry *entry = &device->capacity.items[i];

		items[i].value = (struct bt_cel_value){
			.kind = BT_CEL_QUANTITY, .quantity = &entry->value.value};
		split_name(&items[i], entry->key, driver);
	}
	fields[BT_CEL_DEVICE_CAPACITY] = group_by_domain(items, count, arena);
	*out_value = (struct bt_cel_value){.kind = BT_CEL_DEVICE, .fields = fields};
	return 0;
}

/** The errors for results that are not bools, where the error does not have the usual words. */
static const char *const conversion_problems[BT_CEL_KIND__COUNT] = {
	[BT_CEL_INT] = "unsupported type conversion from 'int' to bool",
	[BT_CEL_UINT] = "unsupported type conversion from 'uint' to bool",
	[BT_CEL_STRING] = "unsupported native conversion from string to 'bool'",
	[BT_CEL_DOUBLE] = "type conversion error from Double to 'bool'",
	[BT_CEL_BYTES] = "type conversion error from Bytes to 'bool'",
	[BT_CEL_LIST] = "type conversion error from list to 'bool'",
	[BT_CEL_MAP] = "type conversion error from map to 'bool'",
	[BT_CEL_DEVICE] = "type conversion error from map to 'bool'",
	[BT_CEL_SEMVER] = "type conversion error from 'Semver' to 'bool'",
	[BT_CEL_QUANTITY] = "type conversion error from 'Quantity' to 'bool'",
};

int bt_cel_device_matches(const struct bt_cel_program *program, const struct bt_cel_value *device,
	const struct bt_cel_limits *limits, struct bt_arena *arena, bool *out_matches,
	struct berth_error *err)
{
	struct bt_cel_evaluation evaluation;

	bt_cel_evaluation_init(&evaluation, program, device, limits, arena);
	struct bt_cel_value result = bt_cel_evaluation_run(&evaluation);
	if (bt_cel_is_error(&result)) {
		return bt_error_set(err,
			evaluation.is_interrupted ? BERTH_ERR_STATE : BERTH_ERR_INVALID, "%.*s",
			BT_STR_ARG(result.text));
	}
	if (result.kind != BT_CEL_BOOL) {
		enum bt_cel_kind kind = result.kind;
		const char *name = bt_cel_kind_name(kind);
		const char *problem = conversion_problems[kind];

		if (problem != NULL) {
			return bt_error_set(err, BERTH_ERR_INVALID,
				"CEL result of type %s could not be converted to bool: %s", name,
				problem);
		}
		return bt_error_set(err, BERTH_ERR_INVALID,
			"CEL result of type %s could not be converted to bool: type conversion "
			"error from "
			"'%s' to 'bool'",
			name, name);
	}
	*out_matches = result.boolean;
	return 0;
}
