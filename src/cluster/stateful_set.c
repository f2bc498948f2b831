/* SPDX-License-Identifier: Apache-2.0 */
/** StatefulSets: pods with stable names, created in order. Spec: 14b section 6.3. */
#include <inttypes.h>
#include <stdlib.h>

#include "cluster/owners.h"
#include "cluster/revisions.h"
#include "cluster/tree.h"

/** Maximum number of pods that one sync creates. */
#define BURST 250

struct stateful_sets {
	struct bt_groups revisions;
	struct bt_selector_table selectors;
};

struct member {
	const struct bt_indexed_pod *pod;
	int64_t ordinal;
};

struct pass {
	struct bt_sync *sync;
	struct bt_revisions revisions;
	struct bt_str update_revision;
	struct bt_str current_revision;
	struct member *members; /* by ordinal */
	uint32_t member_count;
	int64_t start;
	int64_t replicas;
	int64_t partition; /* pods with lower ordinals are not updated */
	int64_t max_unavailable;
	int64_t min_ready_seconds;
	uint32_t made;
	bool ordered;
};

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct stateful_sets *self = data;

	if (observed->kind == BT_HUB_STATEFUL_SETS) {
		bt_owners_observe(hub, observed, &self->selectors, false);
	} else if (observed->kind == BT_HUB_REVISIONS) {
		bt_revisions_observe(&self->revisions, hub, observed, "StatefulSet");
	} else {
		bt_owners_enqueue(hub, observed, "StatefulSet", &self->selectors);
	}
}

/** Returns the number in the pod name "<set>-<number>", or -1 if the name has another form. */
static int64_t ordinal_of(struct bt_str set_name, struct bt_str pod_name)
{
	int64_t ordinal;

	if (pod_name.length < set_name.length + 2 || !bt_str_has_prefix(pod_name, set_name) ||
		pod_name.data[set_name.length] != '-' || pod_name.data[set_name.length + 1] < '0' ||
		pod_name.data[set_name.length + 1] > '9' ||
		!bt_str_parse_int64(
			bt_str_sub(pod_name, set_name.length + 1, pod_name.length), &ordinal)) {
		return -1;
	}
	return ordinal;
}

static bool is_member_name(struct bt_str set_name, struct bt_str pod_name)
{
	return ordinal_of(set_name, pod_name) >= 0;
}

BT_COMPARE(compare_members, struct member, BT_ORDER(a->ordinal, b->ordinal))

/* --- making a pod --- */

/**
 * Creates every claim of the pod that does not exist. spec (may be NULL): the spec of the pod,
 * which gets a volume for each claim. Returns false if a claim could not be created.
 */
static bool ensure_claims(struct bt_sync *sync, struct bt_str pod_name, struct bt_json_value *spec)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *templates =
		bt_json_array_at(sync->object, "spec.volumeClaimTemplates");
	const struct bt_json_value *selected =
		bt_json_object_at(sync->object, "spec.selector.matchLabels");
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	bool made = true;

	for (uint32_t i = 0; i < templates->count && made; i++) {
		const struct bt_json_value *template_ = templates->elements[i];
		struct bt_str volume = bt_json_text_at(template_, "metadata.name");
		struct bt_str claim = bt_arena_printf(
			arena, "%.*s-%.*s", BT_STR_ARG(volume), BT_STR_ARG(pod_name));

		if (spec != NULL) {
			/* The volume of a claim replaces a volume of the same name. */
			struct bt_json_value *volumes =
				bt_json_ensure_array(arena, spec, "volumes");

			bt_json_remove_with(volumes, "name", volume);
			bt_json_put(arena, volumes,
				"[{name: %s, persistentVolumeClaim: {claimName: %s}}]", volume,
				claim);
		}
		if (bt_hub_exists(sync->hub, BT_HUB_VOLUME_CLAIMS,
			    bt_api_key(arena, namespace_, claim))) {
			continue;
		}
		struct bt_json_value *labels = bt_json_clone(
			arena, bt_json_object_at(template_, "metadata.labels"), false);
		for (uint32_t n = 0; n < selected->count; n++) {
			bt_json_set(arena, labels, selected->members[n].name,
				bt_json_clone(arena, selected->members[n].value, false));
		}
		struct bt_api_answer answer;
		made = bt_hub_create(sync->hub, BT_HUB_VOLUME_CLAIMS, namespace_,
			       bt_json_put(arena, NULL,
				       "{metadata: {name: %s, labels: %v, annotations: %t}, "
				       "spec: %t}",
				       claim, labels,
				       bt_json_object_at(template_, "metadata.annotations"),
				       bt_json_object_at(template_, "spec")),
			       arena, &answer) == 201;
		bt_sync_event(sync, made ? "Normal" : "Warning",
			made ? "SuccessfulCreate" : "FailedCreate",
			"create Claim %.*s Pod %.*s in StatefulSet %.*s %s%.*s", BT_STR_ARG(claim),
			BT_STR_ARG(pod_name), BT_STR_ARG(bt_key_name(sync->key)),
			made ? "success" : "failed error: ", BT_STR_ARG(answer.failure.message));
		bt_api_answer_finish(&answer);
	}
	return made;
}

/**
 * Sets the owners of the pod's claims by spec.persistentVolumeClaimRetentionPolicy. condemned: the
 * set was scaled down below the pod's ordinal. Returns false and sets sync->failed if a write
 * failed.
 */
static bool set_claim_owners(struct pass *pass, const struct bt_indexed_pod *pod, bool condemned)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *policy =
		bt_json_object_at(sync->object, "spec.persistentVolumeClaimRetentionPolicy");
	const struct bt_json_value *templates =
		bt_json_array_at(sync->object, "spec.volumeClaimTemplates");
	bool with_set = bt_str_equal_c(bt_json_text_at(policy, "whenDeleted"), "Delete");
	bool with_pod = bt_str_equal_c(bt_json_text_at(policy, "whenScaled"), "Delete");
	struct bt_str set_uid = bt_json_text_at(sync->object, "metadata.uid");
	bool succeeded = true;

	for (uint32_t i = 0; i < templates->count; i++) {
		struct bt_str key = bt_arena_printf(arena, "%.*s/%.*s-%.*s",
			BT_STR_ARG(bt_key_namespace(sync->key)),
			BT_STR_ARG(bt_json_text_at(templates->elements[i], "metadata.name")),
			BT_STR_ARG(bt_key_name(pod->key)));
		const struct bt_json_value *claim =
			bt_hub_read(sync->hub, BT_HUB_VOLUME_CLAIMS, key, arena);
		struct bt_json_value *owners =
			bt_tree_copy_array(arena, claim, "metadata.ownerReferences");

		if (claim == NULL) {
			continue;
		}
		bt_json_remove_with(owners, "uid", set_uid);
		bt_json_remove_with(owners, "uid", pod->uid);
		if (with_pod && condemned) {
			bt_json_put(arena, owners,
				"[{apiVersion: 'v1', kind: 'Pod', name: %s, uid: %s}]",
				bt_key_name(pod->key), pod->uid);
		} else if (with_set) {
			bt_json_append(arena, owners, bt_sync_owner_reference(sync, arena));
		}
		if (!bt_json_equal(owners, bt_json_array_at(claim, "metadata.ownerReferences")) &&
			!bt_hub_is_done(bt_sync_patch(sync, BT_HUB_VOLUME_CLAIMS, key,
				bt_json_put(arena, NULL, "{metadata: {ownerReferences: %v}}",
					owners)))) {
			sync->failed = true;
			succeeded = false;
		}
	}
	return succeeded;
}

static bool make_pod(struct pass *pass, int64_t ordinal)
{
	struct bt_sync *sync = pass->sync;
	struct bt_arena *arena = sync->arena;
	struct bt_str set_name = bt_key_name(sync->key);
	struct bt_str name = bt_arena_printf(arena, "%.*s-%" PRId64, BT_STR_ARG(set_name), ordinal);
	/* A lost pod below the partition is created again from its old revision. */
	const struct bt_revision *revision = ordinal < pass->partition
		? BT_STR_FIND(&pass->revisions, order.name, pass->current_revision)
		: NULL;
	struct bt_json_value *pod = bt_tree_from_template(arena,
		revision != NULL ? bt_revision_template(arena, revision)
				 : bt_json_object_at(sync->object, "spec.template"),
		bt_sync_owner_reference(sync, arena), name, false);
	struct bt_api_answer answer;

	bt_json_put(arena, pod,
		"{metadata: {labels: {statefulset.kubernetes.io/pod-name: %s, "
		"apps.kubernetes.io/pod-index: %s, controller-revision-hash: %s}}, "
		"spec: {hostname: %s, subdomain: %s}}",
		name, bt_arena_printf(arena, "%" PRId64, ordinal),
		revision != NULL ? revision->order.name : pass->update_revision, name,
		bt_json_text_at(sync->object, "spec.serviceName"));
	if (!ensure_claims(sync, name, bt_json_find(pod, "spec"))) {
		return false;
	}
	bool made = bt_hub_create(sync->hub, BT_HUB_PODS, bt_key_namespace(sync->key), pod, arena,
			    &answer) == 201;
	bt_sync_event(sync, made ? "Normal" : "Warning", made ? "SuccessfulCreate" : "FailedCreate",
		"create Pod %.*s in StatefulSet %.*s %s%.*s", BT_STR_ARG(name),
		BT_STR_ARG(set_name),
		made ? "successful" : "failed error: ", BT_STR_ARG(answer.failure.message));
	bt_api_answer_finish(&answer);
	return made;
}

static void remove_pod(struct bt_sync *sync, const struct bt_indexed_pod *pod)
{
	struct bt_str name = bt_key_name(pod->key);

	if (!bt_sync_delete(sync, BT_HUB_PODS, pod->key, pod->uid)) {
		return;
	}
	bt_sync_event(sync, "Normal", "SuccessfulDelete",
		"delete Pod %.*s in StatefulSet %.*s successful", BT_STR_ARG(name),
		BT_STR_ARG(bt_key_name(sync->key)));
}

/* --- creating and deleting in order --- */

static bool is_healthy(struct pass *pass, const struct bt_indexed_pod *pod)
{
	return pod->phase == BT_POD_RUNNING && !pod->deleting &&
		bt_replicas_is_available(pass->sync, pod, pass->min_ready_seconds);
}

/**
 * Creates the missing pods, lowest ordinal first, and deletes failed pods. Returns false if a
 * pod could not be created (sync->failed is set), if the burst is used up or, with policy
 * OrderedReady, if later ordinals must wait for the current pod.
 */
static bool fill_places(struct pass *pass)
{
	struct bt_sync *sync = pass->sync;
	uint32_t at = 0;

	while (at < pass->member_count && pass->members[at].ordinal < pass->start) {
		at++;
	}
	for (int64_t ordinal = pass->start; ordinal < pass->start + pass->replicas; ordinal++) {
		const struct bt_indexed_pod *pod = NULL;

		if (at < pass->member_count && pass->members[at].ordinal == ordinal) {
			pod = pass->members[at++].pod;
		}
		if (pod == NULL) {
			if (!make_pod(pass, ordinal)) {
				sync->failed = true;
				return false;
			}
			pass->made++;
			if (pass->ordered || pass->made >= bt_hub_burst(sync->hub, BURST)) {
				return false;
			}
			continue;
		}
		if (!pod->deleting && bt_pod_is_over(pod)) {
			remove_pod(sync, pod);
			if (pass->ordered) {
				return false;
			}
			continue;
		}
		(void)set_claim_owners(pass, pod, false);
		/* If a claim of the pending pod was deleted, create the claim again. */
		if (pod->phase == BT_POD_PENDING && !pod->deleting &&
			!ensure_claims(sync, bt_key_name(pod->key), NULL)) {
			sync->failed = true;
		}
		if (pass->ordered && !is_healthy(pass, pod)) {
			return false;
		}
	}
	return true;
}

static bool is_surplus(const struct pass *pass, const struct member *member)
{
	return member->ordinal < pass->start || member->ordinal >= pass->start + pass->replicas;
}

/**
 * Deletes pods with ordinals outside of the set's range, highest first. Returns whether all pods
 * are inside the range.
 */
static bool remove_surplus(struct pass *pass)
{
	const struct member *first_unhealthy = NULL;
	bool none = true;

	for (uint32_t i = 0; i < pass->member_count && first_unhealthy == NULL; i++) {
		const struct member *member = &pass->members[i];

		if (is_surplus(pass, member) && !is_healthy(pass, member->pod)) {
			first_unhealthy = member;
		}
	}
	for (uint32_t i = pass->member_count; i > 0; i--) {
		const struct member *member = &pass->members[i - 1];

		if (!is_surplus(pass, member)) {
			continue;
		}
		none = false;
		/*
		 * Ordered: one pod at a time, the highest ordinal first. An unhealthy pod is not
		 * deleted while another surplus pod with a lower ordinal is unhealthy, too.
		 */
		if (!member->pod->deleting &&
			(!pass->ordered || is_healthy(pass, member->pod) ||
				member == first_unhealthy) &&
			set_claim_owners(pass, member->pod, true)) {
			remove_pod(pass->sync, member->pod);
		}
		if (pass->ordered) {
			return false;
		}
	}
	return none;
}

/**
 * Deletes pods of an old revision, highest ordinal first, until maxUnavailable of the pods seen so
 * far are unavailable.
 */
static void update_pods(struct pass *pass)
{
	int64_t unavailable = pass->made; /* the created pods are not among the members yet */

	for (uint32_t i = pass->member_count; i > 0 && unavailable < pass->max_unavailable; i--) {
		const struct member *member = &pass->members[i - 1];

		if (member->ordinal < pass->partition) {
			return;
		}
		if (!bt_str_equal(member->pod->hash, pass->update_revision) &&
			!member->pod->deleting) {
			remove_pod(pass->sync, member->pod);
			unavailable++;
		} else {
			unavailable += !is_healthy(pass, member->pod);
		}
	}
}

/* --- status --- */

static void write_status(struct pass *pass, bool updates)
{
	struct bt_sync *sync = pass->sync;
	int64_t ready = 0;
	int64_t available = 0;
	int64_t current = 0;
	int64_t updated = 0;

	for (uint32_t i = 0; i < pass->member_count; i++) {
		const struct bt_indexed_pod *pod = pass->members[i].pod;
		if (pod->phase == BT_POD_RUNNING && pod->ready) {
			ready++;
			available += bt_replicas_is_available(sync, pod, pass->min_ready_seconds);
		}
		if (!pod->deleting) {
			current += bt_str_equal(pod->hash, pass->current_revision);
			updated += bt_str_equal(pod->hash, pass->update_revision);
		}
	}
	if (updates && updated == pass->replicas && ready == pass->replicas &&
		pass->member_count == pass->replicas) {
		/* All pods are updated: complete the update. */
		pass->current_revision = pass->update_revision;
		current = updated;
	}
	bt_sync_write_status(sync,
		bt_json_put(sync->arena, NULL,
			"{observedGeneration: %d, replicas: %d, readyReplicas: %d, "
			"availableReplicas: %d, currentReplicas: %d, updatedReplicas: %d, "
			"currentRevision: %s, updateRevision: %s, collisionCount: %d}",
			bt_json_int64_at(sync->object, "metadata.generation", 0),
			(int64_t)pass->member_count, ready, available, current, updated,
			pass->current_revision, pass->update_revision,
			pass->revisions.collision_count));
}

static bool sync(struct bt_sync *sync)
{
	struct stateful_sets *self = sync->data;
	const struct bt_json_value *set = sync->object;
	const struct bt_json_value *rolling =
		bt_json_object_at(set, "spec.updateStrategy.rollingUpdate");
	struct bt_str name = bt_key_name(sync->key);
	struct bt_str current = bt_json_text_at(set, "status.currentRevision");
	bool updates =
		!bt_str_equal_c(bt_json_text_at(set, "spec.updateStrategy.type"), "OnDelete");
	struct pass pass = {
		.sync = sync,
		.start = bt_json_int64_at(set, "spec.ordinals.start", 0),
		.replicas = bt_json_int64_at(set, "spec.replicas", 1),
		.min_ready_seconds = bt_json_int64_at(set, "spec.minReadySeconds", 0),
		.ordered = !bt_str_equal_c(
			bt_json_text_at(set, "spec.podManagementPolicy"), "Parallel"),
	};
	uint32_t count = 0;

	if (bt_selector_table_find(&self->selectors, sync->key) == NULL ||
		bt_owners_adopt_pods(sync, &self->selectors, is_member_name, NULL)) {
		return true;
	}
	if (!bt_revisions_read(
		    sync, &self->revisions, "controller.kubernetes.io/hash", &pass.revisions)) {
		return false;
	}
	pass.partition = updates ? pass.start + bt_json_int64_at(rolling, "partition", 0) : 0;
	pass.max_unavailable = bt_tree_scaled(bt_json_find(rolling, "maxUnavailable"),
		(int32_t)BT_MIN(pass.replicas, INT32_MAX), true);
	pass.max_unavailable = pass.max_unavailable > 0 ? pass.max_unavailable : 1;
	pass.update_revision = pass.revisions.items[pass.revisions.update].order.name;
	pass.current_revision = current.length != 0 ? current : pass.update_revision;
	const struct bt_indexed_pod *pod =
		bt_pod_index_of_owner(sync->hub, bt_json_text_at(set, "metadata.uid"));
	for (const struct bt_indexed_pod *each = pod; each != NULL;
		each = each->next[BT_PODS_OF_OWNER]) {
		count++;
	}
	pass.members = BT_ARENA_NEW_ARRAY(sync->arena, struct member, count);
	for (; pod != NULL; pod = pod->next[BT_PODS_OF_OWNER]) {
		int64_t ordinal = ordinal_of(name, bt_key_name(pod->key));
		if (ordinal >= 0) {
			pass.members[pass.member_count++] = (struct member){pod, ordinal};
		}
	}
	qsort(pass.members, pass.member_count, sizeof(*pass.members), compare_members);
	if (!bt_tree_is_deleting(set) && fill_places(&pass) && remove_surplus(&pass) && updates) {
		update_pods(&pass);
	}
	write_status(&pass, updates);
	for (uint32_t i = 0; i < pass.revisions.count; i++) {
		struct bt_revision *revision = &pass.revisions.items[i];

		revision->is_used = bt_str_equal(revision->order.name, pass.current_revision);
		for (uint32_t n = 0; n < pass.member_count && !revision->is_used; n++) {
			revision->is_used =
				bt_str_equal(pass.members[n].pod->hash, revision->order.name);
		}
	}
	bt_revisions_clean_up(sync, &pass.revisions);
	if (sync->wait_until_seconds == INT64_MAX && pass.made == BURST) {
		bt_hub_enqueue(sync->hub, sync->key);
	}
	return true;
}

const struct bt_controller_ops bt_stateful_set_controller = {
	.watches =
		BT_WATCH(BT_HUB_STATEFUL_SETS) | BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_REVISIONS),
	.object = BT_HUB_STATEFUL_SETS,
	.group_count = 1,
	.has_selectors = true,
	.observe = observe,
	.sync = sync,
};
