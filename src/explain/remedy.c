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

bool bt_remedy_equal(const struct bt_remedy *a, const struct bt_remedy *b)
{
	return a->kind == b->kind && bt_str_equal(a->node, b->node) &&
		bt_str_equal(a->resource, b->resource) && a->amount == b->amount &&
		bt_str_equal(a->pod_namespace, b->pod_namespace) &&
		bt_str_equal(a->pod_name, b->pod_name) && bt_str_equal(a->key, b->key) &&
		bt_str_equal(a->value, b->value) && bt_str_equal(a->effect, b->effect) &&
		a->index == b->index;
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

static const struct bt_quantity *find_request(const struct bt_pod *pod, struct bt_str resource)
{
	const struct bt_pod_spec *spec = &pod->spec;

	/* Requests of what cannot be overcommitted have to equal the limits. */
	if (spec->containers.count != 1 || spec->init_containers.count != 0 ||
		spec->resources != NULL || !bt_resource_is_overcommit_allowed(resource)) {
		return NULL;
	}
	return bt_resource_list_find(&spec->containers.items[0].resources.requests, resource);
}

int64_t bt_remedy_requested_of(const struct bt_pod *pod, struct bt_str resource)
{
	const struct bt_quantity *request = find_request(pod, resource);

	if (request == NULL) {
		return 0;
	}
	return bt_str_equal_c(resource, "cpu") ? bt_quantity_milli(request)
					       : bt_quantity_value(request);
}
