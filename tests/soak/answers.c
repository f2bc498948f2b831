/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes of the binding cycle, which take effect at once or later. The scheduler repeats a pending
 * write until it gets the answer. A repeated write is not carried out again: it stays pending while
 * the first write is in flight, and then gets the answer of the first write. The answer is given
 * once.
 */
#include "soak/world.h"

static struct bt_str key_of(struct bt_sim *sim, const struct bt_sim_write *write)
{
	const struct bt_object_meta *meta = write->object->meta;
	return bt_arena_printf(&sim->texts, "%d/%.*s/%.*s/%.*s/%.*s", (int)write->what,
		BT_STR_ARG(meta->uid), BT_STR_ARG(meta->resource_version),
		BT_STR_ARG(write->node_name), BT_STR_ARG(write->pod_uid));
}

static const struct bt_str no_key = {NULL, 0};

static bool is_about_devices(const struct bt_sim_write *write)
{
	return write->what >= BT_SIM_WRITE_CLAIM;
}

static bool same_claim(const struct bt_sim_write *a, const struct bt_sim_write *b)
{
	return bt_message_equal(&bt_resource_claim_message, a->object->value, b->object->value);
}

/**
 * Returns the index of the answer to an equal write; UINT32_MAX: there is none. If an earlier write
 * to the same claim has other content, the write is new, and the earlier answer is dropped.
 */
static uint32_t find_answer(struct bt_sim *sim, struct bt_str key, const struct bt_sim_write *write)
{
	for (uint32_t i = 0; i < sim->answers.count; i++) {
		struct bt_sim_answer *answer = sim->answers.items[i];
		if (!bt_str_equal(answer->key, key)) {
			continue;
		}
		if (!is_about_devices(write) || same_claim(&answer->write, write)) {
			return i;
		}
		answer->key = no_key;
	}
	return UINT32_MAX;
}

static void release_answer(struct bt_sim_answer *answer)
{
	bt_object_release(answer->write.object);
	bt_object_release(answer->write.base);
	bt_object_release(answer->object);
	berth_error_finish(&answer->err);
	bt_free(answer);
}

/** --- effect of a write: the cluster's writer carries it out --- */

static int take_effect(struct bt_sim *sim, struct bt_sim_answer *answer)
{
	const struct bt_sim_write *write = &answer->write;
	const struct bt_object_meta *meta = write->object->meta;
	const struct bt_volume_writer *volumes = sim->writes.base.writer.volumes;
	const struct bt_claim_writer *claims = sim->writes.base.writer.claims;
	static const struct bt_pod_info no_pod = {.pod_id = BT_POD_NONE};
	struct bt_str version = BT_STR("");
	int result = 0;
	switch (write->what) {
	case BT_SIM_WRITE_BINDING:
		return bt_sim_bind(sim, meta, write->node_name, &answer->err);
	case BT_SIM_WRITE_VOLUME:
		result = volumes->bind_volume(
			volumes->context, write->object->value, NULL, &version, &answer->err);
		break;
	case BT_SIM_WRITE_SELECTED_NODE:
		result = volumes->select_node(volumes->context, write->object->value,
			write->node_name, &version, &answer->err);
		break;
	case BT_SIM_WRITE_CLAIM:
	case BT_SIM_WRITE_CLAIM_STATUS:
		result = claims->write(claims->context, &no_pod,
			write->what == BT_SIM_WRITE_CLAIM ? BT_CLAIM_WRITE_FINALIZERS
							  : BT_CLAIM_WRITE_STATUS,
			write->base, write->object->value, true, &answer->object, &answer->err);
		break;
	case BT_SIM_READ_CLAIM:
		result = claims->get(claims->context, &no_pod, meta->namespace_, meta->name, true,
			&answer->object, &answer->err);
		break;
	case BT_SIM_WRITE_UNRESERVE:
		claims->unreserve(claims->context, &no_pod, write->object->value, write->pod_uid);
		break;
	}
	answer->resource_version = bt_arena_str(&sim->texts, version);
	bt_sim_store_flush(&sim->store);
	return result;
}

static struct bt_sim_answer *begin(
	struct bt_sim *sim, const struct bt_sim_write *write, struct bt_str key)
{
	struct bt_sim_answer *answer = BT_NEW(struct bt_sim_answer);
	answer->key = key;
	answer->serial = sim->next_answer++;
	answer->write = *write;
	answer->write.object = bt_object_share(write->object);
	answer->write.base = write->base != NULL ? bt_object_share(write->base) : NULL;
	answer->write.node_name = bt_arena_str(&sim->texts, write->node_name);
	answer->write.pod_uid = bt_arena_str(&sim->texts, write->pod_uid);
	bt_vec_push(&sim->answers, answer);
	return answer;
}

static uint32_t find_serial(const struct bt_sim *sim, uint64_t serial)
{
	uint32_t i = 0;
	while (i < sim->answers.count && sim->answers.items[i]->serial != serial) {
		i++;
	}
	return i < sim->answers.count ? i : UINT32_MAX;
}

static void end(struct bt_sim *sim, uint32_t index)
{
	struct bt_sim_answer *answer = sim->answers.items[index];
	bt_vec_remove_ordered(&sim->answers, index);
	release_answer(answer);
}

static void take_effect_after_all(void *context, uint64_t serial)
{
	struct bt_sim *sim = context;
	uint32_t index = find_serial(sim, serial);
	bt_sim_action_done(sim);
	if (index != UINT32_MAX) {
		bt_sim_spoil_devices(sim, sim->answers.items[index]->write.object->value);
		bt_sim_log(sim, "late write about %.*s: %s",
			BT_STR_ARG(sim->answers.items[index]->write.object->meta->name),
			take_effect(sim, sim->answers.items[index]) == 0 ? "done" : "refused");
		end(sim, index);
	}
}

static void come_later(struct bt_sim *sim, const struct bt_sim_write *write)
{
	if (write->what == BT_SIM_WRITE_BINDING) {
		struct bt_sim_late_write late = {.what = BT_SIM_LATE_BIND,
			.pod = write->object,
			.node_name = write->node_name};
		bt_sim_add_late_write(sim, &late);
	} else if (is_about_devices(write)) {
		bt_sim_after(sim, bt_sim_between_ms(&sim->faults, 5, 2500) * BT_SIM_MILLISECOND,
			take_effect_after_all, begin(sim, write, no_key)->serial);
	}
}

/** Excuse the objects of a failed write: the scheduler does not know whether it took effect. */
static void excuse(struct bt_sim *sim, const struct bt_sim_write *write)
{
	if (write->what == BT_SIM_WRITE_BINDING) {
		bt_sim_excuse(sim, write->node_name);
		bt_sim_excuse_pod(sim, write->object->meta->uid);
	} else if (is_about_devices(write)) {
		bt_sim_excuse_pod(sim, write->pod_uid);
		bt_sim_excuse_devices(sim, write->object->value);
	}
}

static int fail(struct bt_sim *sim, const struct bt_sim_write *write, struct berth_error *err)
{
	static const char *const names[] = {"bind", "volume write", "node selection", "claim write",
		"claim status write", "claim read", "claim unreserve"};
	if (is_about_devices(write) && write->what != BT_SIM_READ_CLAIM &&
		bt_sim_chance(&sim->faults, 40)) {
		bt_sim_log(sim, "%s conflicts", names[write->what]);
		(void)bt_error_set(err, BERTH_ERR_STATE, "the object has been modified");
		return BT_WRITE_CONFLICT;
	}
	return bt_sim_fail_write(sim, names[write->what], err);
}

static void carry_out(struct bt_sim *sim, struct bt_sim_answer *answer)
{
	enum bt_sim_fault fault = bt_sim_draw_fault(sim);
	answer->answered = true;
	if (fault != BT_SIM_WRITE_GOOD) {
		excuse(sim, &answer->write);
	}
	if (fault == BT_SIM_WRITE_GOOD || fault == BT_SIM_WRITE_UNHEARD) {
		answer->result = take_effect(sim, answer);
	}
	if (fault == BT_SIM_WRITE_LATE) {
		come_later(sim, &answer->write);
	}
	if (fault != BT_SIM_WRITE_GOOD && answer->result == 0) {
		answer->result = fail(sim, &answer->write, &answer->err);
	} else if (answer->result != 0) {
		bt_sim_log(sim, "refused: %s", berth_error_message(&answer->err));
	} else if (answer->write.what == BT_SIM_WRITE_BINDING) {
		bt_sim_devices_bound(sim, answer->write.object->value, answer->write.node_name);
	}
}

static void carry_out_late(void *context, uint64_t serial)
{
	struct bt_sim *sim = context;
	uint32_t index = find_serial(sim, serial);
	bt_sim_action_done(sim);
	if (index != UINT32_MAX) {
		struct bt_sim_answer *answer = sim->answers.items[index];
		carry_out(sim, answer);
		if (answer->write.what == BT_SIM_WRITE_BINDING) {
			bt_scheduler_resume(sim->scheduler, answer->write.object->meta->uid);
		}
		if (answer->key.length == 0) {
			end(sim, index);
		}
	}
	/* The write of a volume does not say which pod needs the volume: try all waiting pods. */
	for (uint32_t i = 0; i < sim->bindings.count; i++) {
		if (sim->bindings.items[i].is_waiting) {
			bt_scheduler_resume(sim->scheduler, sim->bindings.items[i].pod->meta->uid);
		}
	}
	bt_sim_step(sim);
}

/** --- calls of the scheduler --- */

/** Carries the write out now or, if writes are asynchronous, perhaps after a random delay. */
static void send(struct bt_sim *sim, struct bt_sim_answer *answer)
{
	bool is_slow = sim->write_fault_one_in != 0 && bt_sim_chance(&sim->times, 10);
	if (sim->is_asynchronous && !answer->write.must_end && bt_sim_chance(&sim->times, 70)) {
		bt_sim_after(sim,
			bt_sim_between_ms(&sim->times, 1, is_slow ? 6000 : 800) *
				BT_SIM_MILLISECOND,
			carry_out_late, answer->serial);
	} else {
		carry_out(sim, answer);
	}
}

int bt_sim_write(struct bt_sim *sim, const struct bt_sim_write *write,
	struct bt_object **out_object, struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_str key = key_of(sim, write);
	uint32_t index = find_answer(sim, key, write);
	if (index == UINT32_MAX) {
		send(sim, begin(sim, write, key));
		index = find_answer(sim, key, write);
	}
	struct bt_sim_answer *answer = sim->answers.items[index];
	if (!answer->answered && write->must_end) {
		carry_out(sim, answer);
	}
	if (!answer->answered) {
		return BT_WRITE_PENDING;
	}
	int result = answer->result;
	if (out_resource_version != NULL) {
		*out_resource_version = answer->resource_version;
	}
	if (result != 0) {
		(void)bt_error_move(err, &answer->err);
	} else if (out_object != NULL) {
		*out_object = answer->object;
		answer->object = NULL;
	}
	end(sim, index);
	return result;
}

void bt_sim_write_blindly(struct bt_sim *sim, const struct bt_sim_write *write)
{
	struct bt_sim_answer *answer = begin(sim, write, no_key);
	uint64_t serial = answer->serial;
	send(sim, answer);
	if (answer->answered) {
		end(sim, find_serial(sim, serial));
	}
}

void bt_sim_forget_answers(struct bt_sim *sim)
{
	for (uint32_t i = 0; i < sim->answers.count; i++) {
		release_answer(sim->answers.items[i]);
	}
	sim->answers.count = 0;
}
