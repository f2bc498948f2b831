/* SPDX-License-Identifier: Apache-2.0 */
/* Builds configurations from a line of text, and the world of the fake plugins. */
#include "config/config.h"
#include "fake_plugin.h"

static struct bt_str trim(struct bt_str text)
{
	while (text.length > 0 && text.data[0] == ' ') {
		text = bt_str_sub(text, 1, BT_STR_MAX);
	}
	while (text.length > 0 && text.data[text.length - 1] == ' ') {
		text.length--;
	}
	return text;
}

/** Returns the text before the separator; *rest becomes the text after it. */
static struct bt_str cut(struct bt_str *rest, char separator)
{
	int64_t at = bt_str_find_char(*rest, separator);
	struct bt_str head = *rest;

	if (at < 0) {
		*rest = bt_str_sub(*rest, rest->length, 0);
		return trim(head);
	}
	head = bt_str_sub(*rest, 0, (uint32_t)at);
	*rest = bt_str_sub(*rest, (uint32_t)at + 1, BT_STR_MAX);
	return trim(head);
}

static struct bt_config_plugin_set *find_set(
	struct bt_config_plugins *plugins, struct bt_str member)
{
	for (int p = 0; p < BT_POINT__COUNT; p++) {
		if (bt_str_equal_c(member, bt_extension_point_member((enum bt_extension_point)p))) {
			return &plugins->points[p];
		}
	}
	BT_ASSERT(bt_str_equal_c(member, "multiPoint"));
	return &plugins->multi_point;
}

static void read_list(
	struct bt_arena *arena, struct bt_str text, bool disabled, struct bt_config_plugin_set *set)
{
	struct bt_config_plugin *items = BT_ARENA_NEW_ARRAY(arena, struct bt_config_plugin, 64);
	uint32_t count = 0;

	while (text.length > 0) {
		struct bt_str entry = cut(&text, ',');
		struct bt_str name = cut(&entry, ':');
		int64_t weight = 0;

		BT_ASSERT(entry.length == 0 || bt_str_parse_int64(entry, &weight));
		BT_ASSERT(count < 64);
		items[count++] = (struct bt_config_plugin){.name = name, .weight = (int32_t)weight};
	}
	if (disabled) {
		set->disabled.items = items;
		set->disabled.count = count;
	} else {
		set->enabled.items = items;
		set->enabled.count = count;
	}
}

static void read_config(
	struct bt_arena *arena, struct bt_str text, struct bt_config_profile *profile)
{
	profile->plugin_config.items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_config_plugin_config, 16);
	while (text.length > 0) {
		struct bt_str entry = cut(&text, ',');
		struct bt_str name = cut(&entry, ':');

		BT_ASSERT(profile->plugin_config.count < 16);
		profile->plugin_config.items[profile->plugin_config.count++] =
			(struct bt_config_plugin_config){
				.name = name, .args = {.kind = BT_ARGS_OTHER, .raw = entry}};
	}
}

void fake_config_add(struct bt_config *config, const char *scheduler_name, const char *plugins)
{
	struct bt_arena *arena = &config->arena;
	struct bt_config_plugins *sets = BT_ARENA_NEW(arena, struct bt_config_plugins);
	struct bt_config_profile profile = {
		.scheduler_name = bt_arena_str(arena, bt_str_from(scheduler_name))};
	uint32_t count = config->document.profiles.count;
	struct bt_config_profile *profiles =
		BT_ARENA_NEW_ARRAY(arena, struct bt_config_profile, (size_t)count + 1);
	struct bt_str text = bt_arena_str(arena, bt_str_from(plugins));

	while (text.length > 0) {
		struct bt_str statement = cut(&text, ';');
		struct bt_str member = cut(&statement, '=');
		bool disabled = bt_str_has_suffix(member, BT_STR("!"));

		if (disabled) {
			member.length--;
		}
		if (bt_str_equal_c(member, "config")) {
			read_config(arena, statement, &profile);
		} else if (member.length > 0) {
			read_list(arena, statement, disabled, find_set(sets, member));
		}
	}
	profile.plugins = plugins != NULL ? sets : NULL;
	if (count > 0) {
		memcpy(profiles, config->document.profiles.items, count * sizeof(*profiles));
	}
	profiles[count] = profile;
	config->document.profiles.items = profiles;
	config->document.profiles.count = count + 1;
}

/* --- the world --- */

static void add_node(struct fake_world *world, const char *name)
{
	struct bt_node node = {0};

	node.metadata.name = bt_str_from(name);
	bt_state_add_node(world->state, &node);
}

void fake_world_init(
	struct fake_world *world, struct fake *fakes, uint32_t count, const char *plugins)
{
	static struct fake sort;
	static struct fake binder;
	static const char *const node_names[] = {"n1", "n2", "n3"};
	struct bt_state_options options = {0};
	struct bt_strbuf text = {0};

	*world = (struct fake_world){0};
	sort = fake_plugin("Sort", FAKE_ROLE(FAKE_QUEUE_SORT));
	binder = fake_plugin("Bind", FAKE_ROLE(FAKE_BIND));
	fake_log_reset();
	world->state = bt_state_create(&options);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(node_names); i++) {
		add_node(world, node_names[i]);
	}
	BT_ASSERT(bt_state_refresh_snapshot(world->state, NULL) == BERTH_OK);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(node_names); i++) {
		world->slots[i] = bt_state_snapshot_find(world->state, bt_str_from(node_names[i]));
	}
	bt_nominator_init(&world->nominator, world->state);
	world->registry = (struct bt_registry){0};
	BT_ASSERT(bt_registry_register(&world->registry, &sort.ops, NULL) == BERTH_OK);
	BT_ASSERT(bt_registry_register(&world->registry, &binder.ops, NULL) == BERTH_OK);
	for (uint32_t i = 0; i < count; i++) {
		BT_ASSERT(bt_registry_register(&world->registry, &fakes[i].ops, NULL) == BERTH_OK);
	}
	world->config = bt_config_create(NULL);
	bt_strbuf_append_c(&text, plugins);
	if (strstr(plugins, "queueSort=") == NULL) {
		bt_strbuf_append_c(&text, "; queueSort=Sort");
	}
	if (strstr(plugins, "bind=") == NULL) {
		bt_strbuf_append_c(&text, "; bind=Bind");
	}
	fake_config_add(world->config, "fake", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	world->pod = fake_world_pod(world, "pod", 0);
	if (bt_framework_create(&world->registry, world->config, 0, world->state, &world->nominator,
		    &world->framework, &world->err) == BERTH_OK) {
		bt_cycle_state_init(
			&world->cycle, &world->arena, world->framework->instances.count);
	}
}

void fake_world_finish(struct fake_world *world)
{
	bt_cycle_state_finish(&world->cycle);
	bt_framework_destroy(world->framework);
	berth_error_finish(&world->err);
	bt_config_unref(world->config);
	bt_nominator_finish(&world->nominator);
	bt_vec_finish(&world->registry.entries);
	bt_pod_info_finish_pending(world->state, &world->pod);
	bt_state_destroy(world->state);
	bt_arena_finish(&world->arena);
}

struct bt_pod_info fake_world_pod(struct fake_world *world, const char *name, int32_t priority)
{
	struct bt_pod *object = BT_ARENA_NEW(&world->arena, struct bt_pod);
	struct bt_pod_info info;

	object->metadata.name = bt_arena_str(&world->arena, bt_str_from(name));
	object->metadata.namespace_ = BT_STR("default");
	object->metadata.uid = object->metadata.name;
	object->spec.scheduler_name = BT_STR("fake");
	object->spec.priority = (struct bt_opt_i32){.present = true, .value = priority};
	bt_pod_info_init_pending(world->state, object, &info);
	return info;
}

struct bt_node_info fake_world_node(const struct fake_world *world, uint32_t index)
{
	struct bt_node_info node;

	bt_node_info_init(&node, world->state, world->slots[index]);
	return node;
}

const char *fake_status_plugin(const struct fake_world *world, const struct bt_status *status)
{
	if (status->plugin == 0) {
		return "";
	}
	return world->framework->instances.items[status->plugin - 1]->ops->name;
}

const char *fake_status_text(struct fake_world *world, const struct bt_status *status)
{
	struct bt_strbuf text = {0};
	struct bt_str copy;

	bt_status_message(status, &text);
	copy = bt_arena_str(&world->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}
