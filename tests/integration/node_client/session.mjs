// SPDX-License-Identifier: Apache-2.0
/* The life of a few objects with @kubernetes/client-node. Usage: session.mjs KUBECONFIG */
import assert from 'node:assert';
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const namespace = 'default';
let passed = 0;

async function step(name, run) {
	try {
		await run();
		passed++;
	} catch (error) {
		console.log(`${name} failed: ${error.stack}`);
		console.log(`${passed} passed, 1 failed`);
		process.exit(1);
	}
}

async function waitFor(what, condition) {
	const deadline = Date.now() + 60000;
	while (!(await condition())) {
		assert(Date.now() < deadline, `not in time: ${what}`);
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

const container = { name: 'c', image: 'i:1' };

await step('list', async () => {
	const nodes = await core.listNode();
	assert.deepStrictEqual(nodes.items.map((node) => node.metadata.name), ['node-0', 'node-1']);
});

await step('create and read', async () => {
	const made = await core.createNamespacedPod({ namespace,
		body: { metadata: { name: 'a', labels: { app: 'a' } }, spec: { containers: [container] } } });
	assert.strictEqual(made.status.phase, 'Pending');
	assert(made.metadata.creationTimestamp instanceof Date);
	await waitFor('a running pod', async () =>
		(await core.readNamespacedPod({ namespace, name: 'a' })).status.phase === 'Running');
});

await step('informer', async () => {
	const seen = [];
	const list = () => core.listNamespacedConfigMap({ namespace });
	const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, list);
	for (const verb of ['add', 'update', 'delete']) {
		informer.on(verb, (object) => seen.push(`${verb} ${object.metadata.name}`));
	}
	await informer.start();
	await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: 'm' } } });
	await waitFor('add', () => seen.includes('add m'));
	await core.replaceNamespacedConfigMap({ namespace, name: 'm',
		body: { metadata: { name: 'm' }, data: { a: '1' } } });
	await waitFor('update', () => seen.includes('update m'));
	assert.strictEqual(informer.get('m', namespace).data.a, '1');
	await core.deleteNamespacedConfigMap({ namespace, name: 'm' });
	await waitFor('delete', () => seen.includes('delete m'));
	assert.strictEqual(informer.get('m', namespace), undefined);
	await informer.stop();
});

await step('patch', async () => {
	const patched = await core.patchNamespacedPod({ namespace, name: 'a',
		body: [{ op: 'add', path: '/metadata/labels/x', value: '1' }] });
	assert.strictEqual(patched.metadata.labels.x, '1');
	const merged = await core.patchNamespacedPod({ namespace, name: 'a',
		body: { metadata: { labels: { x: null } } } },
		k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch));
	assert.strictEqual(merged.metadata.labels.x, undefined);
	const strategic = await core.patchNamespacedPod({ namespace, name: 'a',
		body: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } },
		k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.StrategicMergePatch));
	assert.strictEqual(strategic.spec.containers[0].image, 'i:2');
});

await step('watch', async () => {
	const types = [];
	const watch = new k8s.Watch(config);
	const request = await watch.watch('/api/v1/pods', { fieldSelector: 'metadata.name=a' },
		(type) => types.push(type), () => {});
	await waitFor('ADDED', () => types.includes('ADDED'));
	await core.deleteNamespacedPod({ namespace, name: 'a' });
	await waitFor('DELETED', () => types.includes('DELETED'));
	request.abort();
});

await step('errors', async () => {
	await assert.rejects(core.readNamespacedPod({ namespace, name: 'a' }),
		(error) => error.code === 404 && JSON.parse(error.body).reason === 'NotFound');
});

await step('deployment', async () => {
	await apps.createNamespacedDeployment({ namespace, body: { metadata: { name: 'web' }, spec: {
		replicas: 2, selector: { matchLabels: { app: 'web' } },
		template: { metadata: { labels: { app: 'web' } }, spec: { containers: [container] } } } } });
	await waitFor('two replicas', async () =>
		(await apps.readNamespacedDeployment({ namespace, name: 'web' })).status.availableReplicas === 2);
	const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'web' });
	scale.spec.replicas = 0;
	await apps.replaceNamespacedDeploymentScale({ namespace, name: 'web', body: scale });
	await waitFor('no pods', async () =>
		(await core.listNamespacedPod({ namespace, labelSelector: 'app=web' })).items.length === 0);
});

console.log(`${passed} passed, 0 failed`);
process.exit(0);
