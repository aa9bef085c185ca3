import t, { type Test } from 'tap';
import { z } from 'zod';
import { chatChunk, sendEvents, startSseServer } from '../models/sse-server.ts';
import { asks } from './models.ts';
import { patchAgent } from './patch-agent.ts';
import { withTools } from './suspended.ts';
import { messages, readTrace, run, startTraced } from './traced.ts';
import { ADMIN_TOKEN, startTroupe, type Troupe } from './troupe.ts';

/** Settings of model calls: from agents, models and the `overrides` of a run to the body that the provider receives. */

const create = async (t: Test, { call }: Troupe, namespace: string, spec: object): Promise<void> => {
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  const { status, body } = await call('POST', `/v1/config/${namespace}`, spec, headers);
  t.equal(status, 201, JSON.stringify(body));
};

const Body = z.record(z.string(), z.unknown());

/** A service with a Chat Completions provider, and the bodies that the provider receives. */
const withProvider = async (t: Test) => {
  const troupe = await startTraced(t);
  const server = await startSseServer(t, (response) => {
    sendEvents(response, [chatChunk({ content: 'Hi' }), chatChunk({}, 'stop')]);
    response.end('data: [DONE]\n\n');
  });
  await create(t, troupe, 'providers', { id: 'p', adapter: 'openai', api_key: 'k', base_url: server.url });
  // The service also requests the list of models, without a body.
  const bodies = () =>
    server.requests.flatMap(({ body }) => (body === '' ? [] : [Body.parse(JSON.parse(body))]));
  return { troupe, bodies };
};

t.test('prefers settings of the run over those of the agent, and those over the model', async (t) => {
  const { troupe, bodies } = await withProvider(t);
  await create(t, troupe, 'models', {
    id: 'm',
    provider_id: 'p',
    upstream_model: 'some-model',
    temperature: 0.1,
    seed: 1,
    provider_options: { 'openai-chat': { top_k: 1, logit_bias: { 1: 2 } } },
  });
  await create(t, troupe, 'agents', {
    id: 'a',
    model_id: 'm',
    temperature: 0.2,
    stop: 'END',
    provider_options: { openai: { top_k: 2 }, other: { x: 1 } },
  });
  const overrides = { temperature: 0.3, max_tokens: 9, provider_options: { p: { user: 'me' } } };
  const id = await run(troupe, 'a', { overrides });
  const [{ messages: _, ...body } = {}] = bodies();
  t.strictSame(body, {
    model: 'some-model',
    max_tokens: 9,
    temperature: 0.3,
    stop: ['END'],
    seed: 1,
    top_k: 2,
    logit_bias: { 1: 2 },
    user: 'me',
    stream: true,
    stream_options: { include_usage: true },
  });
  t.match((await readTrace(troupe, id)).lines[0], {
    temperature: 0.3,
    top_p: null,
    max_tokens: 9,
    stop_sequences: ['END'],
    seed: 1,
    provider_options: { top_k: 2, logit_bias: { 1: 2 }, user: 'me' },
  });
  const record = await troupe.call('GET', `/v1/runs/${id}`);
  t.match(record.body, {
    activation: {
      options: {
        overrides: {
          upstream_model: null,
          temperature: 0.3,
          max_tokens: 9,
          top_p: null,
          reasoning_effort: null,
        },
      },
    },
  });
});

t.test('traces the settings that were sent, and the reason for each omitted one', async (t) => {
  const { troupe, bodies } = await withProvider(t);
  await create(t, troupe, 'models', { id: 'm', provider_id: 'p', upstream_model: 'o3', temperature: 1 });
  await create(t, troupe, 'agents', { id: 'a', model_id: 'm', reasoning_effort: 'max', tool_choice: 'none' });
  const id = await run(troupe, 'a');
  t.match(bodies()[0], { reasoning_effort: 'high', temperature: undefined });
  t.match((await readTrace(troupe, id)).lines[0], {
    temperature: null,
    reasoning_effort: 'high',
    adjusted_settings: [
      { setting: 'temperature', sent: null, reason: 'the model accepts no temperature while it reasons' },
    ],
  });
  const { body } = await troupe.admin('GET', '/v1/config/diagnostics');
  t.match(body.diagnostics, [
    {
      code: 'model_setting_adjusted',
      severity: 'warning',
      resource: { namespace: 'models', id: 'm' },
      message:
        "temperature of model 'm' is not sent to model 'm' (o3): the model accepts no temperature while it reasons",
    },
  ]);
});

t.test('adds the settings of each pool member', async (t) => {
  const { troupe, bodies } = await withProvider(t);
  for (const [id, seed] of [
    ['m1', 1],
    ['m2', 2],
  ] as const) {
    await create(t, troupe, 'models', { id, provider_id: 'p', upstream_model: id, seed });
  }
  const members = [{ model_id: 'm1' }, { model_id: 'm2' }];
  await create(t, troupe, 'model-pools', { id: 'pool', members, routing: { home: 'round_robin' } });
  await create(t, troupe, 'agents', { id: 'a', model_id: 'pool', top_p: 0.5 });
  await run(troupe, 'a');
  await run(troupe, 'a');
  t.strictSame(
    bodies()
      .map(({ model, seed, top_p }) => [model, seed, top_p])
      .sort(),
    [
      ['m1', 1, 0.5],
      ['m2', 2, 0.5],
    ],
  );
  t.match(await troupe.post('/v1/runs', { agentId: 'a', messages, overrides: { upstream_model: 'x' } }), {
    status: 400,
    body: { error: 'inference override upstream_model is not supported for model pools' },
  });
});

t.test('rejects invalid overrides before writing anything', async (t) => {
  const troupe = await startTroupe(t);
  const refused: [overrides: unknown, status: number, error: RegExp][] = [
    [{ temperature: 3 }, 422, /overrides\.temperature: must be at most 2/],
    [{ temprature: 1 }, 422, /unknown field 'temprature'/],
    [{ upstream_model: ' ' }, 422, /inference override upstream_model cannot be empty/],
    [{ provider_options: { test: { messages: [] } } }, 422, /provider_options\.test\.messages cannot be set/],
    [{ tool_choice: { tool: 'absent' } }, 400, /agent 'echo' has no tool 'absent'/],
    ['hot', 422, /overrides: must be an object, not a string/],
  ];
  for (const [overrides, status, error] of refused) {
    const got = await troupe.post('/v1/runs', { agentId: 'echo', threadId: 'T', messages, overrides });
    t.match(got, { status, body: { error } }, JSON.stringify(overrides));
  }
  t.equal((await troupe.call('GET', '/v1/threads/T')).status, 404);
  for (const overrides of [null, {}, { temperature: null }]) {
    const events = await troupe.runToEnd({ agentId: 'echo', messages, overrides });
    t.equal(events.at(-1)?.event_type, 'run_finish');
  }
});

t.test('keeps the overrides of a suspended run across a restart until a request replaces them', async (t) => {
  const { troupe } = await withTools(t);
  const { models } = troupe;
  models.steps.push(asks(['c1', 'risky', {}]));
  await troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages, overrides: { temperature: 0.3 } });
  await troupe.restart();
  const say = (overrides?: object) =>
    troupe.runToEnd({ agentId: 'steps', threadId: 'T', messages, ...(overrides && { overrides }) });
  models.steps.push(asks(['c2', 'risky', {}]));
  await say();
  await say({ seed: 5 });
  t.match(
    models.requests.map(({ request: { overrides } }) => overrides),
    [{ temperature: 0.3 }, { temperature: 0.3 }, { seed: 5, temperature: undefined }],
  );
});

t.test('forces a tool call once, and the run ends', async (t) => {
  const { troupe } = await withTools(t);
  const { models } = troupe;
  models.steps.push(asks(['c1', 'note']));
  await troupe.runToEnd({ agentId: 'steps', messages, overrides: { tool_choice: 'required' } });
  t.strictSame(
    models.requests.map(({ request }) => request.toolChoice),
    ['required', 'auto'],
  );
});

t.test('changes and clears settings of an agent through overrides', async (t) => {
  const troupe = await startTroupe(t);
  await patchAgent(t, troupe, 'echo', { temperature: 0.5, provider_options: { test: { a: 1 } } });
  await troupe.runToEnd({ agentId: 'echo', messages });
  await patchAgent(t, troupe, 'echo', { temperature: null, provider_options: null });
  await troupe.runToEnd({ agentId: 'echo', messages });
  t.strictSame(
    troupe.models.requests.map(({ request }) => request.overrides),
    [{ temperature: 0.5, provider_options: { test: { a: 1 } } }, {}],
  );
});
