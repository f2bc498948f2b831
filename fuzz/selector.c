/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is parsed as a field selector and, if it is JSON, as a pod. The selectors of the pod
 * are matched against the labels of the same pod. A required node affinity with errors must not
 * match. A refused label selector must have an error message.
 */
#include <stddef.h>
#include <stdint.h>

#include "api/pod.h"
#include "api/selector.h"
#include "api/toleration.h"
#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_label_selector(const struct bt_label_selector *source,
	const struct bt_str_map *labels, struct bt_arena *arena)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_selector selector;

	if (bt_selector_from_label_selector(source, arena, &selector, &err) == 0) {
		(void)bt_selector_matches(&selector, labels);
	} else {
		BT_ASSERT(berth_error_message(&err)[0] != '\0');
	}
	berth_error_finish(&err);
}

static void try_node_affinity(const struct bt_pod *pod, struct bt_arena *arena)
{
	struct bt_required_node_affinity required =
		bt_required_node_affinity_parse(&pod->spec, arena);
	struct bt_error_list match_errors = {0};
	struct bt_error_list all_errors = {0};
	struct bt_error_list preferred_errors = {0};
	struct bt_preferred_terms preferred;
	bool matches = bt_required_node_affinity_matches(
		&required, pod->metadata.name, &pod->metadata.labels, arena, &match_errors);

	bt_node_selector_errors(&required.affinity, arena, &all_errors);
	BT_ASSERT(!matches || match_errors.count == 0);
	BT_ASSERT(match_errors.count <= all_errors.count);
	(void)bt_error_list_text(&all_errors, arena);
	if (pod->spec.affinity == NULL || pod->spec.affinity->node_affinity == NULL) {
		return;
	}
	preferred = bt_preferred_terms_parse(&pod->spec.affinity->node_affinity->preferred,
		BT_STR(""), arena, &preferred_errors);
	BT_ASSERT(preferred_errors.count == 0 || preferred.count == 0);
	(void)bt_error_list_text(&preferred_errors, arena);
	(void)bt_preferred_terms_score(&preferred, pod->metadata.name, &pod->metadata.labels);
}

static void try_pod_affinity(
	const struct bt_pod_affinity *affinity, const struct bt_pod *pod, struct bt_arena *arena)
{
	for (uint32_t i = 0; affinity != NULL && i < affinity->required.count; i++) {
		try_label_selector(
			affinity->required.items[i].label_selector, &pod->metadata.labels, arena);
		try_label_selector(affinity->required.items[i].namespace_selector,
			&pod->metadata.labels, arena);
	}
	for (uint32_t i = 0; affinity != NULL && i < affinity->preferred.count; i++) {
		try_label_selector(affinity->preferred.items[i].term.label_selector,
			&pod->metadata.labels, arena);
	}
}

static void try_pod(const struct bt_pod *pod, struct bt_arena *arena)
{
	struct bt_taint taint = {.key = pod->metadata.name,
		.value = pod->metadata.uid,
		.effect = BT_STR("NoSchedule")};

	try_node_affinity(pod, arena);
	if (pod->spec.affinity != NULL) {
		try_pod_affinity(pod->spec.affinity->pod_affinity, pod, arena);
		try_pod_affinity(pod->spec.affinity->pod_anti_affinity, pod, arena);
	}
	for (uint32_t i = 0; i < pod->spec.topology_spread_constraints.count; i++) {
		try_label_selector(pod->spec.topology_spread_constraints.items[i].label_selector,
			&pod->metadata.labels, arena);
	}
	(void)bt_tolerations_tolerate(&pod->spec.tolerations, &taint, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, (uint32_t)size};
	struct bt_arena arena = {0};
	struct bt_field_selector field_selector;
	struct bt_json_reader reader;
	struct bt_pod *pod = BT_ARENA_NEW(&arena, struct bt_pod);

	if (bt_field_selector_parse(text, &arena, &field_selector, NULL) == 0) {
		for (uint32_t i = 0; i < field_selector.count; i++) {
			(void)bt_field_term_matches(&field_selector.terms[i], BT_STR("x"));
		}
	}
	bt_json_reader_init(&reader, text);
	if (bt_message_decode_json(&bt_pod_message, &reader, &arena, pod, NULL) == 0) {
		try_pod(pod, &arena);
	}
	bt_arena_finish(&arena);
	return 0;
}
