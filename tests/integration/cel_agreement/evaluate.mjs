// SPDX-License-Identifier: Apache-2.0
// Answers questions with @bufbuild/cel; tests/unit/cel/cel_eval.c has the form of both.
import * as cel from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';
import { createInterface } from 'node:readline';

const env = cel.celEnv({ funcs: strings });

function encodeDouble(value) {
	if (Number.isFinite(value)) {
		return { double: Object.is(value, -0) ? '-0' : String(value) };
	}
	return { double: Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf' };
}

function encode(value) {
	if (value === null || typeof value === 'boolean' || typeof value === 'string') {
		return value;
	}
	if (typeof value === 'bigint') {
		return { int: String(value) };
	}
	if (typeof value === 'number') {
		return encodeDouble(value);
	}
	if (value instanceof Uint8Array) {
		return { bytes: Buffer.from(value).toString('hex') };
	}
	if (cel.isCelUint(value)) {
		return { uint: String(value.value) };
	}
	if (cel.isCelList(value)) {
		return Array.from(value, encode);
	}
	if (cel.isCelMap(value)) {
		return { map: Array.from(value.entries(), (pair) => pair.map(encode)) };
	}
	if (cel.isCelType(value)) {
		return { type: value.name };
	}
	const { seconds, nanos } = value.message;
	return value.desc.typeName === 'google.protobuf.Duration'
		? { duration: String(seconds * 1000000000n + BigInt(nanos)) }
		: { timestamp: [Number(seconds), nanos] };
}

function evaluate(expression, bindings) {
	const value = cel.plan(env, cel.parse(expression))(bindings);
	if (cel.isCelError(value)) {
		throw value;
	}
	return value;
}

for await (const line of createInterface({ input: process.stdin })) {
	const { expression, variables = {} } = JSON.parse(line);
	let answer;
	try {
		const bindings = {};
		for (const [name, text] of Object.entries(variables)) {
			bindings[name] = evaluate(text, {});
		}
		answer = { value: encode(evaluate(expression, bindings)) };
	} catch (error) {
		answer = { error: String(error.message ?? error) };
	}
	process.stdout.write(JSON.stringify(answer) + '\n');
}
