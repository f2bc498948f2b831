/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "cluster/daemon_set.h"
#include "cluster/pod_index.h"
#include "cluster/replicas.h"

/* --- what every daemon tolerates --- */

struct tolerated {
	const char *key;
	const char *effect;
};

static void add_toleration(struct bt_arena *arena, struct bt_json_value *tolerations,
	const struct tolerated *tolerated)
{
	struct bt_json_value *toleration;

	for (uint32_t i = 0; i < tolerations->count; i++) {
		const struct bt_json_value *old = tolerations->elements[i];
		if (bt_str_equal_c(bt_json_text_at(old, "key"), tolerated->key) &&
			bt_str_equal_c(bt_json_text_at(old, "effect"), tolerated->effect)) {
			bt_json_remove_at(tolerations, i);
			break;
		}
	}
	toleration = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, toleration, "key", tolerated->key);
	bt_json_set_c(arena, toleration, "operator", "Exists");
	bt_json_set_c(arena, toleration, "effect", tolerated->effect);
	bt_json_append(arena, tolerations, toleration);
}

bool bt_daemon_read_spec(struct bt_daemon_pass *pass)
{
	const struct bt_json_value *template_ = bt_json_object_at(pass->set, "spec.template");
	struct bt_json_value *spec;

	pass->template_ = bt_json_clone(pass->arena, template_, false);
	spec = bt_json_ensure_object(pass->arena, pass->template_, "spec");
	struct bt_arena *arena = pass->arena;
	static const struct tolerated all[] = {
		{"node.kubernetes.io/not-ready", "NoExecute"},
		{"node.kubernetes.io/unreachable", "NoExecute"},
		{"node.kubernetes.io/disk-pressure", "NoSchedule"},
		{"node.kubernetes.io/memory-pressure", "NoSchedule"},
		{"node.kubernetes.io/pid-pressure", "NoSchedule"},
		{"node.kubernetes.io/unschedulable", "NoSchedule"},
	};
	static const struct tolerated network = {
		"node.kubernetes.io/network-unavailable", "NoSchedule"};
	struct bt_json_value *tolerations = bt_json_ensure_array(arena, spec, "tolerations");

	for (size_t i = 0; i < BT_ARRAY_LENGTH(all); i++) {
		add_toleration(arena, tolerations, &all[i]);
	}
	if (bt_json_bool_at(spec, "hostNetwork", false)) {
		add_toleration(arena, tolerations, &network);
	}
	if (!bt_tree_decode(pass->arena, spec, &bt_pod_spec_message, &pass->spec)) {
		return false;
	}
	pass->affinity = bt_required_node_affinity_parse(&pass->spec, pass->arena);
	pass->hash = bt_tree_template_hash(pass->arena, template_, NULL, 0);
	pass->min_ready_seconds = bt_json_int64_at(pass->set, "spec.minReadySeconds", 0);
	pass->max_surge = bt_tree_scaled(
		bt_json_find_path(pass->set, "spec.updateStrategy.rollingUpdate.maxSurge"),
		(int32_t)pass->self->nodes.count, true);
	return true;
}

/* --- pods --- */

/** The required terms are replaced by the one that names the node. */
static void aim_at(struct bt_arena *arena, struct bt_json_value *spec, struct bt_str node)
{
	struct bt_json_value *required = bt_json_ensure_object(arena,
		bt_json_ensure_object(
			arena, bt_json_ensure_object(arena, spec, "affinity"), "nodeAffinity"),
		"requiredDuringSchedulingIgnoredDuringExecution");
	struct bt_json_value *terms = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_json_value *term = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *field = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_c(arena, field, "key", "metadata.name");
	bt_json_set_c(arena, field, "operator", "In");
	bt_json_append(
		arena, bt_json_ensure_array(arena, field, "values"), bt_json_new_str(arena, node));
	bt_json_append(arena, bt_json_ensure_array(arena, term, "matchFields"), field);
	bt_json_append(arena, terms, term);
	bt_json_set_value(arena, required, "nodeSelectorTerms", terms);
}

static struct bt_str template_generation(struct bt_daemon_pass *pass)
{
	struct bt_str text =
		bt_tree_annotation(pass->set, "deprecated.daemonset.template.generation");

	return text.length != 0 ? text : BT_STR("1");
}

void bt_daemon_make_pod(struct bt_daemon_pass *pass, struct bt_str node)
{
	struct bt_arena scratch = {0};
	struct bt_str prefix =
		bt_arena_printf(&scratch, "%.*s-", BT_STR_ARG(bt_key_name(pass->key)));
	struct bt_json_value *pod = bt_tree_from_template(
		&scratch, pass->template_, pass->owner_reference, prefix, true);
	struct bt_json_value *labels = bt_json_ensure_object(
		&scratch, bt_json_ensure_object(&scratch, pod, "metadata"), "labels");
	struct bt_api_answer answer;
	struct bt_str key;

	bt_json_set_str(&scratch, labels, "controller-revision-hash", pass->hash);
	bt_json_set_str(&scratch, labels, "pod-template-generation", template_generation(pass));
	aim_at(&scratch, bt_json_ensure_object(&scratch, pod, "spec"), node);
	pass->writes++;
	if (bt_hub_create(pass->hub, pass->self->pods, bt_key_namespace(pass->key), pod, &scratch,
		    &answer) == 201) {
		key = bt_stored_key(answer.object);
		bt_hub_event(pass->hub, "daemonset-controller", pass->self->sets, pass->set,
			"Normal", "SuccessfulCreate",
			bt_arena_printf(
				&scratch, "Created pod: %.*s", BT_STR_ARG(bt_key_name(key))));
	} else {
		pass->failed = true;
		/* The others would fail as well. */
		pass->writes = BT_DAEMON_BURST;
		bt_hub_event(pass->hub, "daemonset-controller", pass->self->sets, pass->set,
			"Warning", "FailedCreate",
			bt_arena_printf(&scratch, "Error creating: %.*s",
				BT_STR_ARG(answer.failure.message)));
	}
	bt_api_answer_finish(&answer);
	bt_arena_finish(&scratch);
}

void bt_daemon_remove_pod(struct bt_daemon_pass *pass, const struct bt_indexed_pod *pod)
{
	struct bt_arena scratch = {0};
	uint16_t code =
		bt_hub_delete(pass->hub, pass->self->pods, pod->key, -1, pod->uid, &scratch);

	pass->writes++;
	if (code == 200 || code == 404) {
		bt_hub_event(pass->hub, "daemonset-controller", pass->self->sets, pass->set,
			"Normal", "SuccessfulDelete",
			bt_arena_printf(
				&scratch, "Deleted pod: %.*s", BT_STR_ARG(bt_key_name(pod->key))));
	} else {
		pass->failed = true;
	}
	bt_arena_finish(&scratch);
}

/* --- the rolling update --- */

static bool is_available(struct bt_daemon_pass *pass, const struct bt_indexed_pod *pod)
{
	return pod != NULL && !pod->deleting &&
		bt_replicas_is_available(
			pod, pass->min_ready_seconds, pass->now_seconds, &pass->wait_until_seconds);
}

/** The node's pods of the present and of an older template; deleting ones do not count. */
static void find_pods(const struct bt_daemon_pass *pass, const struct bt_daemon_place *place,
	const struct bt_indexed_pod **out_new, const struct bt_indexed_pod **out_old)
{
	*out_new = NULL;
	*out_old = NULL;
	for (uint32_t i = 0; i < place->pod_count; i++) {
		const struct bt_indexed_pod *pod = place->pods[i].record;
		if (pod->deleting) {
			continue;
		}
		if (bt_str_equal(pod->hash, pass->hash)) {
			*out_new = pod;
		} else {
			*out_old = pod;
		}
	}
}

/** Old pods that are of no use go at once, others as long as enough are left. */
static void update_in_place(struct bt_daemon_pass *pass, int64_t max_unavailable)
{
	const struct bt_indexed_pod *new_pod;
	const struct bt_indexed_pod *old_pod;
	int64_t unavailable = 0;

	for (uint32_t i = 0; i < pass->place_count; i++) {
		if (pass->places[i].should_run) {
			find_pods(pass, &pass->places[i], &new_pod, &old_pod);
			unavailable += !is_available(pass, new_pod) && !is_available(pass, old_pod);
		}
	}
	for (uint32_t i = 0; i < pass->place_count && pass->writes < BT_DAEMON_BURST; i++) {
		find_pods(pass, &pass->places[i], &new_pod, &old_pod);
		if (old_pod == NULL || !pass->places[i].should_run) {
			continue;
		}
		if (!is_available(pass, old_pod)) {
			bt_daemon_remove_pod(pass, old_pod);
		} else if (unavailable < max_unavailable) {
			unavailable++;
			bt_daemon_remove_pod(pass, old_pod);
		}
	}
}

/** The new pod comes beside the old one, which goes when the new one is available. */
static void update_with_surge(struct bt_daemon_pass *pass)
{
	const struct bt_indexed_pod *new_pod;
	const struct bt_indexed_pod *old_pod;
	int64_t both = 0;

	for (uint32_t i = 0; i < pass->place_count; i++) {
		find_pods(pass, &pass->places[i], &new_pod, &old_pod);
		both += new_pod != NULL && old_pod != NULL;
	}
	for (uint32_t i = 0; i < pass->place_count && pass->writes < BT_DAEMON_BURST; i++) {
		const struct bt_daemon_place *place = &pass->places[i];
		find_pods(pass, place, &new_pod, &old_pod);
		if (old_pod == NULL || !place->should_run) {
			continue;
		}
		if (is_available(pass, new_pod)) {
			bt_daemon_remove_pod(pass, old_pod);
		} else if (new_pod == NULL &&
			(!is_available(pass, old_pod) || both < pass->max_surge)) {
			both++;
			bt_daemon_make_pod(pass, place->node->name);
		}
	}
}

void bt_daemon_update(struct bt_daemon_pass *pass)
{
	int64_t max_unavailable = 0;
	int32_t desired = 0;

	if (bt_str_equal_c(bt_json_text_at(pass->set, "spec.updateStrategy.type"), "OnDelete")) {
		return;
	}
	for (uint32_t i = 0; i < pass->place_count; i++) {
		desired += pass->places[i].should_run;
	}
	pass->max_surge = bt_tree_scaled(
		bt_json_find_path(pass->set, "spec.updateStrategy.rollingUpdate.maxSurge"), desired,
		true);
	if (pass->max_surge > 0) {
		update_with_surge(pass);
		return;
	}
	max_unavailable = bt_tree_scaled(
		bt_json_find_path(pass->set, "spec.updateStrategy.rollingUpdate.maxUnavailable"),
		desired, true);
	update_in_place(pass, max_unavailable);
}
