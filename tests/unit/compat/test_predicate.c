/* SPDX-License-Identifier: Apache-2.0 */
/** Spec 05b parts A and B, through the public predicates. */
#include "berth/predicate.h"

#include "judge.h"

/** A predicate, a pod and a node that is in no cluster. */
struct row {
	const char *name; /* name of the predicate */
	const char *pod;
	const char *node;
	const char *other; /* a pod on the node; NULL: none */
	const char *expected;
};

static const struct row rows[] = {
	/* seed-map 003.61; 05b E1, E2 */
	{"CheckNodeCondition", POD(""),
		NODE("'unschedulable':true",
			"'conditions':[" CONDITION("Ready", "Unknown") "," CONDITION("OutOfDisk",
				"Unknown") "," CONDITION("NetworkUnavailable", "True") "]"),
		NULL,
		"!node(s) were not ready; !node(s) were out of disk space; !node(s) had "
		"unavailable network; !node(s) were unschedulable"},
	{"CheckNodeCondition", POD(""), NODE("", ""), NULL, "fits"},
	{"CheckNodeCondition", POD(""), NULL, NULL, "!node(s) had unknown conditions"},
	/* seed-map 003.62 */
	{"CheckNodeUnschedulable", POD(""), NODE("'unschedulable':true", ""), NULL,
		"!node(s) were unschedulable"},
	{"CheckNodeUnschedulable", POD("'tolerations':[{'operator':'Exists'}]"),
		NODE("'unschedulable':true", ""), NULL, "fits"},
	/* seed-map 003.63; 05b E7 */
	{"GeneralPredicates", POD("'nodeName':'n2'," REQUESTS("'cpu':'2'")),
		NODE("", ALLOCATABLE("'cpu':'1','pods':'5'")), NULL,
		"Insufficient cpu; !node(s) didn't match the requested hostname"},
	/* seed-map 003.64 */
	{"HostName", POD("'nodeName':'n2'"), NODE("", ""), NULL,
		"!node(s) didn't match the requested hostname"},
	{"HostName", POD("'nodeName':'n1'"), NODE("", ""), NULL, "fits"},
	/* seed-map 003.65 */
	{"PodFitsHostPorts", POD("'containers':[{'name':'c','ports':[{'hostPort':80}]}]"),
		NODE("", ""),
		POD_NAMED("q",
			"'containers':[{'name':'c','ports':[{'hostPort':80,'hostIP':'10.0.0.1'}]}"
			"]"),
		"node(s) didn't have free ports for the requested pod ports"},
	{"PodFitsHostPorts", POD("'containers':[{'name':'c','ports':[{'hostPort':81}]}]"),
		NODE("", ""),
		POD_NAMED("q", "'containers':[{'name':'c','ports':[{'hostPort':80}]}]"), "fits"},
	/* seed-map 003.66 */
	{"MatchNodeSelector", POD("'nodeSelector':{'region':'r2'}"), NODE("", ""), NULL,
		"!node(s) didn't match node selector"},
	{"MatchNodeSelector", POD("'nodeSelector':{'region':'r1'}"), NODE("", ""), NULL, "fits"},
	/* seed-map 003.67, 003.83, 003.85; 05b E5, E6 */
	{"PodFitsResources", POD(REQUESTS("'memory':'1'")),
		NODE("", ALLOCATABLE("'cpu':'10','memory':'10','pods':'5'")),
		POD_NAMED("q", REQUESTS("'cpu':'12'")), "Insufficient cpu"},
	{"PodFitsResources", POD(""), NODE("", ALLOCATABLE("'pods':'1'")), POD_NAMED("q", ""),
		"Insufficient pods"},
	{"PodFitsResources", POD(REQUESTS("'cpu':'2','example.com/x':'1'")),
		NODE("", ALLOCATABLE("'cpu':'1','pods':'9'")), NULL,
		"Insufficient cpu; Insufficient example.com/x"},
	/* seed-map 003.84 */
	{"PodFitsResources", POD(""), NULL, NULL, "-10 node not found"},
	/* seed-map 003.88: without requests only the pod count is checked */
	{"PodFitsResources", POD(""), NODE("", ALLOCATABLE("'cpu':'1','pods':'5'")),
		POD_NAMED("q", REQUESTS("'cpu':'3'")), "fits"},
	/* seed-map 003.68 */
	{"NoDiskConflict", POD(EBS("e")), NODE("", ""), POD_NAMED("q", EBS("e")),
		"node(s) had no available disk"},
	{"NoDiskConflict", POD(EBS("e")), NODE("", ""), POD_NAMED("q", EBS("f")), "fits"},
	/* seed-map 003.69 */
	{"PodToleratesNodeTaints", POD(""),
		NODE("'taints':[{'key':'k','effect':'NoSchedule'}]", ""), NULL,
		"!node(s) had taints that the pod didn't tolerate"},
	{"PodToleratesNodeTaints", POD("'tolerations':[{'key':'k','operator':'Exists'}]"),
		NODE("'taints':[{'key':'k','effect':'NoSchedule'}]", ""), NULL, "fits"},
	/* seed-map 003.70; 05b E4 */
	{"PodToleratesNodeNoExecuteTaints", POD(""),
		NODE("'taints':[{'key':'k','value':'v','effect':'NoSchedule'}]", ""), NULL, "fits"},
	{"PodToleratesNodeNoExecuteTaints", POD(""),
		NODE("'taints':[{'key':'k','value':'v','effect':'NoExecute'}]", ""), NULL,
		"!node(s) had taints that the pod didn't tolerate"},
	/* seed-map 003.73; 05b E17, E18 */
	{"MaxEBSVolumeCount", POD(EBS("e")),
		NODE("", ALLOCATABLE("'attachable-volumes-aws-ebs':'1'")), POD_NAMED("q", EBS("f")),
		"node(s) exceed max volume count"},
	{"MaxEBSVolumeCount", POD(EBS("e")),
		NODE("", ALLOCATABLE("'attachable-volumes-aws-ebs':'1'")), POD_NAMED("q", EBS("e")),
		"fits"},
	/* seed-map 003.74 */
	{"MaxGCEPDVolumeCount", POD("'volumes':[{'name':'v','gcePersistentDisk':{'pdName':'a'}}]"),
		NODE("", ALLOCATABLE("'attachable-volumes-gce-pd':'1'")),
		POD_NAMED("q", "'volumes':[{'name':'v','gcePersistentDisk':{'pdName':'b'}}]"),
		"node(s) exceed max volume count"},
	{"MaxGCEPDVolumeCount", POD(EBS("e")), NODE("", ""), NULL, "fits"},
	/* seed-map 003.75 */
	{"MaxCSIVolumeCountPred", POD(""), NODE("", ""), NULL, "fits"},
	/* seed-map 003.76 */
	{"MaxAzureDiskVolumeCount",
		POD("'volumes':[{'name':'v','azureDisk':{'diskName':'a','diskURI':'a'}}]"),
		NODE("", ALLOCATABLE("'attachable-volumes-azure-disk':'1'")),
		POD_NAMED(
			"q", "'volumes':[{'name':'v','azureDisk':{'diskName':'b','diskURI':'b'}}]"),
		"node(s) exceed max volume count"},
	/* seed-map 003.77: an unknown claim */
	{"CheckVolumeBinding",
		POD("'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'c'}}]"),
		NODE("", ""), NULL, "!persistentvolumeclaim \"c\" not found"},
	{"CheckVolumeBinding", POD(""), NODE("", ""), NULL, "fits"},
	/* seed-map 003.78 */
	{"NoVolumeZoneConflict", POD(""), NODE("", ""), NULL, "fits"},
	/* seed-map 003.79; 05b E3 */
	{"CheckNodeMemoryPressure", POD(""),
		NODE("", "'conditions':[" CONDITION("MemoryPressure", "True") "]"), NULL,
		"!node(s) had memory pressure"},
	{"CheckNodeMemoryPressure", POD(REQUESTS("'memory':'1'")),
		NODE("", "'conditions':[" CONDITION("MemoryPressure", "True") "]"), NULL, "fits"},
	/* seed-map 003.80 */
	{"CheckNodePIDPressure", POD(""),
		NODE("", "'conditions':[" CONDITION("PIDPressure", "True") "]"), NULL,
		"!node(s) had pid pressure"},
	/* seed-map 003.81 */
	{"CheckNodeDiskPressure", POD(""),
		NODE("", "'conditions':[" CONDITION("DiskPressure", "Unknown") "]"), NULL, "fits"},
	{"CheckNodeDiskPressure", POD(""),
		NODE("", "'conditions':[" CONDITION("DiskPressure", "True") "]"), NULL,
		"!node(s) had disk pressure"},
	/* seed-map 003.82 */
	{"MatchInterPodAffinity",
		POD("'affinity':{'podAntiAffinity':{"
		    "'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':{"
		    "'matchLabels':{'a':'b'}},'topologyKey':'region'}]}}"),
		NODE("", ""), POD_NAMED("q", ""), "node(s) didn't match pod anti-affinity rules"},
	{"MatchInterPodAffinity", POD(""), NODE("", ""), POD_NAMED("q", ""), "fits"},
};

/* seed-map 003.48: each predicate, found by name; with and without metadata */
START_TEST(test_predicate__rows)
{
	texts = berth_arena_create();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		const char *others[] = {row->other, NULL};
		struct berth_node_info *node = aggregate(row->node, others);
		struct berth_predicates *predicates = berth_predicates_create(NULL);
		berth_predicate_fn predicate = berth_predicate_find(NULL, row->name);

		ck_assert_msg(predicate != NULL, "row %zu: %s", i, row->name);
		const char *text = judge(predicate, NULL, row->pod, node);
		ck_assert_msg(strcmp(text, row->expected) == 0, "row %zu: %s: %s instead of %s", i,
			row->name, text, row->expected);
		if (strcmp(row->name, "MatchInterPodAffinity") != 0) {
			/*
			 * MatchInterPodAffinity is not run with metadata: metadata covers only the
			 * nodes of the cluster, and this node is in no cluster.
			 */
			text = judge(predicate, predicates, row->pod, node);
			ck_assert_msg(strcmp(text, row->expected) == 0,
				"row %zu with metadata: %s: %s instead of %s", i, row->name, text,
				row->expected);
		}
		berth_predicates_destroy(predicates);
		berth_node_info_destroy(node);
	}
	berth_arena_destroy(texts);
}
END_TEST

/* seed-map 003.49, 003.50 */
START_TEST(test_predicate__ordering)
{
	const char *const *names = berth_predicate_ordering();

	ck_assert_int_eq(BERTH_PREDICATE__COUNT, 22);
	ck_assert_str_eq(names[0], "CheckNodeCondition");
	ck_assert_str_eq(names[2], "GeneralPredicates");
	ck_assert_str_eq(names[12], "MaxEBSVolumeCount");
	ck_assert_str_eq(names[14], "MaxCSIVolumeCountPred");
	ck_assert_str_eq(names[19], "CheckNodePIDPressure");
	ck_assert_str_eq(names[21], "MatchInterPodAffinity");
	for (int i = 0; i < BERTH_PREDICATE__COUNT; i++) {
		ck_assert_str_eq(berth_predicate_name((enum berth_predicate)i), names[i]);
		ck_assert(berth_predicate_find(NULL, names[i]) != NULL);
	}
	ck_assert_ptr_null(berth_predicate_name(BERTH_PREDICATE__COUNT));
	ck_assert(berth_predicate_find(NULL, "PodFitsPorts") ==
		berth_predicate_find(NULL, "PodFitsHostPorts"));
	ck_assert(berth_predicate_find(NULL, "EvenPodsSpread") == NULL);
}
END_TEST

/* seed-map 003.52, 003.53, 003.54 */
START_TEST(test_predicate__reasons)
{
	static const char *const others[] = {
		POD_NAMED("q", REQUESTS("'cpu':'1','example.com/x':'2'")), NULL};
	struct berth_node_info *node = aggregate(
		NODE("", ALLOCATABLE("'cpu':'2','pods':'9','example.com/x':'2'")), others);
	struct berth_object *pod =
		cluster_object(POD(REQUESTS("'cpu':'1500m','example.com/x':'1'")));
	struct berth_predicate_result result;

	texts = berth_arena_create();
	ck_assert_int_eq(berth_predicate_pod_fits_resources(
				 berth_object_pod(pod), NULL, node, texts, &result, NULL),
		0);
	ck_assert_uint_eq(result.reason_count, 2);
	ck_assert(result.reasons[0].is_insufficient_resource);
	ck_assert_int_eq(result.reasons[0].insufficient.requested, 1500);
	ck_assert_int_eq(result.reasons[0].insufficient.used, 1000);
	ck_assert_int_eq(result.reasons[0].insufficient.capacity, 2000);
	cluster_expect(result.reasons[1].insufficient.resource_name, "example.com/x");
	cluster_expect(berth_insufficient_resource_error(&result.reasons[1].insufficient, texts),
		"Node didn't have enough resource: example.com/x, requested: 1, used: 2, capacity: "
		"2");
	struct berth_insufficient_resource made =
		berth_insufficient_resource_make(BERTH_STR("pods"), 1, 5, 5);
	cluster_expect(berth_insufficient_resource_reason(&made, texts), "Insufficient pods");
	cluster_expect(
		berth_predicate_failure_reason_make(BERTH_STR("because"), texts).text, "because");
	berth_object_release(pod);
	berth_node_info_destroy(node);
	berth_arena_destroy(texts);
}
END_TEST

/*
 * seed-map 003.33, 003.34, 003.35, 003.36: metadata is computed once for a pod, and used for all
 * nodes
 */
START_TEST(test_predicate__metadata)
{
	struct berth_predicate_options options = BERTH_PREDICATE_OPTIONS_INIT;
	struct berth_node_info *node =
		aggregate(NODE("", ALLOCATABLE("'cpu':'4','pods':'9'")), NULL);
	struct berth_object *pod = cluster_object(
		POD("'initContainers':[{'name':'i','resources':{'requests':{'cpu':'3'}}}],"
		    "'containers':[{'name':'a','resources':{'requests':{'cpu':'1','memory':'5'}}},"
		    "{'name':'b','resources':{'requests':{'cpu':'1','example.com/x':'1'}}}]"));
	struct berth_predicate_result result;
	struct berth_error err = BERTH_ERROR_INIT;

	texts = berth_arena_create();
	options.config = cluster_config(CLUSTER_CONFIG("",
		",'extenders':[{'urlPrefix':'http://x/','filterVerb':'f','managedResources':[{"
		"'name':'example.com/x','ignoredByScheduler':true}]}]"));
	struct berth_predicates *predicates = berth_predicates_create(&options);
	berth_config_release(options.config);
	struct berth_predicate_metadata *metadata =
		berth_predicate_metadata_produce(predicates, pod);
	ck_assert_int_eq(metadata->pod_request.cpu_milli, 3000);
	ck_assert_int_eq(metadata->pod_request.memory_bytes, 5);
	ck_assert_int_eq(
		berth_resource_scalar(&metadata->pod_request, BERTH_STR("example.com/x")), 1);
	ck_assert_uint_eq(metadata->ignored_extended_resource_count, 1);
	cluster_expect(metadata->ignored_extended_resources[0], "example.com/x");
	ck_assert_int_eq(berth_predicate_pod_fits_resources(
				 metadata->pod, metadata, node, texts, &result, &err),
		0);
	ck_assert_uint_eq(result.reason_count, 1);
	cluster_expect(result.reasons[0].text, "Insufficient memory");
	struct berth_object *other = cluster_object(POD(""));
	ck_assert_int_eq(berth_predicate_host_name(
				 berth_object_pod(other), metadata, node, texts, &result, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "the metadata is another pod's");
	berth_error_finish(&err);
	berth_object_release(other);
	berth_predicate_metadata_destroy(metadata);
	berth_predicates_destroy(predicates);
	berth_object_release(pod);
	berth_node_info_destroy(node);
	berth_arena_destroy(texts);
}
END_TEST

/* seed-map 003.71, 003.72: arguments of plugins; 05b E8, E11 */
START_TEST(test_predicate__arguments)
{
	struct berth_predicate_options options = BERTH_PREDICATE_OPTIONS_INIT;
	struct berth_node_info *node = aggregate(NODE("", ""), NULL);

	texts = berth_arena_create();
	options.config = cluster_config(CLUSTER_CONFIG(
		",'pluginConfig':[{'name':'NodeLabel','args':{'presentLabels':['gpu']}},"
		"{'name':'ServiceAffinity','args':{'affinityLabels':['region']}}]",
		""));
	struct berth_predicates *predicates = berth_predicates_create(&options);
	berth_config_release(options.config);
	ck_assert_str_eq(
		judge(berth_predicate_check_node_label_presence, predicates, POD(""), node),
		"!node(s) didn't have the requested labels");
	ck_assert_str_eq(judge(berth_predicate_check_service_affinity, predicates,
				 POD("'nodeSelector':{'region':'r2'}"), node),
		"node(s) didn't match service affinity");
	ck_assert_str_eq(judge(berth_predicate_check_service_affinity, predicates,
				 POD("'nodeSelector':{'region':'r1'}"), node),
		"fits");
	berth_predicates_destroy(predicates);
	berth_node_info_destroy(node);
	berth_arena_destroy(texts);
}
END_TEST

/* seed-map 003.86, 003.87, 003.89, 003.90 */
START_TEST(test_predicate__resource_names)
{
	struct berth_object *pod = cluster_object(
		POD("'overhead':{'cpu':'1'},'initContainers':[{'name':'i','restartPolicy':'Always',"
		    "'resources':{'requests':{'cpu':'1'}}}]," REQUESTS(
			    "'cpu':'1','hugepages-2Mi':'4Mi'")));
	struct berth_resource request;

	berth_pod_resource_request(berth_object_pod(pod), &request);
	ck_assert_int_eq(request.cpu_milli, 3000);
	ck_assert_int_eq(berth_resource_huge_pages(&request, BERTH_STR("hugepages-2Mi")), 4 << 20);
	berth_resource_finish(&request);
	berth_object_release(pod);
	ck_assert_str_eq(BERTH_RESOURCE_PODS, "pods");
	ck_assert(!berth_resource_is_extended_name(BERTH_STR(BERTH_RESOURCE_CPU)));
	ck_assert(!berth_resource_is_extended_name(BERTH_STR(BERTH_RESOURCE_MEMORY)));
	ck_assert(!berth_resource_is_extended_name(BERTH_STR(BERTH_RESOURCE_EPHEMERAL_STORAGE)));
	ck_assert(!berth_resource_is_extended_name(BERTH_STR("hugepages-2Mi")));
	ck_assert(berth_resource_is_extended_name(BERTH_STR("example.com/gpu")));
	struct berth_node_info *node = aggregate(NODE("", ALLOCATABLE("'pods':'110'")), NULL);
	ck_assert_int_eq(berth_node_info_allowed_pod_number(node), 110);
	berth_node_info_destroy(node);
}
END_TEST

static int never(BERTH_PREDICATE_PARAMETERS)
{
	static struct berth_predicate_failure_reason reason;

	(void)pod;
	(void)metadata;
	(void)node;
	(void)err;
	reason = berth_predicate_failure_reason_make(BERTH_STR("never"), arena);
	*out_result = (struct berth_predicate_result){false, &reason, 1};
	return 0;
}

static const char *run_all(struct berth_predicates *predicates, const char *const *names,
	uint32_t count, bool all, const char *pod_text, const struct berth_node_info *node)
{
	static char text[256];
	struct berth_object *pod = cluster_object(pod_text);
	struct berth_predicate_metadata *metadata =
		berth_predicate_metadata_produce(predicates, pod);
	struct berth_predicate_result result;
	struct berth_error err = BERTH_ERROR_INIT;

	text[0] = '\0';
	if (berth_predicate_run_all(predicates, names, count, all, metadata->pod, metadata, node,
		    texts, &result, &err) != 0) {
		(void)snprintf(text, sizeof(text), "%s", berth_error_message(&err));
		berth_error_finish(&err);
	} else {
		for (uint32_t i = 0; i < result.reason_count; i++) {
			size_t length = strlen(text);

			(void)snprintf(text + length, sizeof(text) - length, "%.*s;",
				BERTH_STR_ARG(result.reasons[i].text));
		}
	}
	berth_predicate_metadata_destroy(metadata);
	berth_object_release(pod);
	return text;
}

/* seed-map 003.51, 003.55; 05b E25 */
START_TEST(test_predicate__run_all_and_register)
{
	static const char *const names[] = {"CheckNodeMemoryPressure", "MatchNodeSelector"};
	static const char *const unknown[] = {"HostName", "Mine"};
	struct berth_predicates *predicates = berth_predicates_create(NULL);
	struct berth_node_info *node =
		aggregate(NODE("",
				  "'conditions':[" CONDITION(
					  "MemoryPressure", "True") "]," ALLOCATABLE("'pods':'9'")),
			NULL);
	struct berth_error err = BERTH_ERROR_INIT;
	const char *pod = POD("'nodeSelector':{'region':'r2'}");

	texts = berth_arena_create();
	ck_assert_str_eq(run_all(predicates, names, 2, false, pod, node),
		"node(s) didn't match node selector;");
	ck_assert_str_eq(run_all(predicates, names, 2, true, pod, node),
		"node(s) didn't match node selector;node(s) had memory pressure;");
	ck_assert_str_eq(
		run_all(predicates, unknown, 2, true, pod, node), "no predicate named Mine exists");
	ck_assert_int_eq(berth_predicate_register(predicates, "Mine", never, &err), 0);
	ck_assert_int_eq(berth_predicate_register(predicates, "", never, &err), BERTH_ERR_INVALID);
	berth_error_finish(&err);
	ck_assert(berth_predicate_find(predicates, "Mine") == never);
	ck_assert_str_eq(run_all(predicates, unknown, 2, true, pod, node), "never;");
	ck_assert_str_eq(run_all(predicates, NULL, 0, true, POD(""), node),
		"node(s) had memory pressure;never;");
	ck_assert_int_eq(berth_predicate_register(predicates, "HostName", never, &err), 0);
	ck_assert_str_eq(run_all(predicates, unknown, 1, true, pod, node), "never;");
	berth_predicates_destroy(predicates);
	berth_predicates_destroy(NULL);
	berth_node_info_destroy(node);
	berth_arena_destroy(texts);
}
END_TEST

/* predicates over an engine's snapshot or a map of aggregates also count pods of other nodes */
START_TEST(test_predicate__clusters)
{
	static const char anti[] =
		POD("'affinity':{'podAntiAffinity':{"
		    "'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':{"
		    "'matchLabels':{'app':'q'}},'topologyKey':'zone'}]}}");
	static const char node_text[] =
		"{'apiVersion':'v1','kind':'Node','metadata':{'name':'n%d','labels':{'zone':'z'}}}";
	struct berth_engine *engine = cluster_create(CLUSTER_CONFIG("", ""), NULL);
	struct berth_predicate_options options = BERTH_PREDICATE_OPTIONS_INIT;
	struct berth_object *nodes[2];
	struct berth_node_name_to_info_map *map = NULL;
	const struct berth_node_info *node = NULL;

	texts = berth_arena_create();
	for (int i = 0; i < 2; i++) {
		char text[256];

		(void)snprintf(text, sizeof(text), node_text, i + 1);
		nodes[i] = cluster_object(text);
		ck_assert_int_eq(berth_engine_put(engine, nodes[i], 1, NULL), 0);
	}
	struct berth_object *q = cluster_pod("q", "1", ",'nodeName':'n2'");
	ck_assert_int_eq(berth_engine_put(engine, q, 1, NULL), 0);
	options.snapshot = berth_engine_snapshot_shared_lister(engine, NULL);
	struct berth_predicates *predicates = berth_predicates_create(&options);
	ck_assert_int_eq(
		berth_shared_lister_get(options.snapshot, BERTH_STR("n1"), texts, &node, NULL), 0);
	ck_assert_str_eq(judge(berth_predicate_match_inter_pod_affinity, predicates, anti, node),
		"node(s) didn't match pod anti-affinity rules");
	ck_assert_str_eq(judge(berth_predicate_match_inter_pod_affinity, NULL, anti, node),
		"node(s) didn't match pod anti-affinity rules");
	berth_predicates_destroy(predicates);

	ck_assert_int_eq(berth_node_name_to_info_map_create(&q, 1, nodes, 2, &map, NULL), 0);
	options.snapshot = NULL;
	options.node_infos = map;
	predicates = berth_predicates_create(&options);
	ck_assert_str_eq(judge(berth_predicate_match_inter_pod_affinity, predicates, anti,
				 berth_node_name_to_info_map_find(map, BERTH_STR("n1"))),
		"node(s) didn't match pod anti-affinity rules");
	ck_assert_str_eq(judge(berth_predicate_match_inter_pod_affinity, predicates, anti, node),
		"-2 the node is not one of the metadata's cluster");
	berth_predicates_destroy(predicates);
	berth_node_name_to_info_map_destroy(map);
	berth_object_release(q);
	berth_object_release(nodes[0]);
	berth_object_release(nodes[1]);
	berth_engine_destroy(engine);
	berth_arena_destroy(texts);
}
END_TEST

BT_TEST_MAIN("lib_predicate", test_predicate__rows, test_predicate__ordering,
	test_predicate__reasons, test_predicate__metadata, test_predicate__arguments,
	test_predicate__resource_names, test_predicate__run_all_and_register,
	test_predicate__clusters)
