/* SPDX-License-Identifier: Apache-2.0 */
/** What the scheduler writes, and what an API server makes of it. Spec: 13 section 14, 11b
 * section 6. */
#include "api/identity.h"
#include "plugins/preemption_executor.h"
#include "soak/world.h"

/** --- the server --- */

static int not_found(struct bt_str name, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_NOT_FOUND, "pods \"%.*s\" not found", BT_STR_ARG(name));
}

static int refuse_binding(struct bt_str name, const char *why, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_STATE,
		"Operation cannot be fulfilled on pods/binding \"%.*s\": pod %.*s %s",
		BT_STR_ARG(name), BT_STR_ARG(name), why);
}

static struct bt_time now_of(const struct bt_sim *sim)
{
	return (struct bt_time){sim->clock.now_ns / BT_SIM_SECOND, 0, true};
}

static void set_condition(struct bt_sim *sim, struct bt_pod *pod,
	const struct bt_pod_condition *condition, bool *out_differs)
{
	struct bt_time now = now_of(sim);
	bt_pod_condition_list conditions =
		bt_pod_conditions_set(&pod->status, condition, &now, &sim->scratch, out_differs);
	pod->status.conditions.items = conditions.items;
	pod->status.conditions.count = conditions.count;
	pod->status.conditions.present = true;
}

int bt_sim_store_bind(struct bt_sim *sim, struct bt_str namespace_, struct bt_str name,
	struct bt_str uid, struct bt_str node_name, struct berth_error *err)
{
	struct bt_object *object = bt_sim_store_find(&sim->store, BT_KIND_POD, namespace_, name);
	if (object == NULL) {
		return not_found(name, err);
	}
	struct bt_pod bound = *(const struct bt_pod *)object->value;
	if (!bt_str_equal(bound.metadata.uid, uid)) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"Operation cannot be fulfilled on pods \"%.*s\": StorageError: invalid "
			"object, Code: 4: Precondition failed: UID in precondition: %.*s, UID in "
			"object meta: %.*s",
			BT_STR_ARG(name), BT_STR_ARG(uid), BT_STR_ARG(bound.metadata.uid));
	}
	if (bound.spec.node_name.length != 0) {
		return refuse_binding(name, "is already assigned to a node", err);
	}
	if (bound.metadata.deletion_timestamp != NULL) {
		return refuse_binding(name, "is being deleted, cannot be assigned to a host", err);
	}
	if (bound.spec.scheduling_gates.count != 0) {
		return refuse_binding(name, "has non-empty .spec.schedulingGates", err);
	}
	struct bt_pod_condition scheduled = {
		.type = BT_STR("PodScheduled"), .status = BT_STR("True")};
	bool differs;
	bt_arena_reset(&sim->scratch);
	bound.spec.node_name = node_name;
	bound.status.nominated_node_name = BT_STR("");
	set_condition(sim, &bound, &scheduled, &differs);
	(void)bt_sim_store_replace(&sim->store, BT_KIND_POD, &bound);
	return 0;
}

int bt_sim_store_patch(struct bt_sim *sim, struct bt_str namespace_, struct bt_str name,
	const struct bt_pod_condition *condition, const struct bt_str *nominated_node_name,
	struct berth_error *err)
{
	struct bt_object *object = bt_sim_store_find(&sim->store, BT_KIND_POD, namespace_, name);
	if (object == NULL) {
		return not_found(name, err);
	}
	struct bt_pod changed = *(const struct bt_pod *)object->value;
	bool differs = false;
	bt_arena_reset(&sim->scratch);
	if (condition != NULL) {
		set_condition(sim, &changed, condition, &differs);
	}
	if (nominated_node_name != NULL &&
		!bt_str_equal(changed.status.nominated_node_name, *nominated_node_name)) {
		changed.status.nominated_node_name = *nominated_node_name;
		differs = true;
	}
	if (differs) {
		(void)bt_sim_store_replace(&sim->store, BT_KIND_POD, &changed);
	}
	return 0;
}

int bt_sim_store_delete_pod(
	struct bt_sim *sim, struct bt_str namespace_, struct bt_str name, struct berth_error *err)
{
	struct bt_object *object = bt_sim_store_find(&sim->store, BT_KIND_POD, namespace_, name);
	if (object == NULL) {
		return not_found(name, err);
	}
	struct bt_pod ending = *(const struct bt_pod *)object->value;
	if (ending.spec.node_name.length == 0 || bt_pod_is_terminal(&ending)) {
		(void)bt_sim_store_delete(&sim->store, BT_KIND_POD, namespace_, name);
	} else if (ending.metadata.deletion_timestamp == NULL) {
		struct bt_time now = now_of(sim);
		ending.metadata.deletion_timestamp = &now;
		(void)bt_sim_store_replace(&sim->store, BT_KIND_POD, &ending);
	}
	return 0;
}

/** --- faults --- */

enum bt_sim_fault bt_sim_draw_fault(struct bt_sim *sim)
{
	if (!sim->has_faults || sim->write_fault_one_in == 0 ||
		bt_prng_below(&sim->faults, sim->write_fault_one_in) != 0) {
		return BT_SIM_WRITE_GOOD;
	}
	sim->report->failed_writes++;
	static const enum bt_sim_fault kinds[] = {
		BT_SIM_WRITE_LOST, BT_SIM_WRITE_LOST, BT_SIM_WRITE_UNHEARD, BT_SIM_WRITE_LATE};
	return kinds[bt_prng_below(&sim->faults, BT_ARRAY_LENGTH(kinds))];
}

int bt_sim_fail_write(struct bt_sim *sim, const char *what, struct berth_error *err)
{
	static const struct {
		int code;
		const char *text;
	} failures[] = {
		{BERTH_ERR_STATE,
			"the object has been modified; please apply your changes to the latest "
			"version and try again"},
		{BERTH_ERR_STATE,
			"the server has received too many requests and has asked us to "
			"try again later"},
		{BERTH_ERR_INTERNAL,
			"an error on the server (\"\") has prevented the request from "
			"succeeding"},
		{BERTH_ERR_IO, "context deadline exceeded"},
		{BERTH_ERR_IO, "connect: connection refused"},
		{BERTH_ERR_IO, "unexpected EOF"},
	};
	uint64_t i = bt_prng_below(&sim->faults, BT_ARRAY_LENGTH(failures));
	bt_sim_log(sim, "%s fails: %s", what, failures[i].text);
	return bt_error_set(err, failures[i].code, "%s", failures[i].text);
}

static void run_late_write(void *context, uint64_t index)
{
	struct bt_sim *sim = context;
	struct bt_sim_late_write write = sim->late_writes.items[index];
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str nowhere = BT_STR("");
	int result = 0;
	bt_sim_action_done(sim);
	switch (write.what) {
	case BT_SIM_LATE_BIND:
		result = bt_sim_store_bind(
			sim, write.namespace_, write.name, write.uid, write.node_name, &err);
		break;
	case BT_SIM_LATE_CONDITION:
		result = bt_sim_store_patch(
			sim, write.namespace_, write.name, &write.condition, NULL, &err);
		break;
	case BT_SIM_LATE_DELETE:
		result = bt_sim_store_delete_pod(sim, write.namespace_, write.name, &err);
		break;
	case BT_SIM_LATE_CLEAR:
		result =
			bt_sim_store_patch(sim, write.namespace_, write.name, NULL, &nowhere, &err);
		break;
	}
	bt_sim_log(sim, "late write %d about %.*s/%.*s: %s", (int)write.what,
		BT_STR_ARG(write.namespace_), BT_STR_ARG(write.name),
		result == 0 ? "done" : berth_error_message(&err));
	berth_error_finish(&err);
	if (write.ticket.executor != NULL) {
		if (bt_sim_draw_fault(sim) != BT_SIM_WRITE_GOOD) {
			result = BERTH_ERR_IO;
		}
		bt_preemption_complete(write.ticket.executor, write.ticket.id, result);
		bt_sim_poke(sim);
	}
}

void bt_sim_add_late_write(struct bt_sim *sim, const struct bt_sim_late_write *write)
{
	struct bt_arena *texts = &sim->texts;
	struct bt_sim_late_write copy = *write;
	copy.namespace_ = bt_arena_str(texts, write->namespace_);
	copy.name = bt_arena_str(texts, write->name);
	copy.uid = bt_arena_str(texts, write->uid);
	copy.node_name = bt_arena_str(texts, write->node_name);
	copy.condition.type = bt_arena_str(texts, write->condition.type);
	copy.condition.status = bt_arena_str(texts, write->condition.status);
	copy.condition.reason = bt_arena_str(texts, write->condition.reason);
	copy.condition.message = bt_arena_str(texts, write->condition.message);
	bt_vec_push(&sim->late_writes, copy);
	bt_sim_after(sim, bt_sim_between_ms(&sim->faults, 5, 2500) * BT_SIM_MILLISECOND,
		run_late_write, sim->late_writes.count - 1);
}
