/* SPDX-License-Identifier: Apache-2.0 */
#include "queue_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "plugins/registry.h"
#include "queue/queue_private.h"
#include "validate/validate.h"

#define START_NS (100 * QUEUE_SECOND)

static void remember_warning(void *context, struct bt_str line)
{
	struct queue_fixture *fixture = context;

	bt_strbuf_append_str(&fixture->warnings, line);
	bt_strbuf_append_char(&fixture->warnings, '\n');
}

static struct bt_str unquoted(struct bt_arena *arena, const char *json)
{
	size_t length = strlen(json);
	char *text = bt_arena_alloc_bytes(arena, length + 1);

	for (size_t i = 0; i <= length; i++) {
		text[i] = json[i] == '\'' ? '"' : json[i];
	}
	return (struct bt_str){text, (uint32_t)length};
}

static void load_config(struct queue_fixture *fixture, const struct queue_setup *setup)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_str json = bt_arena_printf(&fixture->arena,
		"{'apiVersion':'kubescheduler.config.k8s.io/v1',"
		"'kind':'KubeSchedulerConfiguration'%s%s}",
		setup->config != NULL ? "," : "", setup->config != NULL ? setup->config : "");
	int code;

	fixture->gates = bt_gates_default();
	if (setup->gates != NULL) {
		struct bt_gate_release release = {
			setup->emulated_minor != 0 ? setup->emulated_minor : BT_GATE_RELEASE_MINOR,
			BT_GATE_RELEASE_OLDEST_MINOR};
		bt_gate_warning_list warnings;

		code = bt_gates_set_at(&release, true, bt_str_from(setup->gates), &fixture->gates,
			&warnings, &fixture->arena, &err);
		ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	}
	code = bt_config_load(
		unquoted(&fixture->arena, json.data), &fixture->gates, &fixture->config, &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
}

static void create_profiles(struct queue_fixture *fixture, const struct queue_setup *setup)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code;

	fixture->registry = (struct bt_registry){0};
	code = bt_register_in_tree_plugins(&fixture->registry, &err);
	for (uint32_t i = 0; code == 0 && i < setup->fake_count; i++) {
		code = bt_registry_register(&fixture->registry, &setup->fakes[i].ops, &err);
	}
	if (code == 0) {
		code = bt_profiles_create(&fixture->registry, fixture->config, fixture->state,
			&fixture->nominator, &fixture->profiles, &err);
	}
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
}

void queue_init_with(struct queue_fixture *fixture, const struct queue_setup *setup)
{
	struct bt_state_options state_options = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	int code;

	*fixture = (struct queue_fixture){.now_ns = START_NS};
	fake_log_reset();
	load_config(fixture, setup);
	fixture->state = bt_state_create(&state_options);
	bt_nominator_init(&fixture->nominator, fixture->state);
	create_profiles(fixture, setup);
	fixture->options = bt_queue_options_from_config(fixture->config);
	if (setup->max_backoff_is_zero) {
		fixture->options.max_backoff_ns = 0;
	}
	fixture->options.whole_group_min = 1;
	fixture->options.warn = remember_warning;
	fixture->options.warn_context = fixture;
	code = bt_queue_create(&fixture->options, fixture->state, &fixture->profiles,
		&fixture->nominator, &fixture->queue, &err);
	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	bt_queue_start(fixture->queue, fixture->now_ns);
}

void queue_init(struct queue_fixture *fixture)
{
	const struct queue_setup setup = {0};

	queue_init_with(fixture, &setup);
}

static void validate(const struct queue_fixture *fixture)
{
	const char *reason = NULL;

	ck_assert_msg(bt_queue_validate(fixture->queue, &reason), "%s", reason);
}

void queue_finish(struct queue_fixture *fixture)
{
	validate(fixture);
	bt_queue_destroy(fixture->queue);
	for (uint32_t i = 0; i < fixture->objects.count; i++) {
		bt_object_release(fixture->objects.items[i]);
	}
	bt_vec_finish(&fixture->objects);
	bt_profiles_finish(&fixture->profiles);
	bt_vec_finish(&fixture->registry.entries);
	bt_nominator_finish(&fixture->nominator);
	bt_config_unref(fixture->config);
	bt_state_destroy(fixture->state);
	bt_strbuf_finish(&fixture->warnings);
	bt_strbuf_finish(&fixture->text);
	bt_arena_finish(&fixture->arena);
}

/* --- profiles and plugins --- */

static struct bt_str cut(struct bt_str *rest, char separator)
{
	int64_t at = bt_str_find_char(*rest, separator);
	struct bt_str head = at < 0 ? *rest : bt_str_sub(*rest, 0, (uint32_t)at);

	*rest = at < 0 ? BT_STR("") : bt_str_sub(*rest, (uint32_t)at + 1, BT_STR_MAX);
	return head;
}

const char *queue_profiles(const char *plugins)
{
	static char text[2048];
	struct bt_strbuf out = {0};
	struct bt_str rest = bt_str_from(plugins);

	bt_strbuf_append_c(&out, "'profiles':[");
	while (rest.length > 0) {
		struct bt_str list = cut(&rest, ';');
		struct bt_str name = cut(&list, '=');

		bt_strbuf_printf(&out,
			"{'schedulerName':'%.*s','plugins':{'multiPoint':{'disabled':"
			"[{'name':'*'}],'enabled':[{'name':'PrioritySort'}",
			BT_STR_ARG(name));
		while (list.length > 0) {
			struct bt_str plugin = cut(&list, ',');

			bt_strbuf_printf(&out, ",{'name':'%.*s'}", BT_STR_ARG(plugin));
		}
		bt_strbuf_append_c(&out, ",{'name':'DefaultBinder'}]}}}");
		bt_strbuf_append_c(&out, rest.length > 0 ? "," : "]");
	}
	ck_assert_uint_lt(out.length, sizeof(text));
	(void)snprintf(text, sizeof(text), "%s", bt_strbuf_c(&out));
	bt_strbuf_finish(&out);
	return text;
}

struct fake queue_rejector(
	const char *name, const struct bt_event_registration *events, uint32_t count, bool gates)
{
	uint32_t roles = FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_EVENTS);
	struct fake fake = fake_plugin(name, gates ? roles | FAKE_ROLE(FAKE_PRE_ENQUEUE) : roles);

	fake.events = events;
	fake.event_count = count;
	return fake;
}

bool queue_hint_queue(BT_UNUSED const struct bt_hint_call *call)
{
	return true;
}

bool queue_hint_skip(BT_UNUSED const struct bt_hint_call *call)
{
	return false;
}

bool queue_hint_error(const struct bt_hint_call *call)
{
	(void)bt_error_set(call->err, BERTH_ERR_INVALID, "cannot say"); /* the code is ignored */
	return false;
}

/* --- objects --- */

struct bt_object *queue_object(struct queue_fixture *fixture, enum bt_kind kind, const char *json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	struct bt_json_reader reader;
	int code;

	bt_json_reader_init(&reader, unquoted(&fixture->arena, json));
	code = bt_object_decode_as(kind, &reader, &object, &err);
	ck_assert_msg(code == 0, "%s: %s", json, berth_error_message(&err));
	bt_vec_push(&fixture->objects, object);
	return object;
}

struct bt_object *queue_pod(struct queue_fixture *fixture, const char *json)
{
	struct bt_pod pod = *(const struct bt_pod *)queue_object(fixture, BT_KIND_POD, json)->value;

	if (pod.metadata.namespace_.length == 0) {
		pod.metadata.namespace_ = BT_STR("default");
	}
	if (pod.metadata.uid.length == 0) {
		pod.metadata.uid =
			bt_arena_printf(&fixture->arena, "%.*s-uid", BT_STR_ARG(pod.metadata.name));
	}
	if (pod.spec.scheduler_name.length == 0) {
		pod.spec.scheduler_name = fixture->profiles.frameworks.items[0]->scheduler_name;
	}
	bt_vec_push(&fixture->objects, bt_object_create(BT_KIND_POD, &pod));
	return fixture->objects.items[fixture->objects.count - 1];
}

/* --- operations --- */

struct bt_object *queue_add(struct queue_fixture *fixture, const char *json)
{
	struct bt_object *pod = queue_pod(fixture, json);

	bt_queue_add(fixture->queue, pod, fixture->now_ns);
	validate(fixture);
	return pod;
}

const struct bt_queue_entry *queue_entry(struct queue_fixture *fixture, const char *name)
{
	const struct bt_queue_entry *entry =
		bt_queue_find(fixture->queue, BT_STR("default"), bt_str_from(name));

	ck_assert_msg(entry != NULL, "%s is not queued", name);
	return entry;
}

struct bt_queue_entry *queue_pop(struct queue_fixture *fixture)
{
	struct bt_queue_entry *entry = bt_queue_pop(fixture->queue);

	validate(fixture);
	return entry;
}

struct bt_queue_entry *queue_pop_expect(struct queue_fixture *fixture, const char *name)
{
	struct bt_queue_entry *entry = queue_pop(fixture);
	struct bt_str got = entry != NULL ? entry->pod.name : BT_STR("");

	ck_assert_msg(
		bt_str_equal_c(got, name), "popped <%.*s>, expected <%s>", BT_STR_ARG(got), name);
	return entry;
}

static struct bt_rejectors rejectors(
	const struct queue_fixture *fixture, uint32_t profile, const char *names)
{
	struct bt_rejectors set = {{0}};
	struct bt_str rest = bt_str_from(names != NULL ? names : "");

	if (names != NULL && rest.length == 0) {
		bt_rejectors_add(&set, BT_REJECTOR_NAMELESS);
	}
	while (rest.length > 0) {
		struct bt_str name = cut(&rest, ',');
		uint32_t rejector = bt_queue_find_rejector(fixture->queue, profile, name);

		ck_assert_msg(rejector < BT_REJECTOR__COUNT, "no plugin %.*s", BT_STR_ARG(name));
		bt_rejectors_add(&set, rejector);
	}
	return set;
}

void queue_fail(struct queue_fixture *fixture, struct bt_queue_entry *entry, const char *plugins,
	const char *pending)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_queue_rejection rejection = {
		.unschedulable_plugins = rejectors(fixture, entry->profile, plugins),
		.pending_plugins = rejectors(fixture, entry->profile, pending),
	};
	int code = bt_queue_add_unschedulable_if_not_present(fixture->queue, entry,
		plugins != NULL || pending != NULL ? &rejection : NULL, fixture->now_ns, &err);

	ck_assert_msg(code == 0, "%s", berth_error_message(&err));
	validate(fixture);
}

void queue_release(struct queue_fixture *fixture, struct bt_queue_entry *entry)
{
	bt_queue_release(fixture->queue, entry);
	validate(fixture);
}

struct bt_object *queue_add_failed(
	struct queue_fixture *fixture, const char *json, const char *plugins, const char *pending)
{
	struct bt_object *pod = queue_add(fixture, json);
	struct bt_queue_entry *entry = queue_pop(fixture);

	ck_assert_ptr_nonnull(entry);
	ck_assert_ptr_eq(entry->object, pod);
	queue_fail(fixture, entry, plugins, pending);
	return pod;
}

void queue_update(
	struct queue_fixture *fixture, struct bt_object *old_pod, struct bt_object *new_pod)
{
	bt_queue_update(fixture->queue, old_pod, new_pod, fixture->now_ns);
	validate(fixture);
}

void queue_move(struct queue_fixture *fixture, const struct bt_cluster_event *event,
	struct bt_object *old_object, struct bt_object *new_object)
{
	bt_queue_move_all_to_active_or_backoff_queue(
		fixture->queue, event, old_object, new_object, NULL, fixture->now_ns);
	validate(fixture);
}

void queue_advance(struct queue_fixture *fixture, int64_t by_ns)
{
	fixture->now_ns += by_ns;
	bt_queue_tick(fixture->queue, fixture->now_ns);
	validate(fixture);
}

/* --- inspection --- */

struct name_list {
	bool gated;
	uint32_t count;
	struct bt_str names[64];
};

static bool collect(void *context, const struct bt_queue_entry *entry)
{
	struct name_list *list = context;

	if (bt_queue_entry_is_gated(entry) == list->gated) {
		ck_assert_uint_lt(list->count, BT_ARRAY_LENGTH(list->names));
		list->names[list->count++] = entry->pod.name;
	}
	return true;
}

static void append_place(
	struct queue_fixture *fixture, enum bt_queue_place place, bool gated, const char *word)
{
	struct name_list list = {.gated = gated};

	bt_queue_for_each(fixture->queue, place, collect, &list);
	if (list.count == 0) {
		return;
	}
	qsort(list.names, list.count, sizeof(list.names[0]), bt_str_compare_qsort);
	bt_strbuf_append_c(&fixture->text, fixture->text.length > 0 ? ", " : "");
	bt_strbuf_append_c(&fixture->text, word);
	for (uint32_t i = 0; i < list.count; i++) {
		bt_strbuf_append_char(&fixture->text, ' ');
		bt_strbuf_append_str(&fixture->text, list.names[i]);
	}
}

const char *queue_places(struct queue_fixture *fixture)
{
	bt_strbuf_reset(&fixture->text);
	append_place(fixture, BT_QUEUE_ACTIVE, false, "active");
	append_place(fixture, BT_QUEUE_BACKOFF, false, "backoff");
	append_place(fixture, BT_QUEUE_ERROR_BACKOFF, false, "error");
	append_place(fixture, BT_QUEUE_UNSCHEDULABLE, false, "unschedulable");
	append_place(fixture, BT_QUEUE_UNSCHEDULABLE, true, "gated");
	return bt_strbuf_c(&fixture->text);
}

void queue_expect(struct queue_fixture *fixture, const char *places)
{
	ck_assert_str_eq(queue_places(fixture), places);
}

struct label_search {
	const char *label;
	enum bt_queue_place place;
	uint64_t found;
};

static void find_label(void *context, const struct bt_queue_event_counters *counters)
{
	struct label_search *search = context;

	if (!bt_str_equal_c(counters->label, search->label)) {
		return;
	}
	switch (search->place) {
	case BT_QUEUE_ACTIVE:
		search->found += counters->incoming_active;
		break;
	case BT_QUEUE_BACKOFF:
	case BT_QUEUE_ERROR_BACKOFF:
		search->found += counters->incoming_backoff;
		break;
	case BT_QUEUE_UNSCHEDULABLE:
		search->found += counters->incoming_unschedulable;
		break;
	case BT_QUEUE_OUT:
		break;
	}
}

uint64_t queue_incoming(struct queue_fixture *fixture, enum bt_queue_place place, const char *label)
{
	struct label_search search = {.label = label, .place = place};

	bt_queue_for_each_label(fixture->queue, find_label, &search);
	return search.found;
}

static void append_log(void *context, const struct bt_queue_event_counters *counters)
{
	struct queue_fixture *fixture = context;

	if (counters->in_flight > 0) {
		bt_strbuf_append_str(&fixture->text, counters->label);
		bt_strbuf_printf(&fixture->text, " %u, ", counters->in_flight);
	}
}

const char *queue_log(struct queue_fixture *fixture)
{
	bt_strbuf_reset(&fixture->text);
	bt_queue_for_each_label(fixture->queue, append_log, fixture);
	bt_strbuf_printf(&fixture->text, "PodPopped %u", bt_queue_in_flight_count(fixture->queue));
	return bt_strbuf_c(&fixture->text);
}

int64_t queue_gauge(struct queue_fixture *fixture, const char *plugin)
{
	return bt_queue_unschedulable_pods(
		fixture->queue, 0, bt_queue_find_rejector(fixture->queue, 0, bt_str_from(plugin)));
}

const char *queue_hints(struct queue_fixture *fixture, const char *plugin, const char *label)
{
	const struct bt_queue *queue = fixture->queue;
	uint64_t counts[3] = {0};

	for (uint32_t i = 0; i < queue->events.count; i++) {
		const struct bt_queue_event *event = &queue->events.items[i];
		bool is_wanted = event->listeners != NULL && strcmp(event->label, label) == 0;

		for (uint32_t p = 0; is_wanted && p < queue->profiles->frameworks.count; p++) {
			const struct bt_queue_listeners *listeners = &event->listeners[p];

			for (uint32_t l = 0; l < listeners->items.count; l++) {
				const struct bt_queue_listener *listener =
					&listeners->items.items[l];

				if (bt_str_equal_c(
					    bt_queue_rejector_name(queue, p, listener->rejector),
					    plugin)) {
					counts[0] += listener->queue_count;
					counts[1] += listener->skip_count;
					counts[2] += listener->error_count;
				}
			}
		}
	}
	bt_strbuf_reset(&fixture->text);
	bt_strbuf_printf(&fixture->text, "%u %u %u", (unsigned int)counts[0],
		(unsigned int)counts[1], (unsigned int)counts[2]);
	return bt_strbuf_c(&fixture->text);
}

const char *queue_nominated(struct queue_fixture *fixture, const char *node)
{
	const struct bt_pod_info *pod;
	uint32_t cursor = BT_NOMINATION_FIRST;

	bt_strbuf_reset(&fixture->text);
	while ((pod = bt_nominator_next(&fixture->nominator, bt_str_from(node), &cursor)) != NULL) {
		bt_strbuf_append_c(&fixture->text, fixture->text.length > 0 ? " " : "");
		bt_strbuf_append_str(&fixture->text, pod->name);
	}
	return bt_strbuf_c(&fixture->text);
}
