/* SPDX-License-Identifier: Apache-2.0 */
/** Faults of writes, and writes about pods that take effect later. Spec: 13 section 14, 11b
 * section 6. */
#include "plugins/preemption_executor.h"
#include "soak/world.h"

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

int bt_sim_bind(struct bt_sim *sim, const struct bt_object_meta *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct bt_pod_info info = {
		.namespace_ = pod->namespace_, .name = pod->name, .uid = pod->uid};
	int result = sim->writes.base.writer.bind(&sim->writes.base, &info, node_name, err);
	bt_sim_store_flush(&sim->store);
	return result;
}

int bt_sim_perform_late_write(
	struct bt_sim *sim, const struct bt_sim_late_write *write, struct berth_error *err)
{
	const struct bt_scheduler_writer *writer = &sim->writes.base.writer;
	static const struct bt_preemption_ticket now = {.executor = NULL};
	const struct bt_object_meta *meta = write->pod->meta;
	struct bt_preemption_pod victim = {meta->namespace_, meta->name, meta->uid};
	int result = 0;
	switch (write->what) {
	case BT_SIM_LATE_BIND:
		return bt_sim_bind(sim, meta, write->node_name, err);
	case BT_SIM_LATE_PATCH:
		result = writer->patch_other(&sim->writes.base, now, write->pod->value,
			write->has_condition ? &write->condition : NULL, &write->nomination, err);
		break;
	case BT_SIM_LATE_DELETE:
		result = writer->delete_pod(&sim->writes.base, now, &victim, err);
		break;
	}
	bt_sim_store_flush(&sim->store);
	return result;
}

static void run_late_write(void *context, uint64_t index)
{
	struct bt_sim *sim = context;
	struct bt_sim_late_write write = sim->late_writes.items[index];
	struct berth_error err = BERTH_ERROR_INIT;
	bt_sim_action_done(sim);
	int result = bt_sim_perform_late_write(sim, &write, &err);
	bt_sim_log(sim, "late write %d about %.*s/%.*s: %s", (int)write.what,
		BT_STR_ARG(write.pod->meta->namespace_), BT_STR_ARG(write.pod->meta->name),
		result == 0 ? "done" : berth_error_message(&err));
	berth_error_finish(&err);
	bt_object_release(write.pod);
	sim->late_writes.items[index].pod = NULL;
	if (write.ticket.executor != NULL) {
		if (bt_sim_draw_fault(sim) != BT_SIM_WRITE_GOOD) {
			result = BERTH_ERR_IO;
		}
		bt_preemption_complete(write.ticket.executor, write.ticket.id, result);
		bt_sim_step(sim);
	}
}

void bt_sim_add_late_write(struct bt_sim *sim, const struct bt_sim_late_write *write)
{
	struct bt_arena *texts = &sim->texts;
	struct bt_sim_late_write copy = *write;
	copy.pod = bt_object_share(write->pod);
	copy.node_name = bt_arena_str(texts, write->node_name);
	copy.nomination.nominated_node_name =
		bt_arena_str(texts, write->nomination.nominated_node_name);
	copy.condition.type = bt_arena_str(texts, write->condition.type);
	copy.condition.status = bt_arena_str(texts, write->condition.status);
	copy.condition.reason = bt_arena_str(texts, write->condition.reason);
	copy.condition.message = bt_arena_str(texts, write->condition.message);
	bt_vec_push(&sim->late_writes, copy);
	bt_sim_after(sim, bt_sim_between_ms(&sim->faults, 5, 2500) * BT_SIM_MILLISECOND,
		run_late_write, sim->late_writes.count - 1);
}
