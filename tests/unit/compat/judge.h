/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_COMPAT_JUDGE_H
#define BT_TESTS_UNIT_COMPAT_JUDGE_H
/** Runs predicates on pods and nodes written as JSON with ' for "; for one test program. */
#include "berth/predicate.h"
#include "cluster.h"

static struct berth_arena *texts;

/**
 * Returns "fits", the reasons joined with "; ", or the error. If predicates is not NULL, the
 * metadata is computed with it and passed to the predicate.
 */
static const char *judge(berth_predicate_fn predicate, struct berth_predicates *predicates,
	const char *pod_text, const struct berth_node_info *node)
{
	static char text[512];
	struct berth_object *pod = cluster_object(pod_text);
	struct berth_predicate_metadata *metadata =
		predicates != NULL ? berth_predicate_metadata_produce(predicates, pod) : NULL;
	struct berth_predicate_result result;
	struct berth_error err = BERTH_ERROR_INIT;

	text[0] = '\0';
	if (predicate(berth_object_pod(pod), metadata, node, texts, &result, &err) != 0) {
		(void)snprintf(text, sizeof(text), "%d %s", err.code, berth_error_message(&err));
		berth_error_finish(&err);
	} else if (result.fits) {
		ck_assert_uint_eq(result.reason_count, 0);
		(void)snprintf(text, sizeof(text), "fits");
	} else {
		for (uint32_t i = 0; i < result.reason_count; i++) {
			size_t length = strlen(text);

			(void)snprintf(text + length, sizeof(text) - length, "%s%s%.*s",
				i != 0 ? "; " : "", result.reasons[i].unresolvable ? "!" : "",
				BERTH_STR_ARG(result.reasons[i].text));
		}
	}
	berth_predicate_metadata_destroy(metadata);
	berth_object_release(pod);
	return text;
}

/**
 * Returns the aggregate of a node that is in no cluster, with the pods of a NULL-terminated list.
 */
static struct berth_node_info *aggregate(const char *node_text, const char *const *pods)
{
	struct berth_node_info *info = berth_node_info_create(NULL, 0);

	if (node_text != NULL) {
		struct berth_object *node = cluster_object(node_text);

		ck_assert_int_eq(berth_node_info_set_node(info, node, NULL), 0);
		berth_object_release(node);
	}
	for (; pods != NULL && *pods != NULL; pods++) {
		struct berth_object *pod = cluster_object(*pods);

		ck_assert_int_eq(berth_node_info_add_pod(info, pod, NULL), 0);
		berth_object_release(pod);
	}
	return info;
}

#define NODE(spec, status) \
	"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n1','labels':{'region':'r1'," \
	"'topology.kubernetes.io/zone':'z1'}},'spec':{" spec "},'status':{" status "}}"
#define POD_META(name) "{'name':'" name "','namespace':'d','uid':'u-" name "','labels':{'a':'b'}}"
#define POD_NAMED(name, spec) \
	"{'apiVersion':'v1','kind':'Pod','metadata':" POD_META(name) ",'spec':{" spec "}}"
#define POD(spec) POD_NAMED("p", spec)
#define REQUESTS(list) "'containers':[{'name':'c','resources':{'requests':{" list "}}}]"
#define CONDITION(type, status) "{'type':'" type "','status':'" status "'}"
#define ALLOCATABLE(list) "'allocatable':{" list "}"
#define EBS(id) "'volumes':[{'name':'v','awsElasticBlockStore':{'volumeID':'" id "'}}]"
#endif
