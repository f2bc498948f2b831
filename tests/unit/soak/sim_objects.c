/* SPDX-License-Identifier: Apache-2.0 */
#include "sim_objects.h"

#include <check.h>
#include <stdarg.h>
#include <string.h>

#include "api/node.h"
#include "base/strbuf.h"

struct bt_object *sim_object(struct bt_object_store *store, const char *format, ...)
{
	struct bt_strbuf text = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_object *object = NULL;
	va_list arguments;

	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	for (size_t i = 0; i < text.length; i++) {
		text.data[i] = text.data[i] == '\'' ? '"' : text.data[i];
	}
	ck_assert_msg(bt_object_decode(bt_strbuf_str(&text), &object, &err) == 0, "%s: %s",
		berth_error_message(&err), bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	if (store != NULL) {
		bt_object_store_put(store, object);
	}
	return object;
}

struct bt_object *sim_node(struct bt_object_store *store, const char *name, const char *more)
{
	return sim_object(store,
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':{"
		"'kubernetes.io/hostname':'%s','zone':'z0'}},'status':{'allocatable':{'cpu':'2',"
		"'memory':'4Gi','pods':'4'}}%s}",
		name, name, more);
}

struct bt_object *sim_pod(struct bt_object_store *store, const char *name, const char *node,
	const char *cpu, const char *more_spec)
{
	if (strstr(more_spec, "'containers'") != NULL) {
		return sim_object(store,
			"{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'a','name':'%s',"
			"'uid':'%s','resourceVersion':'1','labels':{'app':'x'}},'spec':{"
			"'nodeName':'%s','schedulerName':'default-scheduler'%s}}",
			name, name, node, more_spec);
	}
	return sim_object(store,
		"{'apiVersion':'v1','kind':'Pod','metadata':{'namespace':'a','name':'%s','uid':"
		"'%s','resourceVersion':'1','labels':{'app':'x'}},'spec':{'nodeName':'%s',"
		"'schedulerName':'default-scheduler','containers':[{'name':'c','resources':{"
		"'requests':{'cpu':'%s'}}}]%s}}",
		name, name, node, cpu, more_spec);
}

const struct bt_pod *sim_find_pod(struct bt_object_store *store, const char *name)
{
	return bt_object_store_find(store, BT_KIND_POD, BT_STR("a"), bt_str_from(name));
}

const struct bt_node *sim_find_node(struct bt_object_store *store, const char *name)
{
	return bt_object_store_find(store, BT_KIND_NODE, BT_STR(""), bt_str_from(name));
}
