// SPDX-License-Identifier: Apache-2.0
/* An informer that keeps running while the server is replaced. Usage: informer.mjs KUBECONFIG */
import * as k8s from '@kubernetes/client-node';

const config = new k8s.KubeConfig();
config.loadFromFile(process.argv[2]);
const core = config.makeApiClient(k8s.CoreV1Api);
const path = '/api/v1/namespaces/default/configmaps';
const informer = k8s.makeInformer(config, path,
	() => core.listNamespacedConfigMap({ namespace: 'default' }));
const seen = new Set();

function note(what) {
	seen.add(what);
	console.log(what);
	if (seen.has('add after') && seen.has('delete before')) {
		process.exit(informer.get('after', 'default') !== undefined ? 0 : 1);
	}
}

for (const verb of ['add', 'delete']) {
	informer.on(verb, (object) => note(`${verb} ${object.metadata.name}`));
}
const restart = () => setTimeout(() => informer.start().catch(restart), 100);
informer.on('error', restart);
informer.start().catch(restart);
setTimeout(() => process.exit(2), 60000);
