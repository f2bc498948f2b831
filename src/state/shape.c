/* SPDX-License-Identifier: Apache-2.0 */
#include "state/shape.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "base/error.h"
#include "codec/message_pack.h"
#include "state/node_table.h"

/** The terms of one group: the required or the preferred terms of `affinity`. */
struct group_source {
	const char *name;
	const struct bt_pod_affinity *affinity; /* NULL: the pod has no terms of this kind */
	bool preferred;
};

static struct bt_affinity_term_list parse_group(
	const struct group_source *source, struct bt_arena *arena, struct bt_error_list *errors)
{
	struct bt_affinity_term_list list = {0};
	const struct bt_pod_affinity *affinity = source->affinity;
	struct bt_affinity_term *terms;
	uint32_t count;

	if (affinity == NULL) {
		return list;
	}
	count = source->preferred ? affinity->preferred.count : affinity->required.count;
	terms = BT_ARENA_NEW_ARRAY(arena, struct bt_affinity_term, count);
	for (uint32_t i = 0; i < count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		const struct bt_pod_affinity_term *term = source->preferred
			? &affinity->preferred.items[i].term
			: &affinity->required.items[i];

		terms[i] = (struct bt_affinity_term){
			.weight = source->preferred ? affinity->preferred.items[i].weight : 0,
			.namespaces = term->namespaces.items,
			.namespace_count = term->namespaces.count,
			.in_own_namespace =
				term->namespaces.count == 0 && term->namespace_selector == NULL,
			.topology_key = term->topology_key,
		};
		if (bt_selector_from_label_selector(
			    term->label_selector, arena, &terms[i].selector, &err) != 0 ||
			bt_selector_from_label_selector(term->namespace_selector, arena,
				&terms[i].namespace_selector, &err) != 0) {
			bt_error_list_add(errors, arena,
				bt_arena_printf(
					arena, "%s: %s", source->name, berth_error_message(&err)));
			berth_error_finish(&err);
			return list;
		}
	}
	list.count = count;
	list.items = terms;
	return list;
}

const struct bt_affinity_terms *bt_affinity_terms_parse(
	const struct bt_pod_spec *spec, struct bt_arena *arena)
{
	struct bt_affinity_terms *terms = BT_ARENA_NEW(arena, struct bt_affinity_terms);
	const struct bt_affinity *affinity = spec->affinity;
	const struct bt_pod_affinity *near = affinity != NULL ? affinity->pod_affinity : NULL;
	const struct bt_pod_affinity *apart = affinity != NULL ? affinity->pod_anti_affinity : NULL;
	const struct group_source sources[BT_AFFINITY_GROUP__COUNT] = {
		[BT_AFFINITY_REQUIRED] = {"requiredAffinityTerms", near, false},
		[BT_ANTI_AFFINITY_REQUIRED] = {"requiredAntiAffinityTerms", apart, false},
		[BT_AFFINITY_PREFERRED] = {"preferredAffinityTerms", near, true},
		[BT_ANTI_AFFINITY_PREFERRED] = {"preferredAntiAffinityTerms", apart, true},
	};
	struct bt_error_list errors = {0};

	for (uint32_t i = 0; i < BT_AFFINITY_GROUP__COUNT; i++) {
		terms->groups[i] = parse_group(&sources[i], arena, &errors);
	}
	terms->has_preferred = (near != NULL && near->preferred.count != 0) ||
		(apart != NULL && apart->preferred.count != 0);
	terms->errors = errors.count != 0 ? bt_error_list_text(&errors, arena) : BT_STR("");
	return terms;
}

bool bt_affinity_term_matches(const struct bt_affinity_term *term, struct bt_str owner_namespace,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels)
{
	return ((term->in_own_namespace && bt_str_equal(owner_namespace, namespace_)) ||
		       bt_str_is_among(namespace_, term->namespaces, term->namespace_count) ||
		       bt_selector_matches(&term->namespace_selector, namespace_labels)) &&
		bt_selector_matches(&term->selector, labels);
}

#define HASH_SEED UINT64_C(0x5348)
#define FIRST_CHUNK_BYTES 1024
#define USUAL_BYTES 3072

static void destroy_shape(struct bt_shape *shape)
{
	if (shape != NULL) {
		bt_arena_finish(&shape->arena);
		bt_free(shape);
	}
}

void bt_shape_table_finish(struct bt_shape_table *table)
{
	for (uint32_t i = 0; i < table->shapes.count; i++) {
		destroy_shape(table->shapes.items[i]);
	}
	bt_hash_table_finish(&table->shapes);
	bt_strbuf_finish(&table->text);
}

static bool has_known_source(const struct bt_volume *volume)
{
	return volume->gce_persistent_disk != NULL || volume->aws_elastic_block_store != NULL ||
		volume->iscsi != NULL || volume->rbd != NULL ||
		volume->persistent_volume_claim != NULL || volume->ephemeral != NULL ||
		volume->azure_disk != NULL || volume->azure_file != NULL ||
		volume->cinder != NULL || volume->vsphere_volume != NULL ||
		volume->portworx_volume != NULL || volume->image != NULL || volume->csi != NULL ||
		volume->config_map != NULL || volume->secret != NULL || volume->empty_dir != NULL;
}

/* A copy of the pod without the fields that shapes ignore; shortened lists are in the arena. */
static struct bt_pod canonical_pod(
	const struct bt_pod *pod, bool keep_node_name, struct bt_arena *arena)
{
	struct bt_pod canonical = {.spec = pod->spec};
	const struct bt_pod_status *status = &pod->status;

	if (!keep_node_name) {
		canonical.spec.node_name = (struct bt_str){0};
	}
	struct bt_pod_spec *spec = &canonical.spec;
	struct bt_volume *kept = NULL;
	uint32_t count = 0;

	for (uint32_t i = 0; i < spec->volumes.count; i++) {
		if (!has_known_source(&spec->volumes.items[i])) {
			continue;
		}
		if (kept == NULL) {
			kept = BT_ARENA_NEW_ARRAY(arena, struct bt_volume, spec->volumes.count - i);
		}
		kept[count++] = spec->volumes.items[i];
	}
	spec->volumes.items = kept;
	spec->volumes.count = count;
	spec->volumes.present = count != 0;
	if (spec->resource_claims.count != 0) {
		struct bt_pod_resource_claim *claims = BT_ARENA_NEW_ARRAY(
			arena, struct bt_pod_resource_claim, spec->resource_claims.count);

		for (uint32_t i = 0; i < spec->resource_claims.count; i++) {
			claims[i].name = spec->resource_claims.items[i].name;
		}
		spec->resource_claims.items = claims;
	}
	struct bt_pod_condition *conditions = NULL;
	uint32_t condition_count = 0;

	for (uint32_t i = 0; i < status->conditions.count; i++) {
		const struct bt_pod_condition *condition = &status->conditions.items[i];
		if (!bt_str_equal(condition->type, BT_STR("PodResizePending"))) {
			continue;
		}
		if (conditions == NULL) {
			conditions = BT_ARENA_NEW_ARRAY(
				arena, struct bt_pod_condition, status->conditions.count - i);
		}
		conditions[condition_count].type = condition->type;
		conditions[condition_count].status = condition->status;
		conditions[condition_count].reason = condition->reason;
		condition_count++;
	}
	canonical.status.conditions.items = conditions;
	canonical.status.conditions.count = condition_count;
	canonical.status.conditions.present = condition_count != 0;
	canonical.status.container_statuses = status->container_statuses;
	canonical.status.init_container_statuses = status->init_container_statuses;
	canonical.status.allocated_resources = status->allocated_resources;
	canonical.status.resources = status->resources;
	canonical.status.node_allocatable_resource_claim_statuses =
		status->node_allocatable_resource_claim_statuses;
	return canonical;
}

const struct bt_pod *bt_shape_unpack(const struct bt_shape *shape)
{
	/* The table's shapes are not const. Unpacking changes only the form of the content. */
	struct bt_shape *own = (struct bt_shape *)shape;
	struct bt_pod *pod = BT_ARENA_NEW(&own->arena, struct bt_pod);

	bt_message_unpack(&bt_pod_message, shape->packed, &own->arena, pod);
	own->pod = pod;
	return pod;
}

static bool shape_is(
	struct bt_shape_table *table, const struct bt_shape *shape, const struct bt_pod *canonical)
{
	/*
	 * If a single pod has the shape, the new pod may be the next version of that pod, so
	 * compare without unpacking. A shape of several pods is compared often, so unpack it.
	 */
	if (shape->pod == NULL && shape->ref_count < 2) {
		bt_strbuf_reset(&table->text);
		bt_message_pack(&bt_pod_message, canonical, &table->text);
		if (bt_str_equal(bt_strbuf_str(&table->text), shape->packed)) {
			return true;
		}
	}
	/* Equal messages may differ when packed: absent and empty texts are equal. */
	return bt_message_equal(&bt_pod_message, bt_shape_pod(shape), canonical);
}

/* Copy the canonical pod into the arena, and set the shape's fields that refer to the copy. */
static void set_pod_in(struct bt_shape *shape, const struct bt_pod *canonical, uint32_t claim_count,
	struct bt_arena *arena)
{
	struct bt_pod *pod = BT_ARENA_NEW(arena, struct bt_pod);

	bt_message_copy(&bt_pod_message, pod, canonical, arena);
	shape->pod = pod;
	shape->host_ports = bt_pod_host_ports(&pod->spec, arena);
	if (claim_count != 0) {
		shape->claim_names.count = 0;
		shape->claim_names.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, claim_count);
		shape->claim_names.present = true;
	}
	for (uint32_t i = 0; claim_count != 0 && i < pod->spec.volumes.count; i++) {
		const struct bt_pvc_volume_source *claim =
			pod->spec.volumes.items[i].persistent_volume_claim;
		if (claim != NULL) {
			shape->claim_names.items[shape->claim_names.count++] = claim->claim_name;
		}
	}
	if (shape->has_affinity) {
		shape->affinity_terms = bt_affinity_terms_parse(&pod->spec, arena);
	}
}

/*
 * Set the pod. A first copy, in memory on the stack, measures the bytes that the shape's arena
 * needs for the pod and the scalars, so that the arena is not larger (for a pod larger than
 * USUAL_BYTES, the arena may be somewhat larger).
 */
static void set_pod(struct bt_shape *shape, const struct bt_pod *canonical, uint32_t claim_count)
{
	_Alignas(max_align_t) char memory[USUAL_BYTES];
	struct bt_arena measured;

	bt_arena_init_with(&measured, memory, sizeof(memory));
	set_pod_in(shape, canonical, claim_count, &measured);
	bt_arena_init(&shape->arena,
		shape->scalar_count * sizeof(struct bt_shape_scalar) +
			(measured.chunks == NULL ? (size_t)(measured.next - memory)
						 : sizeof(memory) + measured.total_bytes));
	bt_arena_finish(&measured);
	set_pod_in(shape, canonical, claim_count, &shape->arena);
}

static uint32_t ref_canonical(struct bt_shape_table *table, const struct bt_pod *canonical,
	bool is_pending, struct bt_arena *scratch)
{
	uint64_t hash = bt_message_hash(&bt_pod_message, HASH_SEED, canonical);

	BT_MAP_EACH (&table->shapes.map, hash, known) {
		struct bt_shape *shape = table->shapes.items[known];
		if (shape->hash == hash && shape_is(table, shape, canonical)) {
			shape->ref_count++;
			return known;
		}
	}
	struct bt_shape *shape = BT_NEW(struct bt_shape);
	const struct bt_affinity *affinity = canonical->spec.affinity;
	struct bt_pod_resources resources =
		bt_pod_resources_compute(canonical, &table->gates, scratch);
	uint32_t count = resources.requested.scalar_count;
	uint32_t claim_count = 0;

	shape->scalar_count = count;
	for (uint32_t i = 0; i < canonical->spec.volumes.count; i++) {
		claim_count += canonical->spec.volumes.items[i].persistent_volume_claim != NULL;
	}
	if (affinity != NULL) {
		shape->has_affinity =
			affinity->pod_affinity != NULL || affinity->pod_anti_affinity != NULL;
		shape->has_required_anti_affinity = affinity->pod_anti_affinity != NULL &&
			affinity->pod_anti_affinity->required.count != 0;
	}
	if (is_pending || shape->has_affinity || claim_count != 0 ||
		canonical->status.node_allocatable_resource_claim_statuses.count != 0 ||
		bt_pod_host_ports(&canonical->spec, scratch).count != 0) {
		set_pod(shape, canonical, claim_count);
	} else {
		bt_strbuf_reset(&table->text);
		bt_message_pack(&bt_pod_message, canonical, &table->text);
		bt_arena_init(&shape->arena, (size_t)table->text.length + 1);
		shape->packed = bt_arena_str(&shape->arena, bt_strbuf_str(&table->text));
		shape->arena.chunk_bytes = FIRST_CHUNK_BYTES;
	}
	bt_resource_get_standard(&resources.requested, shape->requested);
	memcpy(shape->non_zero, resources.non_zero, sizeof(shape->non_zero));
	if (count != 0) {
		shape->scalars = BT_ARENA_NEW_ARRAY(&shape->arena, struct bt_shape_scalar, count);
		for (uint32_t i = 0; i < count; i++) {
			const struct bt_scalar_resource *scalar = &resources.requested.scalars[i];
			shape->scalars[i].resource =
				bt_node_table_scalar(table->nodes, scalar->name);
			shape->scalars[i].value = scalar->value;
		}
	}
	shape->ref_count = 1;
	shape->serial = table->next_serial++;
	shape->hash = hash;
	bt_hash_table_add(&table->shapes, hash, shape, shape->id);
	return shape->id;
}

uint32_t bt_shape_ref_pod(
	struct bt_shape_table *table, const struct bt_pod *pod, bool keep_node_name)
{
	struct bt_arena scratch = {0};
	struct bt_pod canonical = canonical_pod(pod, keep_node_name, &scratch);
	uint32_t id = ref_canonical(table, &canonical, keep_node_name, &scratch);

	bt_arena_finish(&scratch);
	return id;
}

uint32_t bt_shape_ref_pending(
	struct bt_shape_table *table, const struct bt_pod *pod, uint32_t guess)
{
	struct bt_arena scratch = {0};
	struct bt_pod canonical = canonical_pod(pod, true, &scratch);
	struct bt_shape *guessed = guess < table->shapes.count ? table->shapes.items[guess] : NULL;
	uint32_t id = guess;

	if (guessed != NULL && guessed->pod != NULL &&
		bt_message_equal(&bt_pod_message, guessed->pod, &canonical)) {
		guessed->ref_count++;
	} else {
		id = ref_canonical(table, &canonical, true, &scratch);
	}
	(void)bt_shape_pod(table->shapes.items[id]); /* plugins keep pointers into the pod */
	bt_arena_finish(&scratch);
	return id;
}

void bt_shape_ref(struct bt_shape_table *table, uint32_t id)
{
	BT_ASSERT(id < table->shapes.count && table->shapes.items[id] != NULL);
	table->shapes.items[id]->ref_count++;
}

void bt_shape_unref(struct bt_shape_table *table, uint32_t id)
{
	BT_ASSERT(id < table->shapes.count && table->shapes.items[id] != NULL);
	struct bt_shape *shape = table->shapes.items[id];
	if (--shape->ref_count != 0) {
		return;
	}
	bt_hash_table_remove(&table->shapes, shape->hash, id);
	table->shapes.items[id] = NULL;
	destroy_shape(shape);
}
