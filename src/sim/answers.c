/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes of the binding cycle: at once, or under way for a while. What is asked again while it is
 * under way gets no answer; what was answered gets it once.
 */
#include "sim/world.h"

static struct bt_str key_of(struct bt_sim *sim, const struct bt_sim_write *write)
{
	const struct bt_object_meta *meta = write->object->meta;
	return bt_arena_printf(&sim->texts, "%d/%.*s/%.*s/%.*s", (int)write->what,
		BT_STR_ARG(meta->uid), BT_STR_ARG(meta->resource_version),
		BT_STR_ARG(write->node_name));
}

static uint32_t find_answer(const struct bt_sim *sim, struct bt_str key)
{
	for (uint32_t i = 0; i < sim->answers.count; i++) {
		if (bt_str_equal(sim->answers.items[i]->key, key)) {
			return i;
		}
	}
	return UINT32_MAX;
}

static void release_answer(struct bt_sim_answer *answer)
{
	bt_object_release(answer->write.object);
	berth_error_finish(&answer->err);
	bt_free(answer);
}

/** --- the write itself --- */

/** A volume or a claim, if the API still has the version that the scheduler saw. */
static int replace(struct bt_sim *sim, struct bt_sim_answer *answer)
{
	const struct bt_object *wanted = answer->write.object;
	const struct bt_object_meta *meta = wanted->meta;
	struct bt_object *object =
		bt_sim_store_find(&sim->store, wanted->kind, meta->namespace_, meta->name);
	if (object == NULL) {
		return bt_error_set(&answer->err, BERTH_ERR_NOT_FOUND, "%s \"%.*s\" not found",
			bt_kind_info(wanted->kind)->resource, BT_STR_ARG(meta->name));
	}
	if (!bt_str_equal(object->meta->resource_version, meta->resource_version)) {
		return bt_error_set(&answer->err, BERTH_ERR_STATE,
			"Operation cannot be fulfilled on %s \"%.*s\": the object has been "
			"modified; please apply your changes to the latest version and try again",
			bt_kind_info(wanted->kind)->resource, BT_STR_ARG(meta->name));
	}
	object = bt_sim_store_replace(&sim->store, wanted->kind, wanted->value);
	answer->version = bt_arena_str(&sim->texts, object->meta->resource_version);
	return 0;
}

static int take_effect(struct bt_sim *sim, struct bt_sim_answer *answer)
{
	const struct bt_object_meta *meta = answer->write.object->meta;
	if (answer->write.what == BT_SIM_WRITE_OBJECT) {
		return replace(sim, answer);
	}
	return bt_sim_store_bind(sim, meta->namespace_, meta->name, meta->uid,
		answer->write.node_name, &answer->err);
}

static void come_later(struct bt_sim *sim, const struct bt_sim_write *write)
{
	if (write->what == BT_SIM_WRITE_BINDING) {
		struct bt_sim_late_write late = {.what = BT_SIM_LATE_BIND,
			.namespace_ = write->object->meta->namespace_,
			.name = write->object->meta->name,
			.uid = write->object->meta->uid,
			.node_name = write->node_name};
		bt_sim_add_late_write(sim, &late);
	}
}

static void carry_out(struct bt_sim *sim, struct bt_sim_answer *answer)
{
	enum bt_sim_fault fault = bt_sim_draw_fault(sim);
	bool binds = answer->write.what == BT_SIM_WRITE_BINDING;
	answer->answered = true;
	if (fault == BT_SIM_WRITE_GOOD || fault == BT_SIM_WRITE_UNHEARD) {
		answer->result = take_effect(sim, answer);
	}
	if (fault == BT_SIM_WRITE_LATE) {
		come_later(sim, &answer->write);
	}
	if (fault != BT_SIM_WRITE_GOOD) {
		if (binds) {
			/* The scheduler must think that the room is free. */
			bt_sim_excuse(sim, answer->write.node_name);
		}
		if (answer->result == 0) {
			answer->result = bt_sim_fail_write(
				sim, binds ? "bind" : "volume write", &answer->err);
		}
	} else if (answer->result < 0) {
		bt_sim_log(sim, "refused: %s", berth_error_message(&answer->err));
	}
}

static void carry_out_late(void *context, uint64_t serial)
{
	struct bt_sim *sim = context;
	bt_sim_action_done(sim);
	for (uint32_t i = 0; i < sim->answers.count; i++) {
		struct bt_sim_answer *answer = sim->answers.items[i];
		if (answer->serial == serial) {
			carry_out(sim, answer);
			if (answer->write.what == BT_SIM_WRITE_BINDING) {
				bt_scheduler_resume(
					sim->scheduler, answer->write.object->meta->uid);
			}
			break;
		}
	}
	/* The answer about a volume does not say for which pod it is. */
	for (uint32_t i = 0; i < sim->bindings.count; i++) {
		if (sim->bindings.items[i].is_waiting) {
			bt_scheduler_resume(sim->scheduler, sim->bindings.items[i].pod->meta->uid);
		}
	}
	bt_sim_poke(sim);
}

/** --- asked for by the scheduler --- */

static struct bt_sim_answer *begin(
	struct bt_sim *sim, const struct bt_sim_write *write, struct bt_str key)
{
	struct bt_sim_answer *answer = BT_NEW(struct bt_sim_answer);
	answer->key = key;
	answer->serial = sim->next_answer++;
	answer->write = *write;
	answer->write.object = bt_object_share(write->object);
	answer->write.node_name = bt_arena_str(&sim->texts, write->node_name);
	bt_vec_push(&sim->answers, answer);
	return answer;
}

int bt_sim_write(struct bt_sim *sim, const struct bt_sim_write *write,
	struct bt_str *out_resource_version, struct berth_error *err)
{
	struct bt_str key = key_of(sim, write);
	uint32_t index = find_answer(sim, key);
	if (index == UINT32_MAX) {
		struct bt_sim_answer *answer = begin(sim, write, key);
		index = sim->answers.count - 1;
		if (sim->is_asynchronous && bt_sim_chance(&sim->times, 70)) {
			bt_sim_after(sim,
				bt_sim_between_ms(&sim->times, 1, 800) * BT_SIM_MILLISECOND,
				carry_out_late, answer->serial);
		} else {
			carry_out(sim, answer);
		}
	}
	struct bt_sim_answer *answer = sim->answers.items[index];
	if (!answer->answered) {
		return BT_WRITE_PENDING;
	}
	int result = answer->result;
	if (result < 0) {
		(void)bt_error_move(err, &answer->err);
	} else if (out_resource_version != NULL) {
		*out_resource_version = answer->version;
	}
	bt_vec_remove_ordered(&sim->answers, index);
	release_answer(answer);
	return result;
}

void bt_sim_forget_answers(struct bt_sim *sim)
{
	for (uint32_t i = 0; i < sim->answers.count; i++) {
		release_answer(sim->answers.items[i]);
	}
	sim->answers.count = 0;
}
