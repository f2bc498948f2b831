/* SPDX-License-Identifier: Apache-2.0 */
/** Objects of the workload `devices`: nodes with a slice of devices each, a claim for each pod. */
#include "base/assert.h"
#include "bench/bench_pods.h"

#define DRIVER "gpu.example.com"
#define DEVICES_OF_A_NODE 8
#define DEVICES_OF_A_SOCKET 4

static bool is_large(uint32_t node)
{
	return node % 2 == 0;
}

static void write_class(struct bt_strbuf *out)
{
	bt_strbuf_append_c(out,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"DeviceClass\",\"metadata\":"
		"{\"name\":\"" DRIVER "\",\"uid\":\"class\"},\"spec\":{\"selectors\":[{\"cel\":"
		"{\"expression\":\"device.driver == \\\"" DRIVER "\\\"\"}}]}}");
}

static void write_slice(uint32_t node, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceSlice\",\"metadata\":"
		"{\"name\":\"slice-%05u\",\"uid\":\"s-%u\"},\"spec\":{\"driver\":\"" DRIVER
		"\",\"nodeName\":\"node-%05u\",\"pool\":{\"name\":\"node-%05u\","
		"\"generation\":1,\"resourceSliceCount\":1},\"devices\":[",
		node, node, node, node);
	for (uint32_t i = 0; i < DEVICES_OF_A_NODE; i++) {
		bt_strbuf_printf(out,
			"%s{\"name\":\"gpu-%u\",\"attributes\":{\"model\":{\"string\":\"%s\"},"
			"\"index\":{\"int\":%u},\"numa\":{\"int\":%u},"
			"\"driverVersion\":{\"version\":\"12.%u.0\"}},"
			"\"capacity\":{\"memory\":{\"value\":\"%s\"}}}",
			i != 0 ? "," : "", i, is_large(node) ? "large" : "small", i,
			i / DEVICES_OF_A_SOCKET, node % 3, is_large(node) ? "80Gi" : "40Gi");
	}
	bt_strbuf_append_c(out, "]}}");
}

/** Bound pods have the devices of their nodes, as long as there are any. */
static bool has_claim(const struct bt_bench_source *source, uint32_t pod)
{
	return pod >= source->bound_count || pod / source->node_count < DEVICES_OF_A_NODE;
}

static uint32_t bound_claims(const struct bt_bench_source *source)
{
	uint64_t devices = (uint64_t)source->node_count * DEVICES_OF_A_NODE;

	return source->bound_count < devices ? source->bound_count : (uint32_t)devices;
}

static void write_allocation(uint32_t node, uint32_t device, uint32_t pod, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		",\"status\":{\"allocation\":{\"devices\":{\"results\":[{\"request\":\"gpu\","
		"\"driver\":\"" DRIVER "\",\"pool\":\"node-%05u\",\"device\":\"gpu-%u\"}]},"
		"\"nodeSelector\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":"
		"\"metadata.name\",\"operator\":\"In\",\"values\":[\"node-%05u\"]}]}]}},"
		"\"reservedFor\":[{\"resource\":\"pods\",\"name\":\"pod-%06u\",\"uid\":"
		"\"p-%u\"}]}",
		node, device, node, pod, pod);
}

/** Every other one is content with any device. */
static void write_claim(const struct bt_bench_source *source, uint32_t pod, struct bt_strbuf *out)
{
	bt_strbuf_printf(out,
		"{\"apiVersion\":\"resource.k8s.io/v1\",\"kind\":\"ResourceClaim\",\"metadata\":"
		"{\"name\":\"claim-%06u\",\"namespace\":\"default\",\"uid\":\"c-%u\"},\"spec\":"
		"{\"devices\":{\"requests\":[{\"name\":\"gpu\",\"exactly\":{\"deviceClassName\":"
		"\"" DRIVER "\",\"allocationMode\":\"ExactCount\",\"count\":1,\"selectors\":"
		"[{\"cel\":{\"expression\":\"%sdevice.capacity[\\\"" DRIVER
		"\\\"].memory.compareTo(quantity(\\\"%s\\\")) >= 0\"}}]}}]}}",
		pod, pod,
		pod % 2 == 0 ? "device.attributes[\\\"" DRIVER "\\\"].model == \\\"large\\\" && "
			     : "device.attributes[\\\"" DRIVER "\\\"].index < 8 && ",
		pod % 2 == 0 ? "80Gi" : "20Gi");
	if (pod < source->bound_count) {
		write_allocation(pod % source->node_count, pod / source->node_count, pod, out);
	}
	bt_strbuf_append_char(out, '}');
}

uint32_t bt_bench_device_object_count(const struct bt_bench_source *source)
{
	return 1 + source->node_count + bound_claims(source) + source->pending_count;
}

void bt_bench_write_device_object(
	const struct bt_bench_source *source, uint32_t index, struct bt_strbuf *out)
{
	uint32_t first_claim = 1 + source->node_count;
	uint32_t claim = index - first_claim;

	BT_ASSERT(index < bt_bench_device_object_count(source));
	if (index == 0) {
		write_class(out);
	} else if (index < first_claim) {
		write_slice(index - 1, out);
	} else if (claim < bound_claims(source)) {
		write_claim(source, claim, out);
	} else {
		write_claim(source, source->bound_count + claim - bound_claims(source), out);
	}
}

void bt_bench_pod_device(struct bt_bench_pod *pod)
{
	if (has_claim(pod->source, pod->index)) {
		bt_strbuf_printf(&pod->spec,
			",\"resourceClaims\":[{\"name\":\"gpu\",\"resourceClaimName\":"
			"\"claim-%06u\"}]",
			pod->index);
	}
}
