/* SPDX-License-Identifier: Apache-2.0 */
/** Kustomizations read without kubectl; the expected objects are those that kubectl prints. */
/* For mkdtemp. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/kustomize.h"
#include "test_main.h"

#define FILES_MAX 6

struct file {
	const char *path;
	const char *text;
};

struct row {
	const char *name;
	struct file files[FILES_MAX];
	const char *expected; /* objects, or the error */
};

static const struct row rows[] = {
	{"resources keep their order of kinds",
		{{"kustomization.yaml", "resources: [pod.yaml, more.json]\n"},
			{"pod.yaml",
				"apiVersion: v1\n"
				"kind: Pod\n"
				"metadata: {name: p}\n"
				"---\n"
				"---\n"
				"apiVersion: v1\n"
				"kind: Namespace\n"
				"metadata: {name: shop}\n"},
			{"more.json",
				"{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[{"
				"\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":"
				"\"s\"}},{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
				"\"metadata\":{\"name\":\"c\"}}]}"}},
		"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"shop\"}}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"}}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}\n"},
	{"names and what refers to them",
		{{"kustomization.yaml",
			 "resources: [all.yaml]\n"
			 "namePrefix: a-\n"
			 "nameSuffix: -z\n"
			 "namespace: prod\n"},
			{"all.yaml",
				"apiVersion: v1\n"
				"kind: Namespace\n"
				"metadata: {name: old}\n"
				"---\n"
				"apiVersion: v1\n"
				"kind: ServiceAccount\n"
				"metadata: {name: robot}\n"
				"---\n"
				"apiVersion: rbac.authorization.k8s.io/v1\n"
				"kind: ClusterRoleBinding\n"
				"metadata: {name: b}\n"
				"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, "
				"name: elsewhere}\n"
				"subjects: [{kind: ServiceAccount, name: robot, namespace: "
				"default}, {kind: ServiceAccount, name: robot, namespace: other}, "
				"{kind: ServiceAccount, name: default, namespace: default}]\n"
				"---\n"
				"apiVersion: v1\n"
				"kind: PersistentVolumeClaim\n"
				"metadata: {name: data}\n"
				"spec: {storageClassName: fast}\n"
				"---\n"
				"apiVersion: storage.k8s.io/v1\n"
				"kind: StorageClass\n"
				"metadata: {name: fast}\n"
				"---\n"
				"apiVersion: v1\n"
				"kind: Pod\n"
				"metadata: {name: p}\n"
				"spec:\n"
				"  serviceAccountName: robot\n"
				"  containers: [{name: c, image: i, env: [{name: E, valueFrom: "
				"{configMapKeyRef: {name: missing, key: k}}}]}]\n"
				"  volumes: [{name: v, persistentVolumeClaim: {claimName: "
				"data}}]\n"}},
		"{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"prod\"}}\n"
		"{\"apiVersion\":\"storage.k8s.io/"
		"v1\",\"kind\":\"StorageClass\",\"metadata\":{\"name\":\"a-fast-z\"}}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"a-"
		"robot-z\",\"namespace\":\"prod\"}}\n"
		"{\"apiVersion\":\"rbac.authorization.k8s.io/"
		"v1\",\"kind\":\"ClusterRoleBinding\",\"metadata\":{\"name\":\"a-b-z\"},"
		"\"roleRef\":{\"apiGroup\":\"rbac.authorization.k8s.io\",\"kind\":\"ClusterRole\","
		"\"name\":\"elsewhere\"},\"subjects\":[{\"kind\":\"ServiceAccount\",\"name\":\"a-"
		"robot-z\",\"namespace\":\"prod\"},{\"kind\":\"ServiceAccount\",\"name\":\"robot\","
		"\"namespace\":\"other\"},{\"kind\":\"ServiceAccount\",\"name\":\"default\","
		"\"namespace\":\"prod\"}]}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{\"name\":"
		"\"a-data-z\",\"namespace\":\"prod\"},\"spec\":{\"storageClassName\":\"a-fast-z\"}}"
		"\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a-p-z\","
		"\"namespace\":\"prod\"},\"spec\":{\"serviceAccountName\":\"a-robot-z\","
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"env\":[{\"name\":\"E\","
		"\"valueFrom\":{\"configMapKeyRef\":{\"name\":\"missing\",\"key\":\"k\"}}}]}],"
		"\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"a-data-"
		"z\"}}]}}\n"},
	{"labels and annotations",
		{{"kustomization.yaml",
			 "resources: [all.yaml]\n"
			 "commonAnnotations: {note: x}\n"
			 "labels: [{pairs: {a: b}}, {pairs: {c: d}, includeTemplates: true}, "
			 "{pairs: {e: f}, includeSelectors: true}]\n"},
			{"all.yaml",
				"apiVersion: v1\n"
				"kind: Service\n"
				"metadata: {name: s}\n"
				"spec: {selector: {x: w}}\n"
				"---\n"
				"apiVersion: apps/v1\n"
				"kind: Deployment\n"
				"metadata: {name: d}\n"
				"spec:\n"
				"  selector: {matchLabels: {x: w}}\n"
				"  template:\n"
				"    metadata: {labels: {x: w}}\n"
				"    spec: {topologySpreadConstraints: [{topologyKey: t, "
				"labelSelector: {matchLabels: {x: w}}}]}\n"
				"---\n"
				"apiVersion: policy/v1\n"
				"kind: PodDisruptionBudget\n"
				"metadata: {name: p}\n"
				"spec: {selector: {matchLabels: {x: w}}}\n"}},
		"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\","
		"\"labels\":{\"a\":\"b\",\"c\":\"d\",\"e\":\"f\"},\"annotations\":{\"note\":\"x\"}}"
		",\"spec\":{\"selector\":{\"x\":\"w\",\"e\":\"f\"}}}\n"
		"{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\",\"labels\":{\"a\":\"b\","
		"\"c\":\"d\",\"e\":\"f\"},\"annotations\":{\"note\":\"x\"}},\"spec\":{\"selector\":"
		"{\"matchLabels\":{\"x\":\"w\",\"e\":\"f\"}},\"template\":{\"metadata\":{"
		"\"labels\":{\"x\":\"w\",\"c\":\"d\",\"e\":\"f\"},\"annotations\":{\"note\":\"x\"}}"
		",\"spec\":{\"topologySpreadConstraints\":[{\"topologyKey\":\"t\","
		"\"labelSelector\":{\"matchLabels\":{\"x\":\"w\",\"e\":\"f\"}}}]}}}}\n"
		"{\"apiVersion\":\"policy/"
		"v1\",\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"p\",\"labels\":{"
		"\"a\":\"b\",\"c\":\"d\",\"e\":\"f\"},\"annotations\":{\"note\":\"x\"}},\"spec\":{"
		"\"selector\":{\"matchLabels\":{\"x\":\"w\",\"e\":\"f\"}}}}\n"},
	{"images and replicas",
		{{"kustomization.yaml",
			 "resources: [all.yaml]\n"
			 "images: [{name: nginx, newName: mirror/nginx, newTag: '9'}, {name: "
			 "'reg:5000/a', newTag: v2}, {name: b, newTag: '2', digest: "
			 "'sha256:1'}]\n"
			 "replicas: [{name: d, count: 3}]\n"},
			{"all.yaml",
				"apiVersion: apps/v1\n"
				"kind: Deployment\n"
				"metadata: {name: d}\n"
				"spec:\n"
				"  template:\n"
				"    spec:\n"
				"      initContainers: [{name: i, image: 'nginx:1'}]\n"
				"      containers: [{name: c, image: nginxx}, {name: d, image: "
				"'reg:5000/a'}, {name: e, image: 'b:1'}]\n"}},
		"{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\"},\"spec\":{\"template\":"
		"{\"spec\":{\"initContainers\":[{\"name\":\"i\",\"image\":\"mirror/"
		"nginx:9\"}],\"containers\":[{\"name\":\"c\",\"image\":\"nginxx\"},{\"name\":\"d\","
		"\"image\":\"reg:5000/"
		"a:v2\"},{\"name\":\"e\",\"image\":\"b:2@sha256:1\"}]}},\"replicas\":3}}\n"},
	{"patches",
		{{"kustomization.yaml",
			 "resources: [all.yaml]\n"
			 "namePrefix: x-\n"
			 "patches:\n"
			 "- path: merge.yaml\n"
			 "- path: delete.yaml\n"
			 "- path: thing.yaml\n"
			 "- {target: {kind: 'D.*', labelSelector: a=b}, patch: "
			 "'[{\"op\":\"add\",\"path\":\"/spec/paused\",\"value\":true}]'}\n"
			 "- {target: {kind: Deployment, name: e}, patch: "
			 "'[{\"op\":\"add\",\"path\":\"/spec/paused\",\"value\":false}]'}\n"},
			{"merge.yaml",
				"apiVersion: apps/v1\n"
				"kind: Deployment\n"
				"metadata: {name: d}\n"
				"spec: {template: {spec: {containers: [{name: c, resources: "
				"{requests: {cpu: 1}}}]}}}\n"},
			{"delete.yaml",
				"apiVersion: v1\n"
				"kind: Service\n"
				"metadata: {name: s}\n"
				"$patch: delete\n"},
			{"thing.yaml",
				"apiVersion: example.com/v1\n"
				"kind: Thing\n"
				"metadata: {name: t}\n"
				"spec: {list: [2], gone: null}\n"},
			{"all.yaml",
				"apiVersion: apps/v1\n"
				"kind: Deployment\n"
				"metadata: {name: d, labels: {a: b}}\n"
				"spec: {template: {spec: {containers: [{name: c, image: i}]}}}\n"
				"---\n"
				"apiVersion: v1\n"
				"kind: Service\n"
				"metadata: {name: s}\n"
				"---\n"
				"apiVersion: example.com/v1\n"
				"kind: Thing\n"
				"metadata: {name: t}\n"
				"spec: {list: [1, 3], gone: 1, kept: 1}\n"}},
		"{\"apiVersion\":\"apps/"
		"v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"x-d\",\"labels\":{\"a\":"
		"\"b\"}},\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
		"\"image\":\"i\",\"resources\":{\"requests\":{\"cpu\":1}}}]}},\"paused\":true}}\n"
		"{\"apiVersion\":\"example.com/"
		"v1\",\"kind\":\"Thing\",\"metadata\":{\"name\":\"x-t\"},\"spec\":{\"list\":[2],"
		"\"kept\":1}}\n"},
	{"generators and folders",
		{{"kustomization.yaml",
			 "resources: [base]\n"
			 "namePrefix: o-\n"},
			{"base/kustomization.yml",
				"resources: [pod.yaml]\n"
				"configMapGenerator: [{name: c, literals: ['k=\"<v>\"'], files: "
				"[f=text]}]\n"
				"secretGenerator: [{name: s, envs: [env]}]\n"
				"generatorOptions: {labels: {g: h}}\n"},
			{"base/text", "hello\n"},
			{"base/env",
				"# nothing\n"
				"A=b=c\n"},
			{"base/pod.yaml",
				"apiVersion: v1\n"
				"kind: Pod\n"
				"metadata: {name: p}\n"
				"spec:\n"
				"  containers: [{name: c, image: i, envFrom: [{configMapRef: "
				"{name: c}}, {secretRef: {name: s}}]}]\n"}},
		"{\"metadata\":{\"name\":\"o-c-hgm758h2k2\",\"labels\":{\"g\":\"h\"}},"
		"\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"data\":{\"f\":\"hello\\n\",\"k\":"
		"\"\\u003cv\\u003e\"}}\n"
		"{\"metadata\":{\"name\":\"o-s-95c94ttgmf\",\"labels\":{\"g\":\"h\"}},"
		"\"apiVersion\":\"v1\",\"kind\":\"Secret\",\"data\":{\"A\":\"Yj1j\"},\"type\":"
		"\"Opaque\"}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"o-p\"},\"spec\":{"
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\",\"envFrom\":[{\"configMapRef\":{"
		"\"name\":\"o-c-hgm758h2k2\"}},{\"secretRef\":{\"name\":\"o-s-95c94ttgmf\"}}]}]}}"
		"\n"},
	{"words that are bools only in YAML 1.1",
		{{"kustomization.yaml",
			 "resources: [c.yaml]\n"
			 "labels: [{pairs: {l: m}, includeSelectors: yes}]\n"
			 "patches:\n"
			 "- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: "
			 "{p: off}}'\n"
			 "- target: {kind: ConfigMap}\n"
			 "  patch: |\n    - op: add\n      path: /data/q\n      value: yes\n"},
			{"c.yaml",
				"apiVersion: v1\n"
				"kind: ConfigMap\n"
				"metadata: {name: c}\n"
				"data: {a: yes, on: N, t: true}\n"}},
		"{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\","
		"\"labels\":{\"l\":\"m\"}},\"data\":{\"a\":\"yes\",\"on\":\"N\",\"t\":true,"
		"\"p\":\"off\",\"q\":true}}\n"},
	{"files that are not UTF-8",
		{{"kustomization.yaml",
			 "resources: [base]\n"
			 "configMapGenerator: [{name: g, behavior: merge, files: [c], literals: "
			 "[x=z]}]\n"},
			{"c", "\xfe"},
			{"base/kustomization.yaml",
				"configMapGenerator: [{name: g, files: [b]}, {name: r, files: "
				"[b]}]\n"},
			{"base/b", "\xff\x01"}},
		"{\"metadata\":{\"name\":\"g-hghgmg57tb\"},\"apiVersion\":\"v1\",\"kind\":"
		"\"ConfigMap\",\"binaryData\":{\"b\":\"/wE=\",\"c\":\"/g==\"},\"data\":{"
		"\"x\":\"z\"}}\n"
		"{\"metadata\":{\"name\":\"r-mg259gft4f\"},\"apiVersion\":\"v1\",\"kind\":"
		"\"ConfigMap\",\"binaryData\":{\"b\":\"/wE=\"}}\n"},
	{"lines of an environment",
		{{"kustomization.yaml",
			 "configMapGenerator: [{name: g, envs: [e], options: "
			 "{disableNameSuffixHash: true}}]\n"},
			{"e",
				"\xef\xbb\xbf"
				"A=1\n# B=2\n  C=3 \nD\n=5\n"}},
		"{\"metadata\":{\"name\":\"g\"},\"apiVersion\":\"v1\",\"kind\":"
		"\"ConfigMap\",\"data\":{\"A\":\"1\",\"C\":\"3 \",\"D\":\"\"}}\n"},
	{"an environment that is not UTF-8",
		{{"kustomization.yaml", "configMapGenerator: [{name: g, envs: [e]}]\n"},
			{"e", "A=\xff"}},
		"-k DIR: configMapGenerator: e is not UTF-8"},
	{"a key twice",
		{{"kustomization.yaml",
			 "configMapGenerator: [{name: g, files: [a], literals: [a=1]}]\n"},
			{"a", "1"}},
		"-k DIR: configMapGenerator: a comes twice"},
	{"images with tag suffix", {{"kustomization.yaml", "images: [{name: a, tagSuffix: b}]\n"}},
		"-k DIR: images: tagSuffix is not supported"},
	{"components and replacements",
		{{"kustomization.yaml",
			 "resources: [base]\n"
			 "components: [comp]\n"
			 "namePrefix: o-\n"
			 "configMapGenerator: [{name: g, behavior: merge, literals: [k=2]}]\n"
			 "replacements:\n"
			 "- source: {kind: Service, fieldPath: 'spec.ports.[name=http].port'}\n"
			 "  targets:\n"
			 "  - select: {kind: Pod}\n"
			 "    fieldPaths: ['spec.containers.*.env.[name=PORT].value', "
			 "'spec.containers.0.ports.0.containerPort']\n"
			 "- source: {kind: Service}\n"
			 "  targets:\n"
			 "  - select: {kind: Pod}\n"
			 "    fieldPaths: ['metadata.labels.[a.io/svc]', "
			 "'metadata.annotations.b\\.io/svc']\n"
			 "    options: {create: true}\n"
			 "- source: {kind: Service, fieldPath: metadata.annotations.host, options: "
			 "{delimiter: ., index: 1}}\n"
			 "  targets:\n"
			 "  - select: {name: p}\n"
			 "    reject: [{kind: Service}]\n"
			 "    fieldPaths: ['spec.containers.[name=c].image']\n"
			 "    options: {delimiter: ':', index: 1}\n"},
			{"base/kustomization.yaml",
				"resources: [all.yaml]\n"
				"configMapGenerator: [{name: g, literals: [k=1, j=1], options: "
				"{disableNameSuffixHash: true}}]\n"},
			{"base/all.yaml",
				"apiVersion: v1\n"
				"kind: Pod\n"
				"metadata: {name: p}\n"
				"spec: {containers: [{name: c, image: 'i:1', env: [{name: PORT, "
				"value: "
				"'1'}], ports: [{containerPort: 1}]}]}\n"
				"---\n"
				"apiVersion: v1\n"
				"kind: Service\n"
				"metadata: {name: s, annotations: {host: a.example.com}}\n"
				"spec: {ports: [{name: http, port: 8080}]}\n"},
			{"comp/kustomization.yaml",
				"apiVersion: kustomize.config.k8s.io/v1alpha1\n"
				"kind: Component\n"
				"nameSuffix: -c\n"
				"patches: [{patch: '{apiVersion: v1, kind: Pod, metadata: {name: "
				"p}, "
				"spec: {priority: 5}}'}]\n"}},
		"{\"metadata\":{\"name\":\"o-g-c\"},\"apiVersion\":\"v1\",\"kind\":\"Confi"
		"gMap\",\"data\":{\"k\":\"2\",\"j\":\"1\"}}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"o-s-"
		"c\",\"annotations\":{\"host\":\"a.example.com\"}},\"spec\":{\"ports\":["
		"{\"name\":\"http\",\"port\":8080}]}}\n"
		"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"o-p-c\",\""
		"labels\":{\"a.io/svc\":\"o-s-c\"},\"annotations\":{\"b.io/svc\":\"o-s-"
		"c\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:example\",\""
		"env\":[{\"name\":\"PORT\",\"value\":\"8080\"}],\"ports\":[{\"containerPo"
		"rt\":8080}]}],\"priority\":5}}\n"},
	{"a component among the resources",
		{{"kustomization.yaml", "resources: [comp]\n"},
			{"comp/kustomization.yaml", "kind: Component\n"}},
		"-k DIR/comp: kustomization.yaml: a Component is named in components, not in "
		"resources"},
	{"a folder that is no component",
		{{"kustomization.yaml", "components: [base]\n"},
			{"base/kustomization.yaml", "resources: []\n"}},
		"-k DIR/base: kustomization.yaml: a folder that components names must have kind "
		"Component"},
	{"components in a circle",
		{{"kustomization.yaml", "components: [a]\n"},
			{"a/kustomization.yaml", "kind: Component\ncomponents: [../a, ../a]\n"}},
		"-k "
		"DIR/a/../a/../a/../a/../a/../a/../a/../a/../a/../a/../a/../a/../a/../a/../a/../a: "
		"components: folders name each other too deeply, or in a circle"},
	{"a replacement of a field that is not there",
		{{"kustomization.yaml",
			 "resources: [pod.yaml]\n"
			 "replacements: [{source: {kind: Pod}, targets: [{select: {kind: Pod}, "
			 "fieldPaths: [spec.nothing]}]}]\n"},
			{"pod.yaml", "{apiVersion: v1, kind: Pod, metadata: {name: p}}\n"}},
		"-k DIR: replacements: unable to find field \"spec.nothing\" in replacement "
		"target"},
	{"a replacement of a number by a text",
		{{"kustomization.yaml",
			 "resources: [pod.yaml]\n"
			 "replacements: [{source: {kind: Pod}, targets: [{select: {kind: Pod}, "
			 "fieldPaths: [spec.priority]}]}]\n"},
			{"pod.yaml",
				"{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {priority: "
				"1}}\n"}},
		"-k DIR: replacements: spec.priority is a number: it cannot become \"p\""},
	{"a replacement without a source that is there",
		{{"kustomization.yaml",
			"replacements: [{source: {kind: Pod, name: x}, targets: [{select: {kind: "
			"Pod}}]}]\n"}},
		"-k DIR: replacements: nothing selected by Pod.[noVer].[noGrp]/x.[noNs]"},
	{"a field that is not read", {{"kustomization.yaml", "helmCharts: []\n"}},
		"-k DIR: kustomization.yaml: the field helmCharts is not supported"},
	{"no kustomization", {{"values.yaml", "a: b\n"}},
		"-k DIR: there is no kustomization.yaml, kustomization.yml or Kustomization"},
	{"an address", {{"kustomization.yaml", "resources: ['https://example.com/a']\n"}},
		"-k DIR: resources: URLs are not supported"},
	{"a file outside", {{"kustomization.yaml", "resources: [../x.yaml]\n"}},
		"-k DIR: resources: ../x.yaml is not in this folder"},
	{"a file that is missing", {{"kustomization.yaml", "resources: [x.yaml]\n"}},
		"-k DIR: resources: DIR/x.yaml: No such file or directory"},
	{"a patch of nothing",
		{{"kustomization.yaml",
			"patches: [{patch: '{kind: Pod, metadata: {name: x}}'}]\n"}},
		"-k DIR: patches: there is no resource Pod x to patch"},
	{"a patch that leaves no object",
		{{"kustomization.yaml",
			 "resources: [p.json]\n"
			 "patches: [{target: {kind: Pod}, patch: '[{op: replace, path: \"\", "
			 "value: 1}]'}]\n"},
			{"p.json",
				"{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":"
				"\"p\"}}"}},
		"-k DIR: patches: Pod p: the patch leaves no object"},
	{"no workload to scale", {{"kustomization.yaml", "replicas: [{name: x, count: 1}]\n"}},
		"-k DIR: replicas: there is no workload x to scale"},
	{"no name", {{"kustomization.yaml", "configMapGenerator: [{literals: [a=b]}]\n"}},
		"-k DIR: configMapGenerator: an entry needs a name"},
	{"no value", {{"kustomization.yaml", "configMapGenerator: [{name: c, literals: [a]}]\n"}},
		"-k DIR: configMapGenerator: a is not KEY=VALUE"},
	{"values of wrong types",
		{{"kustomization.yaml",
			"resources: {a: b}\n"
			"namePrefix: [1]\n"
			"labels: [1, {pairs: [2]}]\n"
			"images: 3\n"
			"components: {}\n"
			"replacements: {}\n"
			"replicas: {}\n"
			"patches: x\n"
			"configMapGenerator: 1\n"}},
		""},
};

static void write_files(const char *folder, const struct file *files)
{
	for (size_t i = 0; i < FILES_MAX && files[i].path != NULL; i++) {
		char path[300];
		const char *slash = strchr(files[i].path, '/');
		FILE *file;
		if (slash != NULL) {
			(void)snprintf(path, sizeof(path), "%s/%.*s", folder,
				(int)(slash - files[i].path), files[i].path);
			(void)mkdir(path, 0700); /* the folder may exist already */
		}
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i].path);
		file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		ck_assert_int_ge(fputs(files[i].text, file), 0);
		ck_assert_int_eq(fclose(file), 0);
	}
}

static void remove_files(const char *folder, const struct file *files)
{
	for (size_t i = 0; i < FILES_MAX && files[i].path != NULL; i++) {
		char path[300];
		const char *slash = strchr(files[i].path, '/');
		(void)snprintf(path, sizeof(path), "%s/%s", folder, files[i].path);
		ck_assert_int_eq(unlink(path), 0);
		if (slash != NULL) {
			(void)snprintf(path, sizeof(path), "%s/%.*s", folder,
				(int)(slash - files[i].path), files[i].path);
			(void)rmdir(path); /* fails until the folder is empty */
		}
	}
	ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(test_kustomize__is_what_kubectl_prints)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		char folder[] = "/tmp/berth-kustomize-XXXXXX";
		struct bt_strbuf out = {0};
		struct bt_strbuf told = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_ptr_nonnull(mkdtemp(folder));
		write_files(folder, rows[i].files);
		int result = bt_kustomize_here(folder, &out, &err);
		const char *rest = result == 0 ? bt_strbuf_c(&out) : berth_error_message(&err);
		for (const char *at; (at = strstr(rest, folder)) != NULL;) {
			bt_strbuf_printf(&told, "%.*sDIR", (int)(at - rest), rest);
			rest = at + strlen(folder);
		}
		bt_strbuf_append_c(&told, rest);
		ck_assert_msg(strcmp(bt_strbuf_c(&told), rows[i].expected) == 0, "%s: %s",
			rows[i].name, bt_strbuf_c(&told));
		remove_files(folder, rows[i].files);
		bt_strbuf_finish(&out);
		bt_strbuf_finish(&told);
		berth_error_finish(&err);
	}
}
END_TEST

BT_TEST_MAIN("kustomize", test_kustomize__is_what_kubectl_prints)
