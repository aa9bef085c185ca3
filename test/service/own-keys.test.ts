import t from 'tap';
import type { Tool } from '../../src/tools/tool.ts';
import { says } from './agent-loop/agents.ts';
import { asks } from './models.ts';
import { ADMIN_TOKEN, startTroupe } from './troupe.ts';
import { viewOf } from './view.ts';

/** Keys that objects, promises and serializers inherit are plain data in every interface that accepts JSON. */

const NAMES = [
  '__proto__',
  'constructor',
  'toJSON',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'then',
  'prototype',
  '$ref',
  '',
];

const TEXT = JSON.stringify(Object.fromEntries(NAMES.map((name) => [name, { [name]: name }])));

/** Inserts the odd object as JSON text, because an object literal cannot have a key `__proto__`. */
const withOdd = (body: object): string => JSON.stringify(body).replaceAll('"ODD"', TEXT);

const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };

/** Like a tool of an MCP server: its arguments arrive as the model wrote them. */
const mirror: Tool = {
  descriptor: {
    id: 'mirror',
    name: 'mirror',
    description: 'Returns its arguments.',
    parameters: {},
    category: null,
  },
  idempotent: false,
  exclusive: false,
  checksOwnArguments: false,
  execute: async (args) => ({ data: { args } }),
};

t.test('keeps such keys in thread metadata', async (t) => {
  const { call } = await startTroupe(t);
  const { id } = (await call('POST', '/v1/threads', {})).body;
  t.equal((await call('PATCH', `/v1/threads/${id}`, withOdd({ custom: 'ODD' }))).status, 200);
  const { body } = await call('GET', `/v1/threads/${id}`);
  t.match(JSON.stringify(body), TEXT.slice(1, -1));
});

t.test('uses a mailbox payload with such keys as the text of the message', async (t) => {
  const troupe = await startTroupe(t);
  const pushed = await troupe.call('POST', '/v1/threads/T/mailbox', withOdd({ payload: 'ODD' }));
  t.equal(pushed.status, 201);
  await viewOf(troupe, 'T').until(pushed.body.run_id, 'done');
  t.match(
    JSON.stringify((await troupe.call('GET', '/v1/threads/T/messages')).body),
    JSON.stringify(TEXT).slice(1, -1),
  );
});

t.test('passes such keys to tools and returns them', async (t) => {
  const { models, runToEnd, call, restart } = await startTroupe(t, { app: { tools: [mirror] } });
  models.steps.push(asks(['constructor', 'mirror', JSON.parse(TEXT)]), says('done'));
  const messages = [{ role: 'user', content: 'Hello' }];
  const events = await runToEnd({ agentId: 'steps', threadId: 'T', messages });
  t.match(events.at(-1), { termination: { type: 'natural_end' } });
  const done = events.find(({ event_type }) => event_type === 'tool_call_done');
  t.equal(
    JSON.stringify(done?.result),
    `{"tool_name":"mirror","status":"success","data":{"args":${TEXT}},"message":null}`,
  );
  await restart();
  const { body } = await call('GET', '/v1/threads/T/messages');
  t.match(JSON.stringify(body), `"name":"mirror","arguments":${TEXT}`);
});

t.test('keeps such keys in decisions across a restart', async (t) => {
  const troupe = await startTroupe(t, { app: { tools: [] } });
  const tools = [{ name: 'ask_user', parameters: { type: 'object', properties: 'ODD' } }];
  troupe.models.steps.push(asks(['__proto__', 'ask_user', JSON.parse(TEXT)]));
  const body = {
    threadId: 'T',
    agentId: 'steps',
    messages: [{ role: 'user', content: 'hi' }],
    tools,
    context: [],
    state: 'ODD',
  };
  const started = await troupe.call('POST', '/v1/ag-ui/run', withOdd(body));
  t.equal(started.status, 200);
  await troupe.restart();
  const run = (await troupe.call('GET', '/v1/threads/T/runs/latest')).body;
  t.match(run, { status: 'waiting' });
  const decision = withOdd({ toolCallId: '__proto__', action: 'resume', payload: 'ODD' });
  t.equal((await troupe.call('POST', `/v1/runs/${run.run_id}/decision`, decision)).status, 202);
  await viewOf(troupe, 'T').until(run.run_id, 'done');
  const result = troupe.models.requests.at(-1)?.request.messages.findLast(({ role }) => role === 'tool');
  t.match(JSON.stringify(result?.content), JSON.stringify(TEXT).slice(1, -1));
});

t.test('keeps such keys in the metadata and data parts of A2A messages', async (t) => {
  const { call } = await startTroupe(t);
  const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ data: 'ODD' }], metadata: 'ODD' };
  const sent = await call('POST', '/v1/a2a/echo/message:send', withOdd({ message }));
  t.equal(sent.status, 200);
  const task: unknown = sent.body.task;
  t.match(JSON.stringify(task), `"metadata":${TEXT}`);
  t.match(JSON.stringify(task), `"data":${TEXT}`);
});

t.test('keeps such keys in the configuration', async (t) => {
  const { call, restart } = await startTroupe(t);
  for (const [namespace, body] of [
    ['agents', { id: 'odd', model_id: 'echo', sections: 'ODD' }],
    ['agents', { id: 'constructor', model_id: 'echo', sections: { x: 'ODD' } }],
    ['models', { id: 'toString', provider_id: 'test', upstream_model: 'valueOf' }],
  ] as const) {
    const made = await call('POST', `/v1/config/${namespace}`, withOdd(body), admin);
    t.equal(made.status, 201, JSON.stringify(made.body));
  }
  await restart();
  t.match(
    JSON.stringify((await call('GET', '/v1/config/agents/odd', undefined, admin)).body),
    `"sections":${TEXT}`,
  );
  t.match(
    JSON.stringify((await call('GET', '/v1/config/agents/constructor', undefined, admin)).body),
    `"x":${TEXT}`,
  );
  const patched = await call(
    'PATCH',
    '/v1/config/agents/odd/overrides',
    withOdd({ sections: { more: 'ODD' } }),
    admin,
  );
  t.equal(patched.status, 200, JSON.stringify(patched.body));
  t.match(
    JSON.stringify((await call('GET', '/v1/config/agents/odd', undefined, admin)).body),
    `"more":${TEXT}`,
  );
});
