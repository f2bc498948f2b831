/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Speed of decoding a PodList. Generates a list of about 50 MB in the form that an API server
 * sends. Most of the list is not read by a scheduler (managedFields, env, mounts, status). Decodes
 * each item into a struct bt_pod with a separate arena. Prints the best and the median of several
 * runs as one JSON line.
 *
 * codec_bench [megabytes [runs]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "api/pod.h"
#include "base/alloc.h"
#include "base/prng.h"
#include "base/strbuf.h"
#include "codec/json.h"
#include "codec/message.h"

#define RUNS_MAX 100

/** Processor time of this process: other programs disturb it less than wall time. */
static double seconds_now(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void append_metadata(struct bt_strbuf *out, struct bt_prng *prng, unsigned int index)
{
	unsigned int app = (unsigned int)bt_prng_below(prng, 400);
	unsigned int hash = (unsigned int)bt_prng_below(prng, 1u << 28);
	bt_strbuf_printf(out,
		"{\"name\":\"service-%u-%07x-%05x\",\"generateName\":\"service-%u-%07x-\","
		"\"namespace\":\"team-%u\","
		"\"uid\":\"8d6a2f31-%04x-4c1b-9d2e-%012x\",\"resourceVersion\":\"%u\","
		"\"generation\":1,"
		"\"creationTimestamp\":\"2026-03-14T09:26:53Z\",",
		app, hash, index, app, hash, app % 40, index & 0xffff, index, 481230000 + index);
	bt_strbuf_printf(out,
		"\"labels\":{\"app.kubernetes.io/component\":\"server\",\"app.kubernetes.io/"
		"instance\":\"service-%u\","
		"\"app.kubernetes.io/"
		"name\":\"service\",\"pod-template-hash\":\"%07x\",\"tier\":\"backend\"},"
		"\"annotations\":{\"checksum/config\":"
		"\"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae\",\"prometheus."
		"io/path\":\"/metrics\","
		"\"prometheus.io/port\":\"9090\",\"prometheus.io/scrape\":\"true\"},",
		app, hash);
	bt_strbuf_printf(out,
		"\"ownerReferences\":[{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"ReplicaSet\",\"name\":\"service-%u-%07x\","
		"\"uid\":\"0f1e2d3c-4b5a-6978-8796-%012x\",\"controller\":true,"
		"\"blockOwnerDeletion\":true}],",
		app, hash, app);
	bt_strbuf_append_c(out,
		"\"managedFields\":[{\"manager\":\"kube-controller-manager\",\"operation\":"
		"\"Update\",\"apiVersion\":\"v1\","
		"\"time\":\"2026-03-14T09:26:53Z\",\"fieldsType\":\"FieldsV1\",\"fieldsV1\":{\"f:"
		"metadata\":{"
		"\"f:annotations\":{\".\":{},\"f:checksum/config\":{},\"f:prometheus.io/path\":{},"
		"\"f:prometheus.io/port\":{},\"f:prometheus.io/"
		"scrape\":{}},\"f:generateName\":{},\"f:labels\":{\".\":{},"
		"\"f:app.kubernetes.io/component\":{},\"f:app.kubernetes.io/"
		"instance\":{},\"f:app.kubernetes.io/name\":{},"
		"\"f:pod-template-hash\":{},\"f:tier\":{}},\"f:ownerReferences\":{\".\":{},"
		"\"k:{\\\"uid\\\":\\\"0f1e2d3c-4b5a-6978-8796-000000000001\\\"}\":{}}},\"f:spec\":{"
		"\"f:affinity\":{\".\":{},"
		"\"f:podAntiAffinity\":{\".\":{},\"f:"
		"preferredDuringSchedulingIgnoredDuringExecution\":{}}},"
		"\"f:containers\":{\"k:{\\\"name\\\":\\\"server\\\"}\":{\".\":{},\"f:env\":{\".\":{"
		"},"
		"\"k:{\\\"name\\\":\\\"DATABASE_URL\\\"}\":{\".\":{},\"f:name\":{},\"f:valueFrom\":"
		"{\".\":{},"
		"\"f:secretKeyRef\":{}}},\"k:{\\\"name\\\":\\\"LOG_LEVEL\\\"}\":{\".\":{},\"f:"
		"name\":{},\"f:value\":{}}},"
		"\"f:image\":{},\"f:imagePullPolicy\":{},\"f:livenessProbe\":{\".\":{},\"f:"
		"failureThreshold\":{},"
		"\"f:httpGet\":{\".\":{},\"f:path\":{},\"f:port\":{},\"f:scheme\":{}},\"f:"
		"periodSeconds\":{}},\"f:name\":{},"
		"\"f:ports\":{\".\":{},\"k:{\\\"containerPort\\\":8080,\\\"protocol\\\":"
		"\\\"TCP\\\"}\":{\".\":{},"
		"\"f:containerPort\":{},\"f:name\":{},\"f:protocol\":{}}},\"f:resources\":{\".\":{}"
		",\"f:limits\":{\".\":{},"
		"\"f:memory\":{}},\"f:requests\":{\".\":{},\"f:cpu\":{},\"f:memory\":{}}},\"f:"
		"volumeMounts\":{\".\":{},"
		"\"k:{\\\"mountPath\\\":\\\"/etc/"
		"config\\\"}\":{\".\":{},\"f:mountPath\":{},\"f:name\":{}}}}},"
		"\"f:dnsPolicy\":{},\"f:enableServiceLinks\":{},\"f:restartPolicy\":{},\"f:"
		"schedulerName\":{},"
		"\"f:securityContext\":{},\"f:terminationGracePeriodSeconds\":{}}}}]}");
}

static void append_spec(struct bt_strbuf *out, struct bt_prng *prng)
{
	unsigned int app = (unsigned int)bt_prng_below(prng, 400);
	bt_strbuf_append_c(out,
		"{\"volumes\":[{\"name\":\"config\",\"configMap\":{\"name\":\"service-config\","
		"\"defaultMode\":420}},"
		"{\"name\":\"kube-api-access-x7k2p\",\"projected\":{\"sources\":[{"
		"\"serviceAccountToken\":"
		"{\"expirationSeconds\":3607,\"path\":\"token\"}},{\"configMap\":{\"name\":\"kube-"
		"root-ca.crt\",\"items\":"
		"[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]}},{\"downwardAPI\":{\"items\":[{"
		"\"path\":\"namespace\","
		"\"fieldRef\":{\"apiVersion\":\"v1\",\"fieldPath\":\"metadata.namespace\"}}]}}],"
		"\"defaultMode\":420}}],");
	bt_strbuf_printf(out,
		"\"containers\":[{\"name\":\"server\",\"image\":\"registry.example.com/team/"
		"service:v1.%u.%u\","
		"\"args\":[\"--listen=:8080\",\"--config=/etc/config/service.yaml\"],"
		"\"ports\":[{\"name\":\"http\",\"containerPort\":8080,\"protocol\":\"TCP\"}],"
		"\"env\":["
		"{\"name\":\"LOG_LEVEL\",\"value\":\"info\"},{\"name\":\"DATABASE_URL\","
		"\"valueFrom\":{\"secretKeyRef\":"
		"{\"name\":\"service-secrets\",\"key\":\"database-url\"}}},{\"name\":\"POD_IP\","
		"\"valueFrom\":{\"fieldRef\":"
		"{\"apiVersion\":\"v1\",\"fieldPath\":\"status.podIP\"}}},{\"name\":\"GREETING\","
		"\"value\":"
		"\"say \\\"hello\\\"\\nto the "
		"world\"}],\"resources\":{\"limits\":{\"memory\":\"%uMi\"},\"requests\":"
		"{\"cpu\":\"%um\",\"memory\":\"%uMi\"}},",
		app % 50, app, 256 + 64 * (app % 8), 50 + 10 * (app % 40), 128 + 64 * (app % 8));
	bt_strbuf_append_c(out,
		"\"volumeMounts\":[{\"name\":\"config\",\"readOnly\":true,\"mountPath\":\"/etc/"
		"config\"},"
		"{\"name\":\"kube-api-access-x7k2p\",\"readOnly\":true,\"mountPath\":"
		"\"/var/run/secrets/kubernetes.io/"
		"serviceaccount\"}],\"livenessProbe\":{\"httpGet\":{\"path\":\"/healthz\","
		"\"port\":8080,\"scheme\":\"HTTP\"},\"timeoutSeconds\":1,\"periodSeconds\":10,"
		"\"successThreshold\":1,"
		"\"failureThreshold\":3},\"terminationMessagePath\":\"/dev/"
		"termination-log\",\"terminationMessagePolicy\":"
		"\"File\",\"imagePullPolicy\":\"IfNotPresent\",\"securityContext\":{"
		"\"runAsNonRoot\":true}},"
		"{\"name\":\"proxy\",\"image\":\"registry.example.com/mesh/"
		"proxy:1.20\",\"resources\":{\"requests\":"
		"{\"cpu\":\"10m\",\"memory\":\"40Mi\"}},\"volumeMounts\":[{\"name\":\"kube-api-"
		"access-x7k2p\",\"readOnly\":"
		"true,\"mountPath\":\"/var/run/secrets/kubernetes.io/"
		"serviceaccount\"}],\"imagePullPolicy\":\"Always\"}],"
		"\"restartPolicy\":\"Always\",\"terminationGracePeriodSeconds\":30,\"dnsPolicy\":"
		"\"ClusterFirst\","
		"\"serviceAccountName\":\"service\",\"serviceAccount\":\"service\",");
	bt_strbuf_printf(out,
		"\"nodeName\":\"node-%05u.zone-%u.example.com\",\"securityContext\":{\"fsGroup\":"
		"1000},\"affinity\":"
		"{\"podAntiAffinity\":{\"preferredDuringSchedulingIgnoredDuringExecution\":[{"
		"\"weight\":100,"
		"\"podAffinityTerm\":{\"labelSelector\":{\"matchLabels\":{\"app.kubernetes.io/"
		"instance\":\"service-%u\"}},"
		"\"topologyKey\":\"kubernetes.io/"
		"hostname\"}}]}},\"schedulerName\":\"default-scheduler\",\"tolerations\":["
		"{\"key\":\"node.kubernetes.io/"
		"not-ready\",\"operator\":\"Exists\",\"effect\":\"NoExecute\","
		"\"tolerationSeconds\":300},{\"key\":\"node.kubernetes.io/"
		"unreachable\",\"operator\":\"Exists\","
		"\"effect\":\"NoExecute\",\"tolerationSeconds\":300}],\"priority\":0,"
		"\"enableServiceLinks\":true,"
		"\"preemptionPolicy\":\"PreemptLowerPriority\"}",
		(unsigned int)bt_prng_below(prng, 5000), app % 3, app);
}

static void append_status(struct bt_strbuf *out, struct bt_prng *prng)
{
	static const char *const conditions[] = {"PodReadyToStartContainers", "Initialized",
		"Ready", "ContainersReady", "PodScheduled"};
	unsigned int ip = (unsigned int)bt_prng_below(prng, 65536);
	bt_strbuf_append_c(out, "{\"phase\":\"Running\",\"conditions\":[");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(conditions); i++) {
		bt_strbuf_printf(out,
			"%s{\"type\":\"%s\",\"observedGeneration\":1,\"status\":\"True\","
			"\"lastProbeTime\":null,"
			"\"lastTransitionTime\":\"2026-03-14T09:27:01Z\"}",
			i == 0 ? "" : ",", conditions[i]);
	}
	bt_strbuf_printf(out,
		"],\"hostIP\":\"10.0.%u.%u\",\"hostIPs\":[{\"ip\":\"10.0.%u.%u\"}],\"podIP\":\"10."
		"244.%u.%u\",\"podIPs\":"
		"[{\"ip\":\"10.244.%u.%u\"}],\"startTime\":\"2026-03-14T09:26:53Z\","
		"\"containerStatuses\":[",
		ip & 255, ip >> 8, ip & 255, ip >> 8, ip & 255, ip >> 8, ip & 255, ip >> 8);
	for (int i = 0; i < 2; i++) {
		bt_strbuf_printf(out,
			"%s{\"name\":\"%s\",\"state\":{\"running\":{\"startedAt\":\"2026-03-14T09:"
			"27:00Z\"}},\"lastState\":{},"
			"\"ready\":true,\"restartCount\":0,\"image\":\"registry.example.com/team/"
			"service:v1\",\"imageID\":"
			"\"registry.example.com/team/service@sha256:"
			"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\","
			"\"containerID\":\"containerd://"
			"60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752\","
			"\"started\":true}",
			i == 0 ? "" : ",", i == 0 ? "server" : "proxy");
	}
	bt_strbuf_append_c(out, "],\"qosClass\":\"Burstable\"}");
}

static unsigned int generate(struct bt_strbuf *out, size_t bytes)
{
	struct bt_prng prng;
	unsigned int pod_count = 0;
	bt_prng_init(&prng, 1);
	bt_strbuf_append_c(out,
		"{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
		"\"1\"},"
		"\"items\":[");
	while (out->length < bytes) {
		bt_strbuf_append_c(out, pod_count == 0 ? "{\"metadata\":" : ",{\"metadata\":");
		append_metadata(out, &prng, pod_count);
		bt_strbuf_append_c(out, ",\"spec\":");
		append_spec(out, &prng);
		bt_strbuf_append_c(out, ",\"status\":");
		append_status(out, &prng);
		bt_strbuf_append_char(out, '}');
		pod_count++;
	}
	bt_strbuf_append_c(out, "]}");
	return pod_count;
}

struct object {
	struct bt_arena arena;
	struct bt_pod pod;
};

static int decode_items(struct bt_json_reader *reader, struct object *objects,
	unsigned int *out_count, struct berth_error *err)
{
	bool first = true;
	bool more;
	int result = bt_json_enter_array(reader, err);
	while (result == 0) {
		result = bt_json_next_element(reader, &first, &more, err);
		if (result != 0 || !more) {
			break;
		}
		struct object *object = &objects[(*out_count)++];
		bt_arena_init(&object->arena, 2048);
		object->pod = (struct bt_pod){0};
		result = bt_message_decode_json(
			&bt_pod_message, reader, &object->arena, &object->pod, err);
	}
	return result;
}

static int decode_list(struct bt_str text, struct object *objects, unsigned int *out_count,
	struct berth_error *err)
{
	struct bt_json_reader reader;
	struct bt_arena names = {0};
	struct bt_str name;
	bool first = true;
	bool more;
	bt_json_reader_init(&reader, text);
	int result = bt_json_enter_object(&reader, err);
	while (result == 0) {
		result = bt_json_next_member(&reader, &first, &names, &more, &name, err);
		if (result != 0 || !more) {
			break;
		}
		if (bt_str_equal_c(name, "items")) {
			result = decode_items(&reader, objects, out_count, err);
		} else {
			result = bt_json_skip(&reader, NULL, err);
		}
	}
	bt_arena_finish(&names);
	return result != 0 ? result : bt_json_expect_end(&reader, err);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return BT_ORDER(x, y);
}

int main(int argc, char **argv)
{
	long megabytes = argc > 1 ? strtol(argv[1], NULL, 10) : 50;
	long runs = argc > 2 ? strtol(argv[2], NULL, 10) : 5;
	if (megabytes < 1 || megabytes > 2000 || runs < 1 || runs > RUNS_MAX) {
		(void)fprintf(stderr, "usage: codec_bench [megabytes [runs]]\n");
		return 2;
	}
	struct bt_strbuf text = {0};
	unsigned int pod_count = generate(&text, (size_t)megabytes * 1000000);
	struct object *objects = BT_NEW_ARRAY(struct object, pod_count);
	double seconds[RUNS_MAX];
	double skip_seconds[RUNS_MAX];
	size_t memory_bytes = 0;
	for (long run = 0; run < runs; run++) {
		struct berth_error err = BERTH_ERROR_INIT;
		unsigned int count = 0;
		double start = seconds_now();
		int result = decode_list(bt_strbuf_str(&text), objects, &count, &err);
		seconds[run] = seconds_now() - start;
		if (result != 0 || count != pod_count) {
			(void)fprintf(stderr, "codec_bench: %s\n", berth_error_message(&err));
			return 1;
		}
		memory_bytes = 0;
		for (unsigned int i = 0; i < count; i++) {
			memory_bytes += objects[i].arena.total_bytes;
			bt_arena_finish(&objects[i].arena);
		}
		struct bt_json_reader reader;
		bt_json_reader_init(&reader, bt_strbuf_str(&text));
		start = seconds_now();
		result = bt_json_skip(&reader, NULL, NULL);
		skip_seconds[run] = seconds_now() - start;
		if (result != 0) {
			return 1;
		}
	}
	qsort(seconds, (size_t)runs, sizeof(*seconds), compare_doubles);
	qsort(skip_seconds, (size_t)runs, sizeof(*skip_seconds), compare_doubles);
	double size = (double)text.length / 1e6;
	(void)printf("{\"bytes\":%zu,\"pods\":%u,\"seconds\":%.4f,\"mb_per_s\":%.1f,\"mb_per_s_"
		     "best\":%.1f,"
		     "\"skip_mb_per_s\":%.1f,\"object_bytes\":%zu,\"runs\":%ld}\n",
		text.length, pod_count, seconds[runs / 2], size / seconds[runs / 2],
		size / seconds[0], size / skip_seconds[runs / 2], memory_bytes, runs);
	bt_free(objects);
	bt_strbuf_finish(&text);
	return 0;
}
