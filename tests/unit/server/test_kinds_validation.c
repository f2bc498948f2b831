/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals of objects: every row of the tables in spec 14b sections 5 and 12. */
#include "kinds_rows.h"
#include "base/strbuf.h"
#include "test_main.h"

#define SUBDOMAIN_TEXT \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' " \
	"or '.', and must start and end with an alphanumeric character (e.g. 'example.com', " \
	"regex used for validation is " \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define RESOURCES(text) POD("'containers':[{'name':'c','image':'i','resources':{" text "}}]")
#define NODE_AFFINITY(text) POD(CONTAINER ",'affinity':{'nodeAffinity':{" text "}}")
#define REQUIRED "'requiredDuringSchedulingIgnoredDuringExecution'"
#define PREFERRED "'preferredDuringSchedulingIgnoredDuringExecution'"
#define REQUIRED_TERM(text) \
	NODE_AFFINITY(REQUIRED ":{'nodeSelectorTerms':[{'matchExpressions':[{" text "}]}]}")
#define REQUIRED_FIELD(text) \
	NODE_AFFINITY(REQUIRED ":{'nodeSelectorTerms':[{'matchFields':[{" text "}]}]}")
#define SPREAD(text) POD(CONTAINER ",'topologySpreadConstraints':[{" text "}]")
#define TOLERATION(text) POD(CONTAINER ",'tolerations':[{" text "}]")
#define CRON_JOB(text) \
	"{'metadata':{'name':'p'},'spec':{" text ",'jobTemplate':{'spec':{'template':{'spec':{" \
	"'restartPolicy':'Never'," CONTAINER "}}}}}}"
#define NODE_PATH \
	"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution." \
	"nodeSelectorTerms"

static const struct refusal_row pod_rows[] = {
	{"name", "pods", "default/", "{'metadata':{'name':'A'},'spec':{" CONTAINER "}}", 422,
		"Pod \"A\" is invalid: metadata.name: Invalid value: \"A\": " SUBDOMAIN_TEXT},
	{"prefix of the name", "pods", "default/",
		"{'metadata':{'generateName':'A-','name':'p'},'spec':{" CONTAINER "}}", 422,
		"Pod \"p\" is invalid: metadata.generateName: Invalid value: "
		"\"A-\": " SUBDOMAIN_TEXT},
	{"label key", "pods", "default/",
		"{'metadata':{'name':'p','labels':{'-a':'b'}},'spec':{" CONTAINER "}}", 422,
		"metadata.labels: Invalid value: \"-a\": name part must consist of"},
	{"label value", "pods", "default/",
		"{'metadata':{'name':'p','labels':{'a':'-b'}},'spec':{" CONTAINER "}}", 422,
		"metadata.labels: Invalid value: \"-b\": a valid label must be"},
	{"annotation key", "pods", "default/",
		"{'metadata':{'name':'p','annotations':{'/':'b'}},'spec':{" CONTAINER "}}", 422,
		"metadata.annotations: Invalid value: \"/\""},
	{"no containers", "pods", "default/", POD("'dnsPolicy':'Default'"), 422,
		"Pod \"p\" is invalid: spec.containers: Required value"},
	{"two of a name", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i'},{'name':'c','image':'i'}]"), 422,
		"spec.containers[1].name: Duplicate value: \"c\""},
	{"no image", "pods", "default/", POD("'containers':[{'name':'c'}]"), 422,
		"spec.containers[0].image: Required value"},
	{"all at once", "pods", "default/", POD("'containers':[{'name':'c'}],'restartPolicy':'X'"),
		422,
		"Pod \"p\" is invalid: [spec.containers[0].image: Required value, "
		"spec.restartPolicy: Unsupported value: \"X\": supported values: \"Always\", "
		"\"OnFailure\", \"Never\"]"},
	{"03 gpu without limit", "pods", "default/", RESOURCES("'requests':{'nvidia.com/gpu':'1'}"),
		422,
		"spec.containers[0].resources.limits: Required value: Limit must be set for non "
		"overcommitable resources"},
	{"negative", "pods", "default/", RESOURCES("'requests':{'cpu':'-1'}"), 422,
		"spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must be "
		"greater than or equal to 0"},
	{"request above limit", "pods", "default/",
		RESOURCES("'requests':{'cpu':'2'},'limits':{'cpu':'1'}"), 422,
		"spec.containers[0].resources.requests: Invalid value: \"2\": must be less than "
		"or equal to cpu limit of 1"},
	{"gpu not whole", "pods", "default/", RESOURCES("'limits':{'nvidia.com/gpu':'1500m'}"), 422,
		"must be an integer"},
	{"gpu not equal", "pods", "default/",
		RESOURCES("'requests':{'nvidia.com/gpu':'1'},'limits':{'nvidia.com/gpu':'2'}"), 422,
		"must be equal to nvidia.com/gpu limit of 2"},
	{"huge pages alone", "pods", "default/", RESOURCES("'limits':{'hugepages-2Mi':'2Mi'}"), 422,
		"spec.containers[0].resources: Forbidden: HugePages require cpu or memory"},
	{"no terms", "pods", "default/", NODE_AFFINITY(REQUIRED ":{'nodeSelectorTerms':[]}"), 422,
		NODE_PATH ": Required value: must have at least one node selector term"},
	{"In without values", "pods", "default/", REQUIRED_TERM("'key':'k','operator':'In'"), 422,
		NODE_PATH "[0].matchExpressions[0].values: Required value"},
	{"Exists with values", "pods", "default/",
		REQUIRED_TERM("'key':'k','operator':'Exists','values':['a']"), 422,
		NODE_PATH "[0].matchExpressions[0].values: Forbidden"},
	{"Gt with two", "pods", "default/",
		REQUIRED_TERM("'key':'k','operator':'Gt','values':['1','2']"), 422,
		NODE_PATH "[0].matchExpressions[0].values: Required value"},
	{"operator", "pods", "default/", REQUIRED_TERM("'key':'k','operator':'Bad'"), 422,
		NODE_PATH "[0].matchExpressions[0].operator: Invalid value: \"Bad\""},
	{"field key", "pods", "default/",
		REQUIRED_FIELD("'key':'metadata.uid','operator':'In','values':['a']"), 422,
		NODE_PATH "[0].matchFields[0].key: Invalid value: \"metadata.uid\""},
	{"field operator", "pods", "default/",
		REQUIRED_FIELD("'key':'metadata.name','operator':'Exists'"), 422,
		NODE_PATH "[0].matchFields[0].operator: Invalid value: \"Exists\""},
	{"field values", "pods", "default/",
		REQUIRED_FIELD("'key':'metadata.name','operator':'In','values':['a','b']"), 422,
		NODE_PATH "[0].matchFields[0].values: Required value"},
	{"weight", "pods", "default/",
		NODE_AFFINITY(
			PREFERRED ":[{'weight':101,'preference':{'matchExpressions':[{'key':'k',"
				  "'operator':'Exists'}]}}]"),
		422, "weight: Invalid value: 101: must be in the range 1-100"},
	{"topology key of affinity", "pods", "default/",
		POD(CONTAINER ",'affinity':{'podAffinity':{" REQUIRED ":[{'topologyKey':''}]}}"),
		422, "[0].topologyKey: Required value: can not be empty"},
	{"node selector", "pods", "default/", POD(CONTAINER ",'nodeSelector':{'a b':'c'}"), 422,
		"spec.nodeSelector: Invalid value: \"a b\""},
	{"skew", "pods", "default/",
		SPREAD("'maxSkew':0,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'"), 422,
		"spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater "
		"than zero"},
	{"topology key", "pods", "default/",
		SPREAD("'maxSkew':1,'whenUnsatisfiable':'DoNotSchedule'"), 422,
		"spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty"},
	{"action", "pods", "default/",
		SPREAD("'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'X'"), 422,
		"whenUnsatisfiable: Unsupported value: \"X\": supported values: "
		"\"DoNotSchedule\", \"ScheduleAnyway\""},
	{"pair", "pods", "default/",
		SPREAD("'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'},{"
		       "'maxSkew':2,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'"),
		422,
		"spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate "
		"value: \"{z, DoNotSchedule}\""},
	{"min domains", "pods", "default/",
		SPREAD("'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'ScheduleAnyway',"
		       "'minDomains':2"),
		422, "minDomains: Invalid value: 2"},
	{"min domains zero", "pods", "default/",
		SPREAD("'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule',"
		       "'minDomains':0"),
		422, "minDomains: Invalid value: 0: must be greater than zero"},
	{"keys without selector", "pods", "default/",
		SPREAD("'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule',"
		       "'matchLabelKeys':['a']"),
		422, "matchLabelKeys: Forbidden: must not be specified when labelSelector"},
	{"toleration empty key", "pods", "default/", TOLERATION("'operator':'Equal'"), 422,
		"spec.tolerations[0].operator: Invalid value: \"Equal\": operator must be Exists "
		"when `key` is empty"},
	{"toleration value", "pods", "default/",
		TOLERATION("'key':'k','operator':'Exists','value':'v'"), 422,
		"value must be empty when `operator` is 'Exists'"},
	{"toleration seconds", "pods", "default/",
		TOLERATION("'key':'k','operator':'Exists','effect':'NoSchedule',"
			   "'tolerationSeconds':1"),
		422,
		"spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be "
		"'NoExecute' when `tolerationSeconds` is set"},
	{"toleration operator", "pods", "default/",
		TOLERATION("'key':'k','operator':'Lt','value':'1'"), 422,
		"spec.tolerations[0].operator: Unsupported value: \"Lt\": supported values: "
		"\"Equal\", \"Exists\""},
	{"gate names", "pods", "default/", POD(CONTAINER ",'schedulingGates':[{'name':'a b'}]"),
		422, "spec.schedulingGates[0].name: Invalid value: \"a b\""},
	{"gates twice", "pods", "default/",
		POD(CONTAINER ",'schedulingGates':[{'name':'a'},{'name':'a'}]"), 422,
		"Duplicate value: \"a\""},
	{"10 gates and node", "pods", "default/",
		POD(CONTAINER ",'schedulingGates':[{'name':'a'}],'nodeName':'n'"), 422,
		"spec.nodeName: Forbidden: cannot be set until all schedulingGates have been "
		"cleared"},
	{"host port", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','ports':[{'containerPort':1,'hostPort'"
		    ":70000}]}]"),
		422,
		"spec.containers[0].ports[0].hostPort: Invalid value: 70000: must be between 1 "
		"and 65535, inclusive"},
	{"host port of host network", "pods", "default/",
		POD("'hostNetwork':true,'containers':[{'name':'c','image':'i','ports':[{"
		    "'containerPort':1,'hostPort':2}]}]"),
		422, "must match `containerPort` when `hostNetwork` is true"},
	{"host port twice", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','ports':[{'containerPort':1,'hostPort'"
		    ":8}]},{'name':'d','image':'i','ports':[{'containerPort':2,'hostPort':8}]}]"),
		422, "spec.containers[1].ports[0].hostPort: Duplicate value: \"TCP//8\""},
	{"tls secret", "secrets", "default/",
		"{'metadata':{'name':'s'},'type':'kubernetes.io/tls','data':{'tls.crt':''}}", 422,
		"data[tls.key]: Required value"},
	{"docker config", "secrets", "default/",
		"{'metadata':{'name':'s'},'type':'kubernetes.io/dockerconfigjson','data':{"
		"'.dockerconfigjson':'e30x'}}",
		422,
		"data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid "
		"character '1' after top-level value"},
	{"password", "secrets", "default/",
		"{'metadata':{'name':'s'},'type':'kubernetes.io/basic-auth'}", 422,
		"[data[username]: Required value, data[password]: Required value]"},
	{"token without account", "secrets", "default/",
		"{'metadata':{'name':'s'},'type':'kubernetes.io/service-account-token'}", 422,
		"metadata.annotations[kubernetes.io/service-account.name]: Required value"},
	{"cron job with a long name", "cronjobs.batch", "default/",
		"{'metadata':{'name':'a23456789b123456789c123456789d123456789e123456789f123'},"
		"'spec':{'schedule':'@daily','jobTemplate':{'spec':{'template':{'spec':{"
		"'restartPolicy':'Never','containers':[{'name':'c','image':'i'}]}}}}}}",
		422, "must be no more than 52 characters"},
	{"ephemeral container", "pods", "default/",
		POD(CONTAINER ",'ephemeralContainers':[{'name':'e','image':'i'}]"), 422,
		"spec.ephemeralContainers: Forbidden: cannot be set on create"},
	{"ephemeral container of a template", "replicationcontrollers", "default/",
		"{'metadata':{'name':'r'},'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
		"'spec':{'containers':[{'name':'c','image':'i'}],'ephemeralContainers':[{'name':"
		"'e','image':'i'}]}}}}",
		422,
		"spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not "
		"allowed in pod template"},
	{"claim name", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','persistentVolumeClaim':{}}]"), 422,
		"spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
	{"ephemeral", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':"
			      "{'accessModes':['X'],'resources':{'requests':{'storage':'0'}}}}}}]"
			      ""),
		422, "volumeClaimTemplate.spec.resources[storage]: Invalid value: \"0\""},
	{"mount of nothing", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','volumeMounts':[{'name':'v',"
		    "'mountPath':'/x'}]}]"),
		422, "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
};

START_TEST(test_kinds__pod_validation)
{
	rows_check_refusals(pod_rows, ROW_COUNT(pod_rows));
}
END_TEST

#define CLAIM(text) "{'metadata':{'name':'c'},'spec':{" text "}}"
#define VOLUME(text) \
	"{'metadata':{'name':'v'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':{'storage':" \
	"'1Gi'}," text "}}"
#define DEVICES(text) "{'metadata':{'name':'r'},'spec':{'devices':{'requests':[" text "]}}}"
#define ROLLING(unavailable, surge) \
	"{'metadata':{'name':'w'},'spec':{'strategy':{'rollingUpdate':{'maxUnavailable'" \
	":" unavailable ",'maxSurge':" surge "}}}}"
#define EVENT(text) \
	"{'metadata':{'name':'e'},'regarding':{'kind':'Pod','namespace':'default'}," text "}"
#define FULL_EVENT \
	"'eventTime':'2026-11-21T12:00:00.000000Z','reportingController':'a/b'," \
	"'reportingInstance':'i','action':'Act','reason':'R','type':'Normal'"

#define WORKLOAD_WITH(fields) \
	"{'metadata':{'name':'w'},'spec':{" fields \
	",'selector':{'matchLabels':{'a':'b'}},'template':{" \
	"'metadata':{'labels':{'a':'b'}},'spec':{" CONTAINER "}}}}"
#define SERVICE(ports, fields) "{'metadata':{'name':'s'},'spec':{'ports':[" ports "]" fields "}}"

static const struct refusal_row other_rows[] = {
	{"behavior", "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':2,'scaleTargetRef':{'kind':'"
		"Deployment','name':'d','apiVersion':'apps/v1'},'behavior':{'scaleDown':{"
		"'stabilizationWindowSeconds':3601,'policies':[{'type':'Pods','value':0,"
		"'periodSeconds':1801}]}}}}",
		422,
		"[spec.behavior.scaleDown.policies[0].value: Invalid value: 0: must be greater "
		"than "
		"zero, spec.behavior.scaleDown.policies[0].periodSeconds: Invalid value: 1801: "
		"must "
		"be less than or equal to 1800, "
		"spec.behavior.scaleDown.stabilizationWindowSeconds: Invalid value: 3601: must be "
		"less than or equal to 3600]"},
	{"scopes of a quota", "resourcequotas", "default/",
		"{'metadata':{'name':'q'},'spec':{'scopes':['BestEffort','NotBestEffort','X'],"
		"'scopeSelector':{'matchExpressions':[{'operator':'Exists'}]}}}",
		422,
		"is invalid: [spec.scopes[2]: Unsupported value: \"X\": supported values: "
		"\"BestEffort\", \"CrossNamespacePodAffinity\", \"NotBestEffort\", "
		"\"NotTerminating\", \"PriorityClass\", \"Terminating\", "
		"\"VolumeAttributesClass\", spec.scopeSelector.matchExpressions[0].scopeName: "
		"Unsupported value: \"\": supported values: \"BestEffort\", "
		"\"CrossNamespacePodAffinity\", \"NotBestEffort\", \"NotTerminating\", "
		"\"PriorityClass\", \"Terminating\", \"VolumeAttributesClass\", spec.scopes: "
		"Invalid value: [\"BestEffort\",\"NotBestEffort\",\"X\"]: conflicting scopes]"},
	{"namespace name", "namespaces", "", "{'metadata':{'name':'a.b'}}", 422,
		"metadata.name: Invalid value: \"a.b\": a lowercase RFC 1123 label must"},
	{"service of two families", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ipFamilyPolicy':'RequireDualStack','ports':[{"
		"'port':1}],'selector':{'a':'b'}}}",
		422,
		"spec.ipFamilyPolicy: Invalid value: \"RequireDualStack\": this cluster is not "
		"configured for dual-stack services"},
	{"service addresses", "services", "default/",
		SERVICE("{'port':80}", ",'clusterIP':'10.96.0.7','clusterIPs':['10.96.0.8']"), 422,
		"spec.clusterIPs: Invalid value: [\"10.96.0.8\"]: first value must match "
		"`clusterIP`"},
	{"service of two addresses", "services", "default/",
		SERVICE("{'port':80}", ",'clusterIPs':['10.96.0.7','10.96.0.8']"), 422,
		"spec.clusterIPs: Invalid value: [\"10.96.0.7\",\"10.96.0.8\"]: this cluster is "
		"not configured for dual-stack services"},
	{"service external address", "services", "default/",
		SERVICE("{'port':80}", ",'externalIPs':['a']"), 422,
		"spec.externalIPs[0]: Invalid value: \"a\": must be a valid IP address, (e.g. "
		"10.9.8.7 or 2001:db8::ffff)"},
	{"service affinity", "services", "default/",
		SERVICE("{'port':80}",
			",'sessionAffinity':'ClientIP','sessionAffinityConfig':{'clientIP':{'"
			"timeoutSeconds':0}}"),
		422,
		"spec.sessionAffinityConfig.clientIP.timeoutSeconds: Invalid value: 0: must be "
		"greater than 0 and less than 86400"},
	{"service headless on nodes", "services", "default/",
		SERVICE("{'port':80}", ",'type':'NodePort','clusterIP':'None'"), 422,
		"spec.clusterIPs[0]: Invalid value: \"None\": may not be set to 'None' for "
		"NodePort services"},
	{"service external policy", "services", "default/",
		SERVICE("{'port':80}", ",'externalTrafficPolicy':'Local'"), 422,
		"spec.externalTrafficPolicy: Invalid value: \"Local\": may only be set for "
		"externally-accessible services"},
	{"service class", "services", "default/",
		SERVICE("{'port':80}", ",'loadBalancerClass':'a/b'"), 422,
		"spec.loadBalancerClass: Forbidden: may only be used when `type` is "
		"'LoadBalancer'"},
	{"service ranges", "services", "default/",
		SERVICE("{'port':80}",
			",'type':'LoadBalancer','loadBalancerSourceRanges':['1.2.3.4']"),
		422,
		"spec.loadBalancerSourceRanges[0]: Invalid value: \"1.2.3.4\": must be a valid "
		"CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"},
	{"service external name", "services", "default/",
		SERVICE("{'port':80}", ",'type':'ExternalName','externalName':'a_b'"), 422,
		"spec.externalName: Invalid value: \"a_b\": a lowercase RFC 1123 subdomain"},
	{"service port twice", "services", "default/",
		SERVICE("{'name':'a','port':1},{'name':'b','port':1}", ""), 422,
		"spec.ports[1]: Duplicate value: "
		"{\"Name\":\"\",\"Protocol\":\"TCP\",\"AppProtocol\":null,\"Port\":1,"
		"\"TargetPort\":0,\"NodePort\":0}"},
	{"service protocol", "services", "default/", SERVICE("{'port':1,'protocol':'X'}", ""), 422,
		"spec.ports[0].protocol: Unsupported value: \"X\": supported values: \"SCTP\", "
		"\"TCP\", \"UDP\""},
	{"service port name", "services", "default/", SERVICE("{'port':1,'name':'A'}", ""), 422,
		"spec.ports[0].name: Invalid value: \"A\": a lowercase RFC 1123 label"},
	{"service target", "services", "default/", SERVICE("{'port':1,'targetPort':'a--1'}", ""),
		422,
		"spec.ports[0].targetPort: Invalid value: \"a--1\": must not contain consecutive "
		"hyphens"},
	{"service node port twice", "services", "default/",
		SERVICE("{'name':'a','port':1,'nodePort':30001},{'name':'b','port':2,'nodePort':"
			"30001}",
			",'type':'NodePort'"),
		422, "spec.ports[1].nodePort: Duplicate value: 30001"},
	{"name of a container's port", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','ports':[{'containerPort':1,'name':"
		    "'0123456789012345'}]}]"),
		422,
		"[spec.containers[0].ports[0].name: Invalid value: \"0123456789012345\": must be "
		"no more "
		"than 15 characters, spec.containers[0].ports[0].name: Invalid value: "
		"\"0123456789012345\": must contain at least one letter (a-z)]"},
	{"stateful set's claims", "statefulsets.apps", "default/",
		WORKLOAD_WITH("'persistentVolumeClaimRetentionPolicy':{'whenDeleted':'Keep'}"), 422,
		"spec.persistentVolumeClaimRetentionPolicy.whenDeleted: Unsupported value: "
		"\"Keep\": supported values: \"Retain\", \"Delete\""},
	{"stateful set's partition", "statefulsets.apps", "default/",
		WORKLOAD_WITH("'updateStrategy':{'rollingUpdate':{'partition':-1,'maxUnavailable':'"
			      "0%'}}"),
		422,
		"[spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater "
		"than or equal to 0, spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid "
		"value: \"0%\": cannot be 0]"},
	{"stateful set's strategy", "statefulsets.apps", "default/",
		WORKLOAD_WITH("'updateStrategy':{'type':'OnDelete','rollingUpdate':{}}"), 422,
		"spec.updateStrategy.rollingUpdate: Invalid value: "
		"{\"Partition\":null,\"MaxUnavailable\":null}: only allowed for updateStrategy "
		"'RollingUpdate'"},
	{"daemon set without room", "daemonsets.apps", "default/",
		WORKLOAD_WITH("'updateStrategy':{'rollingUpdate':{'maxUnavailable':0}}"), 422,
		"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 "
		"when maxSurge is 0"},
	{"daemon set with surge", "daemonsets.apps", "default/",
		WORKLOAD_WITH(
			"'updateStrategy':{'rollingUpdate':{'maxUnavailable':1,'maxSurge':'10%'}}"),
		422,
		"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: \"10%\": may not be "
		"set when maxUnavailable is non-zero"},
	{"job's manager", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'managedBy':'me','template':{'spec':{'"
		"restartPolicy':'Never'," CONTAINER "}}}}",
		422,
		"spec.managedBy: Invalid value: \"me\": must be a domain-prefixed path (such as "
		"\"acme.io/foo\")"},
	{"job's action", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'podFailurePolicy':{'rules':[{'action':'Stop','"
		"onExitCodes':{'operator':'In','values':[1]}}]},'template':{'spec':{'restartPolicy'"
		":'Never'," CONTAINER "}}}}",
		422,
		"spec.podFailurePolicy.rules[0].action: Unsupported value: \"Stop\": supported "
		"values: \"Count\", \"FailIndex\", \"FailJob\", \"Ignore\""},
	{"job's rule", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'podFailurePolicy':{'rules':[{'action':'Ignore'}]"
		"},'template':{'spec':{'restartPolicy':'Never'," CONTAINER "}}}}",
		422,
		"spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and "
		"OnPodConditions is required"},
	{"container's parts", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','env':[{'name':'a=b'},{'name':'b','"
		    "valueFrom':{"
		    "}}],'volumeMounts':[{'name':'v','mountPath':'/a','subPath':'a/../b',"
		    "'mountPropagation':'A'},{'name':'v','mountPath':'/b','subPath':'/b'}],"
		    "'livenessProbe':{'exec':{},'successThreshold':2},'lifecycle':{'preStop':{}},"
		    "'securityContext':{'runAsUser':-1,'seccompProfile':{'type':'Localhost'}}}],"
		    "'volumes':[{'name':'v','configMap':{'name':'m','defaultMode':512,'items':[{'"
		    "key':"
		    "'k','path':'/p'}]}}]"),
		422,
		"[spec.volumes[0].configMap.items[0].path: Invalid value: \"/p\": must be a "
		"relative "
		"path, spec.volumes[0].configMap.defaultMode: Invalid value: 512: must be a number "
		"between 0 and 0777 (octal), both inclusive, "},
	{"init containers", "pods", "default/",
		POD("'initContainers':[{'name':'c','image':'i','lifecycle':{'preStop':{'sleep':{'"
		    "seconds':1"
		    "}}}}],'containers':[{'name':'c','image':'i'}]"),
		422,
		"[spec.initContainers[0].lifecycle: Forbidden: may not be set for init containers "
		"without restartPolicy=Always, spec.initContainers[0].name: Duplicate value: "
		"\"c\"]"},
	{"config keys", "configmaps", "default/",
		"{'metadata':{'name':'c'},'data':{'a b':'','c':''},'binaryData':{'..':'','..a':'',"
		"'c':''}}",
		422,
		"[data[a b]: Invalid value: \"a b\": a valid config key must consist of "
		"alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or "
		"'key-name', regex used for validation is '[-._a-zA-Z0-9]+'), binaryData[..]: "
		"Invalid value: \"..\": must not be '..', binaryData[..a]: Invalid value: "
		"\"..a\": must not start with '..', data[c]: Invalid value: \"c\": duplicate of "
		"key present in binaryData]"},
	{"secret key", "secrets", "default/", "{'metadata':{'name':'s'},'data':{'.':'eA=='}}", 422,
		"data[.]: Invalid value: \".\": must not be '.'"},
	{"quota resources", "resourcequotas", "default/",
		"{'metadata':{'name':'q'},'spec':{'hard':{'foo':'1','limits.cpu':'-1',"
		"'requests.hugepages-2Mi':'1','count/pods':'1'}}}",
		422,
		"[spec.hard[foo]: Invalid value: \"foo\": must be a standard resource for quota, "
		"spec.hard[limits.cpu]: Invalid value: \"-1\": must be greater than or equal to "
		"0]"},
	{"network policy", "networkpolicies.networking.k8s.io", "default/",
		"{'metadata':{'name':'n'},'spec':{'podSelector':{},'policyTypes':['A'],'ingress':[{"
		"'ports':[{'port':0},{'endPort':80},{'protocol':'X'}],'from':[{},{'ipBlock':{"
		"'cidr':'x'},'podSelector':{}}]}]}}",
		422,
		"[spec.ingress[0].ports[0].port: Invalid value: 0: must be between 1 and 65535, "
		"inclusive, spec.ingress[0].ports[1].endPort: Invalid value: 80: may not be "
		"specified when `port` is not specified, spec.ingress[0].ports[2].protocol: "
		"Unsupported value: \"X\": supported values: \"SCTP\", \"TCP\", \"UDP\", "
		"spec.ingress[0].from[0]: Required value: must specify a peer, "
		"spec.ingress[0].from[1].ipBlock.cidr: Invalid value: \"x\": must be a valid CIDR "
		"value, (e.g. 10.9.8.0/24 or 2001:db8::/64), spec.ingress[0].from[1]: Forbidden: "
		"may not specify both ipBlock and another peer, spec.policyTypes[0]: Unsupported "
		"value: \"A\": supported values: \"Egress\", \"Ingress\"]"},
	{"ingress", "ingresses.networking.k8s.io", "default/",
		"{'metadata':{'name':'i'},'spec':{'tls':[{'hosts':['x_y']}],'rules':[{'http':{'"
		"paths':["
		"{'path':'/a//b','pathType':'Exact','backend':{'service':{'name':'s','port':{"
		"'name':'a','number':3}}}},{'pathType':'ImplementationSpecific','backend':{"
		"'service':{'name':'s'}}}]}}]}}",
		422,
		"paths[0].backend: Invalid value: \"\": cannot set both port name & port number"},
	{"ingress without port", "ingresses.networking.k8s.io", "default/",
		"{'metadata':{'name':'i'},'spec':{'defaultBackend':{'service':{'name':'s'}}}}", 422,
		"spec.defaultBackend: Required value: port name or number is required"},
	{"ingress path", "ingresses.networking.k8s.io", "default/",
		"{'metadata':{'name':'i'},'spec':{'rules':[{'http':{'paths':[{'path':'/a//b','"
		"pathType':'Exact','backend':{'service':{'name':'s','port':{'number':3}}}}]}}]}}",
		422, "paths[0].path: Invalid value: \"/a//b\": must not contain '//'"},
	{"ingress class", "ingressclasses.networking.k8s.io", "",
		"{'metadata':{'name':'c'},'spec':{'controller':'x'}}", 422,
		"spec.controller: Invalid value: \"x\": must be a domain-prefixed path"},
	{"one pod's volume", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1'},'accessModes':['"
		"ReadWriteOncePod','ReadWriteOnce'],'hostPath':{'path':'/a/../b'}}}",
		422,
		"[spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..', "
		"spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access "
		"modes]"},
	{"node's addresses of pods", "nodes", "",
		"{'metadata':{'name':'n'},'spec':{'podCIDR':'10.1.1.0/99'}}", 422,
		"spec.podCIDRs[0]: Invalid value: \"10.1.1.0/99\": must be a valid CIDR value"},
	{"slice's addresses", "endpointslices.discovery.k8s.io", "default/",
		"{'metadata':{'name':'s'},'addressType':'IPv4','endpoints':[{'addresses':['x']}]}",
		422, "endpoints[0].addresses[0]: Invalid value: \"x\": must be a valid IP address"},
	{"metrics", "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':1,'scaleTargetRef':{'apiVersion':'"
                "a/"
		"v1','kind':'a','name':'a'},'metrics':[{'type':'Object'},{'type':'Pods','pods':{"
		"'metric':{'name':''},'target':{'type':'AverageValue'}}},{'type':'Resource',"
		"'resource':{'name':'cpu','target':{'type':'Utilization','averageUtilization':-5,"
		"'averageValue':'1'}}}]}}",
		422,
		"[spec.metrics[0].object: Required value: must populate information for the given "
		"metric source, spec.metrics[1].pods.metric.name: Required value: must specify a "
		"metric name, spec.metrics[1].pods.target.averageValue: Required value: must "
		"specify a positive target averageValue, "
		"spec.metrics[2].resource.target.averageUtilization: Invalid value: -5: must be "
		"greater than 0, spec.metrics[2].resource.target.averageValue: Forbidden: may not "
		"set both a target raw value and a target utilization]"},
	{"scaled name", "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':1,'scaleTargetRef':{'apiVersion':'"
		"a/"
		"v1','kind':'a','name':'a/b'}}}",
		422, "spec.scaleTargetRef.name: Invalid value: \"a/b\": may not contain '/'"},
	{"topologies without values", "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'s'},'provisioner':'a','allowedTopologies':[{"
		"'matchLabelExpressions':[{'key':'a','values':[]}]}]}",
		422, "allowedTopologies[0].matchLabelExpressions[0].values: Required value"},
	{"job's index", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'podFailurePolicy':{'rules':[{'action':'"
		"FailIndex','onExitCodes':{'operator':'In','values':[1]}}]},'template':{'spec':{'"
		"restartPolicy':'Never'," CONTAINER "}}}}",
		422,
		"spec.podFailurePolicy.rules[0].action: Invalid value: \"FailIndex\": requires the "
		"backoffLimitPerIndex to be set"},
	{"service name", "services", "default/",
		"{'metadata':{'name':'1a'},'spec':{'ports':[{'port':1}]}}", 422,
		"metadata.name: Invalid value: \"1a\""},
	{"claim modes", "persistentvolumeclaims", "default/",
		CLAIM("'resources':{'requests':{'storage':'1'}}"), 422,
		"spec.accessModes: Required value: at least 1 access mode is required"},
	{"claim mode", "persistentvolumeclaims", "default/",
		CLAIM("'accessModes':['X'],'resources':{'requests':{'storage':'1'}}"), 422,
		"spec.accessModes: Unsupported value: \"X\": supported values: \"ReadOnlyMany\", "
		"\"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\""},
	{"claim storage", "persistentvolumeclaims", "default/",
		CLAIM("'accessModes':['ReadWriteOnce']"), 422,
		"spec.resources[storage]: Required value"},
	{"claim zero", "persistentvolumeclaims", "default/",
		CLAIM("'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'0'}}"),
		422, "spec.resources[storage]: Invalid value: \"0\": must be greater than zero"},
	{"taint key", "nodes", "",
		"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'a b','effect':'NoSchedule'}]}}",
		422, "metadata.taints[0].key: Invalid value: \"a b\""},
	{"taint effect", "nodes", "", "{'metadata':{'name':'n'},'spec':{'taints':[{'key':'a'}]}}",
		422, "metadata.taints[0].effect: Required value"},
	{"taint twice", "nodes", "",
		"{'metadata':{'name':'n'},'spec':{'taints':[{'key':'a','effect':'NoSchedule'},{"
		"'key':'a','value':'x','effect':'NoSchedule'}]}}",
		422, "metadata.taints[1]: Duplicate value: "},
	{"volume storage", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':{"
		"'storage':'0'},'hostPath':{'path':'/x'}}}",
		422, "spec.capacity[storage]: Invalid value: \"0\": must be greater than zero"},
	{"volume source", "persistentvolumes", "", VOLUME("'volumeMode':'Block'"), 422,
		"spec: Required value: must specify a volume type"},
	{"volume sources", "persistentvolumes", "",
		VOLUME("'hostPath':{'path':'/x'},'nfs':{'server':'s','path':'/'}"), 422,
		"may not specify more than 1 volume type"},
	{"volume modes", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{'capacity':{'storage':'1'},'hostPath':{'path':"
		"'/x'}}}",
		422, "spec.accessModes: Required value"},
	{"volume affinity", "persistentvolumes", "",
		VOLUME("'hostPath':{'path':'/x'},'nodeAffinity':{}"), 422,
		"spec.nodeAffinity.required: Required value"},
	{"local volume", "persistentvolumes", "", VOLUME("'local':{'path':'/x'}"), 422,
		"spec.nodeAffinity: Required value: Local volume requires node affinity"},
	{"priority class value", "priorityclasses.scheduling.k8s.io", "",
		"{'metadata':{'name':'p'},'value':1000000001}", 422, "PriorityClass.scheduling."},
	{"priority class name", "priorityclasses.scheduling.k8s.io", "",
		"{'metadata':{'name':'system-x'},'value':1}", 422,
		"metadata.name: Forbidden: priority class names with 'system-' prefix are "
		"reserved"},
	{"budget both", "poddisruptionbudgets.policy", "default/",
		"{'metadata':{'name':'b'},'spec':{'minAvailable':1,'maxUnavailable':1}}", 422,
		"minAvailable and maxUnavailable cannot be both set"},
	{"budget percent", "poddisruptionbudgets.policy", "default/",
		"{'metadata':{'name':'b'},'spec':{'minAvailable':'x'}}", 422,
		"spec.minAvailable: Invalid value: \"x\": a valid percent string"},
	{"budget over", "poddisruptionbudgets.policy", "default/",
		"{'metadata':{'name':'b'},'spec':{'minAvailable':'101%'}}", 422,
		"must not be greater than 100%"},
	{"14-35 event time", "events.events.k8s.io", "default/",
		EVENT("'reportingController':'a/b','reportingInstance':'i','action':'A','reason':"
		      "'R','type':'Normal'"),
		422, "Event.events.k8s.io \"e\" is invalid: eventTime: Required value"},
	{"event controller", "events.events.k8s.io", "default/",
		EVENT("'eventTime':'2026-11-21T12:00:00.000000Z','type':'Normal'"), 422,
		"[reportingController: Required value, reportingInstance: Required value, action: "
		"Required value, reason: Required value]"},
	{"event series", "events.events.k8s.io", "default/",
		EVENT(FULL_EVENT
			",'series':{'count':1,'lastObservedTime':'2026-11-21T12:00:00.000000Z'}"),
		422, "series.count: Invalid value: 1: should be at least 2"},
	{"group policy", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{}}}", 422,
		"spec.schedulingPolicy: Invalid value"},
	{"group policies", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{},'gang':{"
		"'minCount':1}}}}",
		422, "spec.schedulingPolicy: Invalid value"},
	{"group count", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'gang':{'minCount':0}}}}",
		422,
		"spec.schedulingPolicy.gang.minCount: Invalid value: 0: must be greater than or "
		"equal to 1"},
	{"group topology", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}},"
		"'schedulingConstraints':{'topology':[{'key':'a'},{'key':'b'}]}}}",
		422, "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item"},
	{"group topology key", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}},"
		"'schedulingConstraints':{'topology':[{'key':'a b'}]}}}",
		422, "spec.schedulingConstraints.topology[0].key: Invalid value: \"a b\""},
	{"group claim", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}},"
		"'resourceClaims':[{'name':'c'}]}}",
		422,
		"spec.resourceClaims[0]: Invalid value: {\"name\":\"c\"}: must specify one of: "
		"`resourceClaimName`, `resourceClaimTemplateName`"},
	{"group disruption", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}},"
		"'disruptionMode':'x'}}",
		422, "spec.disruptionMode: Unsupported value: \"x\""},
	{"workload priority", "workloads.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'w'},'spec':{'podGroupTemplates':[{'name':'t',"
		"'schedulingPolicy':{'basic':{}},'priority':1000000001}]}}",
		422,
		"spec.podGroupTemplates[0].priority: Invalid value: 1000000001: must be less than "
		"or equal to 1000000000"},
	{"scheduling group", "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'schedulingGroup':{}}}",
		422,
		"spec.schedulingGroup: Invalid value: {}: must specify one of: `podGroupName`"},
	{"scheduling group name", "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'schedulingGroup':{'podGroupName':'A'}}}",
		422, "spec.schedulingGroup.podGroupName: Invalid value: \"A\""},
	{"claim class", "resourceclaims.resource.k8s.io", "default/",
		DEVICES("{'name':'x','exactly':{}}"), 422,
		"spec.devices.requests[0].exactly.deviceClassName: Required value"},
	{"claim request name", "resourceclaims.resource.k8s.io", "default/",
		DEVICES("{'name':'X','exactly':{'deviceClassName':'d'}}"), 422,
		"spec.devices.requests[0].name: Invalid value: \"X\""},
	{"claim request twice", "resourceclaims.resource.k8s.io", "default/",
		DEVICES("{'name':'x','exactly':{'deviceClassName':'d'}},{'name':'x','exactly':{"
			"'deviceClassName':'d'}}"),
		422, "spec.devices.requests[1].name: Duplicate value: \"x\""},
	{"claim count", "resourceclaims.resource.k8s.io", "default/",
		DEVICES("{'name':'x','exactly':{'deviceClassName':'d','count':-1}}"), 422,
		"spec.devices.requests[0].exactly.count: Invalid value: -1: must be greater than "
		"zero"},
	{"selector", "deployments.apps", "default/",
		"{'metadata':{'name':'w'},'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
		"'spec':{" CONTAINER "}}}}",
		422,
		"Deployment.apps \"w\" is invalid: [spec.selector: Required value, "
		"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
		"match template `labels`]"},
	{"selector and labels", "deployments.apps", "default/",
		"{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'c'}},'template':"
		"{'metadata':{'labels':{'a':'b'}},'spec':{" CONTAINER "}}}}",
		422,
		"spec.template.metadata.labels: Invalid value: {\"a\":\"b\"}: `selector` does not "
		"match template `labels`"},
	{"no progress, numbers", "deployments.apps", "default/", ROLLING("0", "'0%'"), 422,
		"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
		"`maxSurge` is 0"},
	{"no progress, texts", "deployments.apps", "default/", ROLLING("'0'", "'0'"), 422,
		"spec.strategy.rollingUpdate.maxUnavailable: Invalid value: \"0\": may not be 0 "
		"when `maxSurge` is 0"},
	{"rolling update and recreate", "deployments.apps", "default/",
		"{'metadata':{'name':'w'},'spec':{'strategy':{'type':'Recreate','rollingUpdate':"
		"{}}}}",
		422,
		"spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` "
		"is 'Recreate'"},
	{"zone", "cronjobs.batch", "default/",
		CRON_JOB("'schedule':'* * * * *','timeZone':'Nowhere/Land'"), 422,
		"spec.timeZone: Invalid value: \"Nowhere/Land\": unknown time zone Nowhere/Land"},
	{"zone outside", "cronjobs.batch", "default/",
		CRON_JOB("'schedule':'* * * * *','timeZone':'../passwd'"), 422,
		"spec.timeZone: Invalid value: \"../passwd\": unknown time zone ../passwd"},
	{"empty zone", "cronjobs.batch", "default/",
		CRON_JOB("'schedule':'* * * * *','timeZone':''"), 422,
		"spec.timeZone: Invalid value: \"\": timeZone must be nil or non-empty string"},
	{"local zone", "cronjobs.batch", "default/",
		CRON_JOB("'schedule':'* * * * *','timeZone':'Local'"), 422,
		"timeZone must be an explicit time zone as defined in "
		"https://www.iana.org/time-zones"},
	{"zone in schedule", "cronjobs.batch", "default/",
		CRON_JOB("'schedule':'CRON_TZ=UTC * * * * *'"), 422,
		"spec.schedule: Invalid value: \"CRON_TZ=UTC * * * * *\": cannot use TZ or CRON_TZ "
		"in schedule, use timeZone field instead"},
	{"schedule", "cronjobs.batch", "default/", CRON_JOB("'schedule':'61 * * * *'"), 422,
		"spec.schedule: Invalid value: \"61 * * * *\": failed to parse: 61 * * * *"},
	{"job policy", "jobs.batch", "default/",
		"{'metadata':{'name':'w'},'spec':{'template':{'spec':{" CONTAINER "}}}}", 422,
		"spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", "
		"\"Never\""},
};

START_TEST(test_kinds__other_validation)
{
	rows_check_refusals(other_rows, ROW_COUNT(other_rows));
}
END_TEST

START_TEST(test_kinds__causes)
{
	struct api_fixture f;
	rows_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/", POD("'containers':[{'name':'c'}]")), 422);
	rows_expect(&f, "details", "details",
		"{'name':'p','kind':'Pod','causes':[{'reason':'FieldValueRequired','message':"
		"'Required value','field':'spec.containers[0].image'}]}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__edge_14_35_both_groups_of_events)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "events.events.k8s.io", "default/", EVENT(FULL_EVENT ",'note':'text'"));
	rows_expect(&f, "note", "note", "'text'");
	rows_expect(&f, "regarding", "regarding.kind", "'Pod'");
	ck_assert_uint_eq(api_get(&f, "events", "default/e"), 200);
	rows_expect(&f, "message", "message", "'text'");
	rows_expect(&f, "object", "involvedObject.kind", "'Pod'");
	rows_expect(&f, "component", "reportingComponent", "'a/b'");
	rows_expect(&f, "no note", "note", "");
	rows_create(&f, "events", "default/",
		"{'metadata':{'name':'o'},'involvedObject':{'kind':'Node'},'message':'m','reason':"
		"'R','count':3}");
	ck_assert_uint_eq(api_get(&f, "events.events.k8s.io", "default/o"), 200);
	rows_expect(&f, "count", "deprecatedCount", "3");
	rows_expect(&f, "message as note", "note", "'m'");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__sizes)
{
	struct api_fixture f;
	rows_init(&f);
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "{'metadata':{'name':'p','annotations':{'a':'");
	for (uint32_t i = 0; i < 262144; i++) {
		bt_strbuf_append_char(&text, 'x');
	}
	bt_strbuf_append_c(&text, "'}},'spec':{" CONTAINER "}}");
	ck_assert_uint_eq(api_create(&f, "pods", "default/", bt_strbuf_c(&text)), 422);
	ck_assert_msg(strstr(api_message(&f),
			      "metadata.annotations: Too long: may not be more than 262144 bytes"
			      "") != NULL,
		"%s", api_message(&f));
	bt_strbuf_reset(&text);
	bt_strbuf_append_c(&text, "{'metadata':{'name':'e'}," FULL_EVENT ",'note':'");
	for (uint32_t i = 0; i < 1025; i++) {
		bt_strbuf_append_char(&text, 'x');
	}
	bt_strbuf_append_c(&text, "'}");
	ck_assert_uint_eq(
		api_create(&f, "events.events.k8s.io", "default/", bt_strbuf_c(&text)), 422);
	ck_assert_msg(strstr(api_message(&f), "can have at most 1024 bytes") != NULL, "%s",
		api_message(&f));
	bt_strbuf_finish(&text);
	api_fixture_finish(&f);
}
END_TEST

/** Creates head, count times x, and tail; message is a part of the expected refusal (NULL: 201). */
static void check_length(struct api_fixture *f, const char *resource, const char *head,
	uint32_t count, const char *tail, const char *message)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, head);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_char(&text, 'x');
	}
	bt_strbuf_append_c(&text, tail);
	uint16_t code = api_create(f, resource, "default/", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	ck_assert_msg(code == (message == NULL ? 201 : 422), "%s: %u", head, (unsigned)code);
	ck_assert_msg(
		message == NULL || strstr(api_message(f), message) != NULL, "%s", api_message(f));
}

START_TEST(test_kinds__bytes_of_data)
{
	struct api_fixture f;
	rows_init(&f);
	const char *all = "is invalid: []: Too long: may not be more than 1048576 bytes";
	const char *data = "is invalid: data: Too long: may not be more than 1048576 bytes";
	const char *maps = "configmaps";
	const char *map = "{'metadata':{'name':'a'},'data':{'a':'";
	check_length(&f, maps, map, 1048577, "'}}", all);
	check_length(&f, maps, map, 1048573, "'},'binaryData':{'b':'eHh4eA=='}}", all);
	check_length(&f, maps, map, 1048573, "'},'binaryData':{'b':'eHh4'}}", NULL);
	const char *secret = "{'metadata':{'name':'a'},'stringData':{'a':'";
	check_length(&f, "secrets", secret, 1048577, "'}}", data);
	check_length(&f, "secrets", secret, 1048576, "'}}", NULL);
	secret = "{'metadata':{'name':'b'},'data':{'b':'eA==','a':'";
	check_length(&f, "secrets", secret, 1398104, "'}}", data);
	check_length(&f, "secrets", secret, 1398100, "'}}", NULL);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "secrets", "default/b",
				  "{'stringData':{'c':'four'}}"),
		422);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__warnings)
{
#define WARNED(metadata, spec) \
	"{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{" \
	"'metadata':{'labels':{'a':'b'}" metadata "},'spec':{" spec "}}}}"
	static const struct {
		const char *resource;
		const char *body;
		const char *warning; /* NULL: none */
	} rows[] = {
		{"pods", POD(CONTAINER), NULL},
		{"pods", "{'metadata':{'name':'a.b'},'spec':{" CONTAINER "}}",
			"metadata.name: this is used in the Pod's hostname, which can result in "
			"surprising behavior; a DNS label is recommended: [must not contain dots]"},
		{"pods",
			POD("'containers':[{'name':'c','image':'i','env':[{'name':'A'},{'name':'A'}"
			    "]}]"),
			"spec.containers[0].env[1]: hides previous definition of \"A\", which may "
			"be "
			"dropped when using apply"},
		{"deployments.apps",
			WARNED("", CONTAINER ",'nodeSelector':{'beta.kubernetes.io/os':'x'}"),
			"spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since "
			"v1.14; "
			"use \"kubernetes.io/os\" instead"},
		{"deployments.apps",
			WARNED(",'annotations':{'container.apparmor.security.beta.kubernetes.io/c':"
			       "'unconfined'}",
				CONTAINER),
			"spec.template.metadata.annotations[container.apparmor.security.beta."
			"kubernetes.io/c]: deprecated since v1.30; use the \"appArmorProfile\" "
			"field "
			"instead"},
		{"deployments.apps",
			WARNED("",
				"'containers':[{'name':'c','image':'i','ports':[{'containerPort':1}"
				"]},"
				"{'name':'d','image':'i','ports':[{'containerPort':1},"
				"{'containerPort':1,'hostPort':0}]}]"),
			"spec.template.spec.containers[1].ports[1]: duplicate port definition with "
			"spec.template.spec.containers[1].ports[0]"},
		{"deployments.apps",
			WARNED("",
				"'containers':[{'name':'c','image':'i','ports':[{'containerPort':1,"
				"'name':'a'}]},{'name':'d','image':'i','ports':[{'containerPort':1,"
				"'name':'a'}]}]"),
			"spec.template.spec.containers[1].ports[0]: duplicate port name \"a\" with "
			"spec.template.spec.containers[0].ports[0], services and probes that "
			"select "
			"ports by name will use spec.template.spec.containers[0].ports[0]"},
		{"services",
			SERVICE("{'port':80}", ",'clusterIP':'None','sessionAffinity':'ClientIP'"),
			"spec.SessionAffinity is ignored for headless services"},
		{"ingresses.networking.k8s.io",
			"{'metadata':{'name':'i','annotations':{'kubernetes.io/"
			"ingress.class':'n'}},"
			"'spec':{'defaultBackend':{'service':{'name':'s','port':{'number':1}}}}}",
			"annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
			"'spec.ingressClassName' instead"},
	};
	for (uint32_t i = 0; i < ROW_COUNT(rows); i++) {
		struct api_fixture f;
		rows_init(&f);
		f.request.warns = true;
		rows_create(&f, rows[i].resource, "default/", rows[i].body);
		ck_assert_uint_eq(f.answer.warning_count, rows[i].warning != NULL ? 1 : 0);
		if (rows[i].warning != NULL) {
			ck_assert_str_eq(f.answer.warnings[0].data, rows[i].warning);
		}
		api_fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_kinds__addresses_that_the_cluster_does_not_have)
{
	static const struct {
		const char *spec;
		const char *message;
	} rows[] = {
		{"'ipFamilies':['IPv6']",
			"spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this "
			"cluster"},
		{"'ipFamilies':['IPv4','IPv6'],'ipFamilyPolicy':'PreferDualStack'",
			"spec.ipFamilies[1]: Invalid value: \"IPv6\": not configured on this "
			"cluster"},
		{"'clusterIP':'None','selector':{'a':'b'},'ipFamilies':['IPv6']",
			"spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this "
			"cluster"},
		{"'clusterIP':'fd00::1'",
			"spec.ipFamilies[0]: Invalid value: \"IPv6\": not configured on this "
			"cluster"},
		{"'clusterIP':'fd00::1','ipFamilies':['IPv4']",
			"spec.clusterIPs[0]: Invalid value: \"fd00::1\": expected an IPv4 value "
			"as indicated by `ipFamilies[0]`"},
		{"'clusterIP':'x:y','ipFamilies':['IPv4']",
			"spec.clusterIPs[0]: Invalid value: \"x:y\": must be a valid IP address, "
			"(e.g. 10.9.8.7 or 2001:db8::ffff)"},
		{"'ipFamilies':['IPv5']",
			"spec.ipFamilies: Unsupported value: \"IPv5\": supported values: "
			"\"IPv4\", "
			"\"IPv6\""},
		{"'clusterIP':'abc'",
			"spec.clusterIPs[0]: Invalid value: \"abc\": must be a valid IP address, "
			"(e.g. "
			"10.9.8.7 or 2001:db8::ffff)"},
		{"'clusterIP':'10.112.0.1'",
			"spec.clusterIPs: Invalid value: [\"10.112.0.1\"]: failed to allocate IP "
			"10.112.0.1: the provided IP (10.112.0.1) is not in the valid range. The "
			"range "
			"of valid IPs is 10.96.0.0/12"},
	};
	struct api_fixture f;
	rows_init(&f);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str body = bt_arena_printf(&f.arena,
			"{'metadata':{'name':'a'},'spec':{'ports':[{'port':80}],%s}}",
			rows[i].spec);
		ck_assert_uint_eq(api_create(&f, "services", "default/", body.data), 422);
		struct bt_str expected =
			bt_arena_printf(&f.arena, "Service \"a\" is invalid: %s", rows[i].message);
		ck_assert_str_eq(api_message(&f), expected.data);
	}
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'a'},'spec':{'ports':[{'port':80}],'clusterIP':"
		"'10.111.255.254'}}");
	/* Objects of files may come from other clusters. */
	f.request.restore = true;
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'b'},'spec':{'ports':[{'port':80}],'clusterIP':'1.2.3.4'}}");
	f.request.restore = true;
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'c'},'spec':{'ports':[{'port':80}],'ipFamilies':['IPv6']}}");
	ck_assert_ptr_nonnull(strchr(api_text(&f, "spec.clusterIP"), ':'));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/c",
				  "{'metadata':{'labels':{'x':'y'}}}"),
		200);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__cluster_ip_of_another_service)
{
	struct api_fixture f;
	rows_init(&f);
	const char *body = "{'metadata':{'name':'b'},'spec':{'ports':[{'port':80}],"
			   "'clusterIP':'10.96.0.10'}}";
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'a'},'spec':{'ports':[{'port':80}],"
		"'clusterIP':'10.96.0.10'}}");
	ck_assert_uint_eq(api_create(&f, "services", "default/", body), 422);
	ck_assert_str_eq(api_message(&f),
		"Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.96.0.10\"]: "
		"failed to allocate IP 10.96.0.10: provided IP is already allocated");
	/* A service may keep its own address. */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/a",
				  "{'metadata':{'labels':{'x':'y'}}}"),
		200);
	/* A service without an address gets none that is taken. */
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'e'},'spec':{'type':'ExternalName','externalName':'a.b'}}");
	const char *change = "{'spec':{'type':'ClusterIP','externalName':null,"
			     "'ports':[{'port':80}],'clusterIP':'10.96.0.10'}}";
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/e", change), 422);
	ck_assert_uint_eq(api_delete(&f, "services", "default/a"), 200);
	rows_create(&f, "services", "default/", body);
	ck_assert_uint_eq(api_delete(&f, "services", "default/b"), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/e", change), 200);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__node_port_of_another_service)
{
	struct api_fixture f;
	struct bt_strbuf text = {0};
	rows_init(&f);
	for (uint32_t i = 0; i < 300; i++) {
		char body[120];
		(void)snprintf(body, sizeof(body),
			"{'metadata':{'name':'s%u'},'spec':{'ports':[{'port':80}],"
			"'clusterIP':'None'}}",
			i);
		ck_assert_uint_eq(api_create(&f, "services", "default/", body), 201);
	}
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'z'},'spec':{'type':'NodePort','ports':[{'port':80,"
		"'nodePort':30000}]}}");
	bt_strbuf_append_c(&text, "{'metadata':{'name':'n'},'spec':{'type':'NodePort','ports':[");
	for (uint32_t i = 0; i < 150; i++) {
		bt_strbuf_printf(&text, "%s{'name':'p%u','port':%u,'nodePort':%u}",
			i == 0 ? "" : ",", i, i + 1, 30149 - i);
	}
	bt_strbuf_append_c(&text, "]}}");
	ck_assert_uint_eq(api_create(&f, "services", "default/", bt_strbuf_c(&text)), 422);
	ck_assert_str_eq(api_message(&f),
		"Service \"n\" is invalid: spec.ports[149].nodePort: Invalid value: 30000: "
		"provided "
		"port is already allocated");
	/* All ports are free but 30000: each gets another one. */
	bt_strbuf_reset(&text);
	bt_strbuf_append_c(&text, "{'metadata':{'name':'n'},'spec':{'type':'NodePort','ports':[");
	for (uint32_t i = 0; i < 2767; i++) {
		bt_strbuf_printf(&text, "%s{'name':'p%u','port':%u}", i == 0 ? "" : ",", i, i + 1);
	}
	bt_strbuf_append_c(&text, "]}}");
	ck_assert_uint_eq(api_create(&f, "services", "default/", bt_strbuf_c(&text)), 201);
	const char *made = api_json(&f, "spec.ports");
	for (uint32_t i = 30001; i < 32768; i++) {
		char member[24];
		(void)snprintf(member, sizeof(member), "'nodePort':%u", i);
		ck_assert_msg(strstr(made, member) != NULL, "%u", i);
	}
	bt_strbuf_finish(&text);
	api_fixture_finish(&f);
}
END_TEST

/** Validation finds duplicates among tens of thousands of names in well under a second. */
START_TEST(test_kinds__many_names)
{
	struct api_fixture f;
	rows_init(&f);
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text,
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c',"
		"'image':'i','volumeMounts':[");
	for (uint32_t i = 0; i < 20000; i++) {
		bt_strbuf_printf(
			&text, "%s{'name':'v%u','mountPath':'/%u'}", i == 0 ? "" : ",", i, i);
	}
	bt_strbuf_append_c(&text, "]}],'volumes':[");
	for (uint32_t i = 0; i < 20000; i++) {
		bt_strbuf_printf(&text, "%s{'name':'v%u'}", i == 0 ? "" : ",", i);
	}
	bt_strbuf_append_c(&text, "]}}");
	ck_assert_msg(api_create(&f, "pods", "default/", bt_strbuf_c(&text)) == 201, "%.200s",
		api_message(&f));
	bt_strbuf_reset(&text);
	bt_strbuf_append_c(&text,
		"{'metadata':{'name':'q'},'spec':{'containers':[{'name':'c',"
		"'image':'i','resources':{'limits':{");
	for (uint32_t i = 0; i < 30000; i++) {
		bt_strbuf_printf(&text, "%s'a.b/%u':'1'", i == 0 ? "" : ",", i);
	}
	bt_strbuf_append_c(&text, "}}}]}}");
	ck_assert_uint_eq(api_create(&f, "pods", "default/", bt_strbuf_c(&text)), 422);
	ck_assert_msg(strstr(api_message(&f), "must have at most 256 items") != NULL, "%.300s",
		api_message(&f));
	bt_strbuf_finish(&text);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__edge_14b_03_extended_resource_without_limit)
{
	struct api_fixture f;
	rows_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/", RESOURCES("'requests':{'nvidia.com/gpu':'1'}")),
		422);
	ck_assert_str_eq(api_message(&f),
		"Pod \"p\" is invalid: spec.containers[0].resources.limits: Required value: Limit "
		"must be set for non overcommitable resources");
	ck_assert_uint_eq(api_get(&f, "pods", "default/p"), 404);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__edge_14b_10_gates_with_node)
{
	struct api_fixture f;
	rows_init(&f);
	ck_assert_uint_eq(
		api_create(&f, "pods", "default/",
			POD(CONTAINER ",'nodeName':'n1','schedulingGates':[{'name':'a'}]")),
		422);
	ck_assert_str_eq(api_message(&f),
		"Pod \"p\" is invalid: spec.nodeName: Forbidden: cannot be set until all "
		"schedulingGates have been cleared");
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("kinds_validation", test_kinds__pod_validation, test_kinds__other_validation,
	test_kinds__causes, test_kinds__edge_14_35_both_groups_of_events, test_kinds__sizes,
	test_kinds__bytes_of_data, test_kinds__many_names,
	test_kinds__addresses_that_the_cluster_does_not_have, test_kinds__warnings,
	test_kinds__cluster_ip_of_another_service, test_kinds__node_port_of_another_service,
	test_kinds__edge_14b_03_extended_resource_without_limit,
	test_kinds__edge_14b_10_gates_with_node)
