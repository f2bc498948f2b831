/* SPDX-License-Identifier: Apache-2.0 */
#include "life_world.h"

#include <check.h>

#include "sched/scheduler_private.h"
#include "validate/validate.h"

/* --- writes of the scheduler --- */

static int note_bind(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
	struct berth_error *err)
{
	struct life *life = context;

	bt_strbuf_printf(
		&life->log, "bind %.*s %.*s\n", BT_STR_ARG(pod->name), BT_STR_ARG(node_name));
	if (life->during_bind != NULL) {
		life->during_bind(life);
	}
	if (life->bind_is_pending) {
		return BT_WRITE_PENDING;
	}
	if (life->bind_error != NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s", life->bind_error);
	}
	return 0;
}

static int note_patch(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination,
	struct berth_error *err)
{
	struct life *life = context;

	(void)err;
	bt_strbuf_printf(&life->log, "patch %.*s", BT_STR_ARG(pod->metadata.name));
	if (condition != NULL) {
		ck_assert(bt_str_equal_c(condition->type, "PodScheduled"));
		ck_assert(bt_str_equal_c(condition->status, "False"));
		bt_strbuf_printf(&life->log, " %.*s: %.*s", BT_STR_ARG(condition->reason),
			BT_STR_ARG(condition->message));
	}
	if (nomination->present && nomination->mode == BT_NOMINATING_OVERRIDE) {
		bt_strbuf_printf(
			&life->log, " nominated=%.*s", BT_STR_ARG(nomination->nominated_node_name));
	}
	bt_strbuf_append_char(&life->log, '\n');
	return life->patch_is_pending ? BT_WRITE_PENDING : 0;
}

static int note_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, BT_UNUSED struct berth_error *err)
{
	struct life *life = context;

	bt_strbuf_printf(&life->log, "group %.*s %.*s %.*s: %.*s\n",
		BT_STR_ARG(group->metadata.name), BT_STR_ARG(condition->status),
		BT_STR_ARG(condition->reason), BT_STR_ARG(condition->message));
	life->observed_generation = condition->observed_generation;
	return 0;
}

static void note_event(void *context, const struct bt_pod *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	struct life *life = context;

	bt_strbuf_printf(&life->log, "event %.*s %s %s %s %.*s\n", BT_STR_ARG(pod->metadata.name),
		type, reason, action, BT_STR_ARG(note));
}

static void note_warning(void *context, struct bt_str line)
{
	struct life *life = context;

	bt_strbuf_printf(&life->log, "warn %.*s\n", BT_STR_ARG(line));
}

const char *life_log(struct life *life)
{
	const char *text = bt_arena_str(&life->arena, bt_strbuf_str(&life->log)).data;

	bt_strbuf_reset(&life->log);
	return text;
}

/* --- setup and teardown --- */

static bool may_schedule(void *context)
{
	const struct life *life = context;

	return !life->pops_nothing;
}

static int ignore_patch(BT_UNUSED void *context, BT_UNUSED struct bt_preemption_ticket ticket,
	BT_UNUSED const struct bt_pod *pod, BT_UNUSED const struct bt_pod_condition *condition,
	BT_UNUSED const struct bt_post_filter_result *nomination, BT_UNUSED struct berth_error *err)
{
	return 0;
}

static int delete_victim(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	const struct bt_scheduler_writer *writes = &((struct life *)context)->writes;

	return writes->delete_pod(writes->context, ticket, victim, err);
}

static void init(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count,
	const struct bt_extender_factory *extenders, struct bt_scheduler_metrics *metrics,
	const struct bt_scheduler_writer *writes)
{
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_registry registry;
	struct bt_scheduler_writer writer = {
		.context = life,
		.bind = note_bind,
		.patch_status = note_patch,
		.patch_pod_group = note_group,
		.event = note_event,
		.warn = note_warning,
		.may_schedule = may_schedule,
		.claims = writes != NULL ? writes->claims : NULL,
		.patch_other = ignore_patch,
		.delete_pod = writes != NULL && writes->delete_pod != NULL ? delete_victim : NULL,
	};

	*life = (struct life){.now_ns = 1000 * LIFE_SECOND};
	if (writes != NULL) {
		life->writes = *writes;
	}
	bt_object_store_init(&life->objects);
	life->config = world_load_config_gated(&life->arena, gates, config);
	registry = (struct bt_registry){0};
	for (uint32_t i = 0; i < script_count; i++) {
		ck_assert_int_eq(bt_registry_register(&registry, &scripts[i]->fake.ops, &err), 0);
	}
	options.verify = true;
	options.extra_plugins = &registry;
	options.extenders = extenders;
	options.metrics = metrics;
	ck_assert_msg(
		bt_scheduler_create(life->config, &options, &writer, &life->scheduler, &err) == 0,
		"%s", berth_error_message(&err));
	bt_vec_finish(&registry.entries);
	fake_log_reset();
}

void life_init(
	struct life *life, const char *config, struct script *const *scripts, uint32_t script_count)
{
	init(life, "", config, scripts, script_count, NULL, NULL, NULL);
}

void life_init_extended(struct life *life, const char *config, struct script *const *scripts,
	uint32_t script_count, const struct bt_extender_factory *extenders)
{
	init(life, "", config, scripts, script_count, extenders, NULL, NULL);
}

void life_init_gated(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count)
{
	init(life, gates, config, scripts, script_count, NULL, NULL, NULL);
}

void life_init_counted(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count, struct bt_scheduler_metrics *metrics)
{
	init(life, gates, config, scripts, script_count, NULL, metrics, NULL);
}

void life_init_writing(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count,
	const struct bt_scheduler_writer *writer)
{
	init(life, gates, config, scripts, script_count, NULL, NULL, writer);
}

static int no_victim(BT_UNUSED void *context, BT_UNUSED struct bt_preemption_ticket ticket,
	BT_UNUSED const struct bt_preemption_pod *victim, BT_UNUSED struct berth_error *err)
{
	ck_abort_msg("no pod is preempted");
}

const struct bt_scheduler_writer life_no_victims = {.delete_pod = no_victim};

bool life_cancel(struct life *life, const char *uid)
{
	const struct bt_preemption_writer *writer = bt_scheduler_engine(life->scheduler)
							    ->profiles.frameworks.items[0]
							    ->handle.preemption_writer;

	return writer->cancel_pre_bind(
		writer->context, bt_str_from(uid), BT_STR("preempted by DefaultPreemption"));
}

void life_finish(struct life *life)
{
	struct bt_strbuf reason = {0};
	const char *broken = "";

	ck_assert_msg(
		bt_queue_validate(bt_scheduler_queue(life->scheduler), &broken), "%s", broken);
	ck_assert_msg(bt_api_calls_validate(&life->scheduler->calls, &broken), "%s", broken);
	ck_assert_int_eq(
		bt_state_refresh_snapshot(bt_scheduler_engine(life->scheduler)->state, NULL), 0);
	ck_assert_msg(bt_state_validate(bt_scheduler_engine(life->scheduler)->state, &reason), "%s",
		bt_strbuf_c(&reason));
	bt_strbuf_finish(&reason);
	bt_scheduler_destroy(life->scheduler);
	bt_object_store_finish(&life->objects);
	bt_config_unref(life->config);
	bt_strbuf_finish(&life->log);
	bt_arena_finish(&life->arena);
}

/* --- the watch --- */

/* Sets the default schedulerName, as the API server does. */
static struct bt_object *with_scheduler_name(struct bt_object *object)
{
	struct bt_pod pod;
	struct bt_object *named;

	if (object->kind != BT_KIND_POD) {
		return object;
	}
	pod = *(const struct bt_pod *)object->value;
	if (pod.spec.scheduler_name.length != 0) {
		return object;
	}
	pod.spec.scheduler_name = BT_STR("default-scheduler");
	named = bt_object_create(BT_KIND_POD, &pod);
	bt_object_release(object);
	return named;
}

static struct bt_object *observe(struct life *life, struct bt_object *object, struct bt_object *old)
{
	struct berth_error err = BERTH_ERROR_INIT;

	object = with_scheduler_name(object);
	ck_assert_int_eq(bt_scheduler_observe(life->scheduler, old, object, life->now_ns, &err), 0);
	/* Put the object last: this releases the old version. */
	bt_object_store_put(&life->objects, object);
	return object;
}

struct bt_object *life_observe(struct life *life, struct bt_object *object)
{
	return observe(life, object,
		bt_object_store_find_object(&life->objects, object->kind, object->meta->namespace_,
			object->meta->name));
}

struct bt_object *life_object(
	struct life *life, enum bt_kind kind, const char *json, struct bt_object *old)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;
	struct bt_object *object = NULL;

	bt_json_reader_init(&reader, world_json(&life->arena, json));
	ck_assert_msg(bt_object_decode_as(kind, &reader, &object, &err) == 0, "%s: %s", json,
		berth_error_message(&err));
	return observe(life, object, old);
}

static struct bt_object *newest(
	struct life *life, enum bt_kind kind, const char *namespace_, const char *name)
{
	return bt_object_store_find_object(
		&life->objects, kind, bt_str_from(namespace_), bt_str_from(name));
}

void life_node(struct life *life, const char *name, const char *more)
{
	struct bt_str json = bt_arena_printf(&life->arena,
		"{'metadata':{'name':'%s','resourceVersion':'%u'}%s%s}", name, ++life->version,
		more[0] != '\0' ? "," : "", more);

	(void)life_object(life, BT_KIND_NODE, json.data, newest(life, BT_KIND_NODE, "", name));
}

void life_pod(struct life *life, const char *name, const char *metadata, const char *more)
{
	struct bt_str json = bt_arena_printf(&life->arena,
		"{'metadata':{'name':'%s','namespace':'default','uid':'uid-%s',"
		"'resourceVersion':'%u'%s%s}%s%s}",
		name, name, ++life->version, metadata[0] != '\0' ? "," : "", metadata,
		more[0] != '\0' ? "," : "", more);

	(void)life_object(life, BT_KIND_POD, json.data, newest(life, BT_KIND_POD, "default", name));
}

void life_delete(struct life *life, enum bt_kind kind, const char *namespace_, const char *name)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *old = newest(life, kind, namespace_, name);

	ck_assert_msg(old != NULL, "%s", name);
	ck_assert_int_eq(bt_scheduler_observe(life->scheduler, old, NULL, life->now_ns, &err), 0);
	ck_assert(bt_object_store_delete(
		&life->objects, kind, bt_str_from(namespace_), bt_str_from(name)));
}

/* --- attempts --- */

static void keep_texts(struct life *life, struct bt_attempt *attempt)
{
	attempt->namespace_ = bt_arena_str(&life->arena, attempt->namespace_);
	attempt->name = bt_arena_str(&life->arena, attempt->name);
	attempt->node_name = bt_arena_str(&life->arena, attempt->node_name);
	attempt->reason = bt_arena_str(&life->arena, attempt->reason);
	attempt->message = bt_arena_str(&life->arena, attempt->message);
}

struct bt_attempt life_schedule(struct life *life)
{
	struct bt_attempt attempt;

	(void)bt_scheduler_step(life->scheduler, life->now_ns, &attempt);
	keep_texts(life, &attempt);
	return attempt;
}

struct bt_attempt life_finish_waiting(struct life *life)
{
	struct bt_attempt attempt;

	life->pops_nothing = true;
	(void)bt_scheduler_step(life->scheduler, life->now_ns, &attempt);
	life->pops_nothing = false;
	ck_assert(attempt.has_waited == (attempt.outcome != BT_ATTEMPT_IDLE));
	keep_texts(life, &attempt);
	return attempt;
}

void life_advance(struct life *life, int64_t seconds)
{
	struct bt_queue *queue = bt_scheduler_queue(life->scheduler);

	life->now_ns += seconds * LIFE_SECOND;
	bt_queue_flush_backoff_completed(queue, life->now_ns);
	bt_queue_flush_unschedulable_leftover(queue, life->now_ns);
}

/* --- inspection --- */

static const struct bt_queue_entry *entry_of(struct life *life, const char *pod)
{
	return bt_queue_find(
		bt_scheduler_queue(life->scheduler), BT_STR("default"), bt_str_from(pod));
}

const char *life_place(struct life *life, const char *pod)
{
	const struct bt_queue_entry *entry = entry_of(life, pod);

	if (entry == NULL) {
		return "-";
	}
	switch (entry->place) {
	case BT_QUEUE_ACTIVE:
		return "active";
	case BT_QUEUE_BACKOFF:
		return "backoff";
	case BT_QUEUE_ERROR_BACKOFF:
		return "error";
	case BT_QUEUE_UNSCHEDULABLE:
		return "unschedulable";
	case BT_QUEUE_OUT:
		break;
	}
	return "out";
}

const char *life_rejectors(struct life *life, const char *pod, bool pending)
{
	const struct bt_queue_entry *entry = entry_of(life, pod);
	const struct bt_rejectors *set;
	struct bt_strbuf text = {0};
	struct bt_str copy;

	ck_assert_msg(entry != NULL, "%s is not queued", pod);
	set = pending ? &entry->pending_plugins : &entry->unschedulable_plugins;
	for (uint32_t i = bt_rejectors_next(set, 0); i < BT_REJECTOR__COUNT;
		i = bt_rejectors_next(set, i + 1)) {
		bt_strbuf_append_c(&text, text.length != 0 ? " " : "");
		if (i == BT_REJECTOR_NAMELESS) {
			bt_strbuf_append_c(&text, "<>");
		}
		bt_strbuf_append_str(&text,
			bt_queue_rejector_name(
				bt_scheduler_queue(life->scheduler), entry->profile, i));
	}
	copy = bt_arena_str(&life->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

uint32_t life_pod_count(const struct life *life)
{
	return bt_scheduler_engine(life->scheduler)->state->pods.count;
}

bool life_is_assumed(struct life *life, const char *pod)
{
	bool assumed = false;
	const struct bt_pod *value = bt_object_store_find(
		&life->objects, BT_KIND_POD, BT_STR("default"), bt_str_from(pod));

	ck_assert(value != NULL);
	ck_assert_int_eq(bt_state_is_assumed_pod(bt_scheduler_engine(life->scheduler)->state, value,
				 &assumed, NULL),
		0);
	return assumed;
}

const char *life_node_of(struct life *life, const char *uid)
{
	const struct bt_state *state = bt_scheduler_engine(life->scheduler)->state;
	uint32_t id = bt_state_find_pod(state, bt_str_from(uid));

	if (id == BT_POD_NONE) {
		return "";
	}
	return bt_arena_str(
		&life->arena, bt_node_table_name(&state->nodes, bt_state_pod_at(state, id)->node))
		.data;
}

struct label_count {
	const char *label;
	uint64_t count;
};

static void count_label(void *context, const struct bt_queue_event_counters *counters)
{
	struct label_count *wanted = context;

	if (bt_str_equal_c(counters->label, wanted->label)) {
		wanted->count += counters->incoming_active + counters->incoming_backoff +
			counters->incoming_unschedulable;
	}
}

uint64_t life_moved_by(struct life *life, const char *label)
{
	struct label_count wanted = {label, 0};

	bt_queue_for_each_label(bt_scheduler_queue(life->scheduler), count_label, &wanted);
	return wanted.count;
}
