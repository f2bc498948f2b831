/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "api/resources.h"
#include "base/assert.h"
#include "base/vec.h"

/*
 * Requests and limits of a pod, spec 01b section 3. Each resource name of the pod has a row. The
 * rules of the section apply to each name separately, so the time for a container depends only on
 * the container's entries.
 */

enum part {
	PART_REQUESTS,
	PART_LIMITS,
};

struct row {
	struct bt_str name;
	struct bt_quantity
		own; /* value of the current container; valid if own_of is the container's number */
	uint32_t own_of;
	bool has_total;
	bool has_side;
	bool has_init;
	struct bt_quantity total; /* sum over containers and sidecars */
	struct bt_quantity side;  /* running sum of sidecars */
	struct bt_quantity init;  /* largest step of the init sequence */
};

struct computation {
	const struct bt_pod *pod;
	const struct bt_request_options *options;
	enum part part;
	struct bt_arena *arena;
	bool infeasible;
	struct row *rows; /* sorted by name */
	uint32_t row_count;
	uint32_t current;  /* number of the current container, from 1 */
	uint32_t *touched; /* rows that have a value for the current container */
	uint32_t touched_count;
	/** Names of the container statuses, then of the init container statuses; sorted by name. */
	struct bt_indexed_str *statuses;
	uint32_t status_count;
};

static const struct bt_resource_list *part_of(
	const struct bt_resource_requirements *requirements, enum part part)
{
	return part == PART_LIMITS ? &requirements->limits : &requirements->requests;
}

struct name_list {
	struct bt_str *items;
	uint32_t count;
	uint32_t capacity;
	struct bt_arena *arena;
};

static void append_names(struct name_list *names, const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		bt_arena_push(names->arena, names, list->items[i].name);
	}
}

static void make_rows(struct computation *computation)
{
	const struct bt_pod *pod = computation->pod;
	const struct bt_request_options *options = computation->options;
	enum part part = computation->part;
	const bt_container_list *containers[] = {&pod->spec.containers, &pod->spec.init_containers};
	const bt_container_status_list *statuses[] = {
		&pod->status.container_statuses, &pod->status.init_container_statuses};
	struct name_list names = {.arena = computation->arena};
	uint32_t kept = 0;

	/* Collect the names of all resource lists that may contribute one. */
	for (uint32_t l = 0; l < BT_ARRAY_LENGTH(containers) && !options->no_containers; l++) {
		for (uint32_t i = 0; i < containers[l]->count; i++) {
			append_names(&names, part_of(&containers[l]->items[i].resources, part));
		}
		if (options->missing != NULL && containers[l]->count != 0) {
			append_names(&names, options->missing);
		}
		for (uint32_t i = 0; options->use_status && i < statuses[l]->count; i++) {
			const struct bt_container_status *status = &statuses[l]->items[i];

			if (status->resources != NULL) {
				append_names(&names, part_of(status->resources, part));
				append_names(&names, &status->allocated_resources);
			}
		}
	}
	const bt_node_allocatable_claim_status_list *claims =
		&pod->status.node_allocatable_resource_claim_statuses;
	for (uint32_t i = 0; options->dra_status && i < claims->count; i++) {
		append_names(&names, &claims->items[i].resources);
	}
	if (!options->no_pod_level && pod->spec.resources != NULL) {
		append_names(&names, part_of(pod->spec.resources, part));
	}
	if (!options->no_overhead) {
		append_names(&names, &pod->spec.overhead);
	}
	if (names.count == 0) {
		return;
	}
	qsort(names.items, names.count, sizeof(names.items[0]), bt_str_compare_qsort);
	for (uint32_t i = 0; i < names.count; i++) {
		if (kept == 0 || !bt_str_equal(names.items[kept - 1], names.items[i])) {
			names.items[kept++] = names.items[i];
		}
	}
	computation->row_count = kept;
	computation->rows = BT_ARENA_NEW_ARRAY(computation->arena, struct row, kept);
	computation->touched = BT_ARENA_NEW_ARRAY(computation->arena, uint32_t, kept);
	for (uint32_t i = 0; i < kept; i++) {
		computation->rows[i].name = names.items[i];
	}
}

static struct row *row_of(struct computation *computation, struct bt_str name)
{
	uint32_t index;

	BT_LOWER_BOUND(index, computation->row_count, middle,
		bt_str_compare(computation->rows[middle].name, name) < 0);
	BT_ASSERT(index < computation->row_count); /* every name has a row */
	return &computation->rows[index];
}

static void row_add(
	struct bt_quantity *sum, bool *has, const struct bt_quantity *value, struct bt_arena *arena)
{
	if (!*has) {
		*sum = *value;
		*has = true;
		return;
	}
	bt_quantity_add(sum, value, arena);
}

/**
 * Sets *maximum to value if value is larger or *has is false (no maximum yet). Upstream quirk, spec
 * 01 section 5.1: a value that replaces a big maximum becomes big, too.
 */
static void row_max(struct bt_quantity *maximum, bool *has, const struct bt_quantity *value,
	struct bt_arena *arena)
{
	bool becomes_big = *has && maximum->big != NULL;

	if (*has && bt_quantity_compare(value, maximum) <= 0) {
		return;
	}
	*maximum = *value;
	*has = true;
	if (becomes_big) {
		bt_quantity_make_big(maximum, arena);
	}
}

/**
 * Merges the list into the own values of the current container. A name without an own value gets
 * the value in the list. An existing own value is raised to the value in the list if that is
 * larger, or stays unchanged if keep_existing is true.
 */
static void merge_into_own(
	struct computation *computation, const struct bt_resource_list *list, bool keep_existing)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct row *row = row_of(computation, list->items[i].name);
		bool has = row->own_of == computation->current;

		if (!has) {
			row->own_of = computation->current;
			computation->touched[computation->touched_count++] =
				(uint32_t)(row - computation->rows);
		}
		if (!has || !keep_existing) {
			row_max(&row->own, &has, &list->items[i].quantity, computation->arena);
		}
	}
}

static void index_statuses(struct computation *computation)
{
	const struct bt_pod_status *status = &computation->pod->status;
	const bt_container_status_list *lists[] = {
		&status->container_statuses, &status->init_container_statuses};
	uint32_t count = 0;

	computation->statuses = BT_ARENA_NEW_ARRAY(computation->arena, struct bt_indexed_str,
		(size_t)lists[0]->count + lists[1]->count);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(lists); i++) {
		for (uint32_t j = 0; j < lists[i]->count; j++) {
			computation->statuses[count] =
				(struct bt_indexed_str){lists[i]->items[j].name, count};
			count++;
		}
	}
	if (count > 1) {
		qsort(computation->statuses, count, sizeof(computation->statuses[0]),
			bt_indexed_str_compare_qsort);
	}
	computation->status_count = count;
}

/**
 * Returns the last status with that name, or NULL. The statuses of init containers count as later
 * than the statuses of containers.
 */
static const struct bt_container_status *status_of(
	const struct computation *computation, struct bt_str name)
{
	const struct bt_pod_status *status = &computation->pod->status;
	uint32_t low;

	BT_LOWER_BOUND(low, computation->status_count, middle,
		bt_str_compare(computation->statuses[middle].text, name) <= 0);
	if (low == 0 || !bt_str_equal(computation->statuses[low - 1].text, name)) {
		return NULL;
	}
	uint32_t index = computation->statuses[low - 1].index;
	return index < status->container_statuses.count
		? &status->container_statuses.items[index]
		: &status->init_container_statuses.items[index - status->container_statuses.count];
}

/**
 * Loads the effective requests of one container into the own values of the rows (spec 01b section
 * 3.1), or the limits if the computation is about limits (section 3.5). may_use_status: the
 * resources in the status of the container count, too, if the options say use_status.
 */
static void load_container(
	struct computation *computation, const struct bt_container *container, bool may_use_status)
{
	const struct bt_container_status *status = NULL;

	computation->current++;
	computation->touched_count = 0;
	if (computation->options->use_status && may_use_status) {
		status = status_of(computation, container->name);
	}
	if (status == NULL || status->resources == NULL) {
		merge_into_own(
			computation, part_of(&container->resources, computation->part), false);
	} else {
		if (!computation->infeasible) {
			merge_into_own(computation,
				part_of(&container->resources, computation->part), false);
		}
		merge_into_own(computation, part_of(status->resources, computation->part), false);
		if (computation->part == PART_REQUESTS) {
			merge_into_own(computation, &status->allocated_resources, false);
		}
	}
	if (computation->options->missing != NULL) {
		merge_into_own(computation, computation->options->missing, true);
	}
}

/**
 * Computes the total of each row from the containers, sidecars and init containers (spec 01b
 * section 3.2). An init container updates only the rows of the resources that it names. In the
 * other rows it needs only the sum of the sidecars so far, and row->init is already at least that
 * sum.
 */
static void add_containers(struct computation *computation)
{
	const struct bt_pod_spec *spec = &computation->pod->spec;
	struct bt_arena *arena = computation->arena;

	for (uint32_t i = 0; i < spec->containers.count; i++) {
		load_container(computation, &spec->containers.items[i], true);
		for (uint32_t j = 0; j < computation->touched_count; j++) {
			struct row *row = &computation->rows[computation->touched[j]];

			row_add(&row->total, &row->has_total, &row->own, arena);
		}
	}
	for (uint32_t i = 0; i < spec->init_containers.count; i++) {
		bool sidecar = bt_container_is_sidecar(&spec->init_containers.items[i]);

		load_container(computation, &spec->init_containers.items[i], sidecar);
		for (uint32_t j = 0; j < computation->touched_count; j++) {
			struct row *row = &computation->rows[computation->touched[j]];

			if (sidecar) {
				row_add(&row->total, &row->has_total, &row->own, arena);
				row_add(&row->side, &row->has_side, &row->own, arena);
				row_max(&row->init, &row->has_init, &row->side, arena);
			} else {
				if (row->has_side) {
					bt_quantity_add(&row->own, &row->side, arena);
				}
				row_max(&row->init, &row->has_init, &row->own, arena);
			}
		}
	}
	for (uint32_t i = 0; i < computation->row_count; i++) {
		struct row *row = &computation->rows[i];

		if (row->has_init) {
			row_max(&row->total, &row->has_total, &row->init, arena);
		}
	}
}

static bool has_pod_level_name(const struct bt_resource_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_resource_is_pod_level_supported(list->items[i].name)) {
			return true;
		}
	}
	return false;
}

bool bt_pod_has_pod_level_requests(const struct bt_pod *pod)
{
	return pod->spec.resources != NULL && has_pod_level_name(&pod->spec.resources->requests);
}

/**
 * Spec 01b section 3.3: pod-level values replace the sums of the containers. With a status, a value
 * is the maximum of the desired, actual and allocated quantities; the desired quantity does not
 * count while a resize is infeasible.
 */
static void replace_pod_level(struct computation *computation)
{
	const struct bt_request_options *options = computation->options;
	const struct bt_pod_status *status = &computation->pod->status;
	bool resized = options->use_status && options->use_pod_status && status->resources != NULL;
	const struct bt_resource_list *list =
		part_of(computation->pod->spec.resources, computation->part);

	for (uint32_t i = 0; i < list->count; i++) {
		struct bt_str name = list->items[i].name;

		if (!bt_resource_is_pod_level_supported(name)) {
			continue;
		}
		struct row *row = row_of(computation, name);
		row->has_total = true;
		row->total = list->items[i].quantity;
		if (!resized) {
			continue;
		}
		const struct bt_quantity *actual =
			bt_resource_list_find(part_of(status->resources, computation->part), name);
		const struct bt_quantity *allocated = computation->part == PART_REQUESTS
			? bt_resource_list_find(&status->allocated_resources, name)
			: NULL;
		bool has = !computation->infeasible;
		if (!has) {
			row->total = (struct bt_quantity){.mantissa = 0};
		}
		if (actual != NULL) {
			row_max(&row->total, &has, actual, computation->arena);
		}
		if (allocated != NULL) {
			row_max(&row->total, &has, allocated, computation->arena);
		}
	}
}

static void add_list(
	struct computation *computation, const struct bt_resource_list *list, bool only_non_zero)
{
	for (uint32_t i = 0; i < list->count; i++) {
		struct row *row = row_of(computation, list->items[i].name);

		if (!only_non_zero || (row->has_total && !bt_quantity_is_zero(&row->total))) {
			row_add(&row->total, &row->has_total, &list->items[i].quantity,
				computation->arena);
		}
	}
}

static struct bt_resource_list compute(const struct bt_pod *pod,
	const struct bt_request_options *options, enum part part, struct bt_arena *arena)
{
	struct computation computation = {
		.pod = pod, .options = options, .part = part, .arena = arena};
	bool pod_level =
		pod->spec.resources != NULL && has_pod_level_name(&pod->spec.resources->requests);
	struct bt_resource_list result = {NULL, 0, true};

	if (part == PART_LIMITS) {
		pod_level = pod_level ||
			(pod->spec.resources != NULL &&
				has_pod_level_name(&pod->spec.resources->limits));
	}
	if (options->use_status) {
		/* the first condition counts; its status does not matter */
		const struct bt_pod_condition *resize =
			bt_pod_find_condition(pod, BT_STR("PodResizePending"));
		computation.infeasible =
			resize != NULL && bt_str_equal_c(resize->reason, "Infeasible");
		index_statuses(&computation);
	}
	make_rows(&computation);
	if (!options->no_containers) {
		add_containers(&computation);
	}
	if (options->dra_status) {
		for (uint32_t i = 0; i < pod->status.node_allocatable_resource_claim_statuses.count;
			i++) {
			add_list(&computation,
				&pod->status.node_allocatable_resource_claim_statuses.items[i]
					 .resources,
				false);
		}
	}
	if (pod_level && !options->no_pod_level) {
		replace_pod_level(&computation);
	}
	if (!options->no_overhead) {
		add_list(&computation, &pod->spec.overhead, part == PART_LIMITS);
	}
	if (computation.row_count == 0) {
		return result;
	}
	result.items = BT_ARENA_NEW_ARRAY(
		computation.arena, struct bt_resource_entry, computation.row_count);
	for (uint32_t i = 0; i < computation.row_count; i++) {
		if (computation.rows[i].has_total) {
			result.items[result.count++] = (struct bt_resource_entry){
				computation.rows[i].name, computation.rows[i].total};
		}
	}
	return result;
}

struct bt_resource_list bt_pod_requests(
	const struct bt_pod *pod, const struct bt_request_options *options, struct bt_arena *arena)
{
	return compute(pod, options, PART_REQUESTS, arena);
}

struct bt_resource_list bt_pod_limits(
	const struct bt_pod *pod, const struct bt_request_options *options, struct bt_arena *arena)
{
	struct bt_request_options limit_options = *options;

	limit_options.missing = NULL;
	limit_options.dra_status = false;
	return compute(pod, &limit_options, PART_LIMITS, arena);
}
