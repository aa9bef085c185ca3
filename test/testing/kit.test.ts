import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { z } from 'zod';
import { defineTool } from '../../src/index.ts';
import { fakeClock, ModelError, scriptedModel, startTestTroupe, textOf } from '../../src/testing/index.ts';

/** The kit with which a program tests itself. */

const add = defineTool({
  id: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

const transfer = defineTool({
  id: 'transfer',
  description: 'Transfers money.',
  input: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: ({ amount }) => `${amount} sent`,
});

const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('troupe-test-'));

t.test('a run records its text, calls and results, and the model its requests', async (t) => {
  const model = scriptedModel([
    { reasoning: 'A sum.', text: ['Let me', ' see. '], calls: [{ tool: 'add', args: { a: 2, b: 3 } }] },
    ({ messages }) => `It is ${textOf(messages.at(-1)?.content ?? [])}.`,
  ]);
  await using troupe = await startTestTroupe({ tools: [add], model });
  const run = await troupe.run('What is 2 + 3?');
  t.match(run, {
    text: 'Let me see. It is 5.',
    reasoning: 'A sum.',
    calls: [{ id: 'call_1', name: 'add', arguments: { a: 2, b: 3 }, outcome: 'succeeded', result: 5 }],
    termination: { type: 'natural_end' },
  });
  t.equal(run.calls.length, 1);
  t.equal(run.events.filter(({ event_type }) => event_type === 'text_delta').length, 3);
  t.equal(model.remaining, 0);
  t.strictSame(
    model.requests[0]?.tools.map(({ id }) => id).filter((id) => id === 'add'),
    ['add'],
  );
});

t.test('a thread continues, and a waiting run continues with a decision, also after a restart', async (t) => {
  const asks = { calls: [{ tool: 'transfer', args: { amount: 5 } }] };
  const model = scriptedModel([asks, 'Sent.', asks, 'Not sent.']);
  await using troupe = await startTestTroupe({ tools: [transfer], model });
  const first = await troupe.run('Send 5');
  t.match(first, { text: '', termination: { type: 'suspended' }, calls: [{ outcome: 'suspended' }] });
  t.equal(first.calls[0]?.result, undefined);
  await troupe.restart();
  const sent = await troupe.decide(first, 'call_1');
  t.match(sent, {
    id: first.id,
    text: 'Sent.',
    calls: [{ id: 'call_1', outcome: 'resumed', result: '5 sent' }],
  });
  const second = await troupe.run({ message: 'And again', thread: first.thread_id });
  t.match(
    model.requests[2]?.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant', 'user'],
  );
  const refused = await troupe.decide(second, 'call_2', { action: 'cancel' });
  t.match(refused, { text: 'Not sent.', calls: [{ outcome: 'cancelled', result: { approved: false } }] });
  await t.rejects(troupe.decide(second, 'call_2'), { message: /decision on 'call_2' was rejected: .+/ });
});

t.test('delays use the clock, which a test can wait for and advance', async (t) => {
  const clock = fakeClock();
  const model = scriptedModel(
    [
      { text: 'Late.', delayMs: 60_000 },
      { delayMs: 1, text: 'Never.' },
    ],
    { clock },
  );
  await using troupe = await startTestTroupe({ model, clock });
  const run = troupe.run('Hello');
  await clock.sleeping();
  await clock.advance(59_999);
  await turn();
  t.equal(await Promise.race([run, turn('not yet')]), 'not yet');
  await clock.advance(1);
  const { text, events } = await run;
  t.equal(text, 'Late.');
  t.match(
    events.find(({ event_type }) => event_type === 'inference_complete'),
    { duration_ms: 60_000 },
  );
  const open = await troupe.start('Again');
  const { run_id } = await open.until('run_start');
  await clock.sleeping();
  await fetch(`${troupe.url}/v1/runs/${run_id}/cancel`, { method: 'POST' });
  t.match(await open.end(), { text: '', termination: { type: 'cancelled' } });
});

t.test('sleepers wake in order, and continue to sleep from when they woke', async (t) => {
  const clock = fakeClock(0);
  const woken: string[] = [];
  const sleep = async (name: string, ...naps: number[]) => {
    for (const ms of naps) {
      await clock.sleep(ms);
      woken.push(`${name} ${clock.now()}`);
    }
  };
  const all = [sleep('a', 30, 30), sleep('b', 20, 20)];
  await clock.advance(100);
  await Promise.all(all);
  t.strictSame(woken, ['b 20', 'a 30', 'b 40', 'a 60']);
  t.equal(clock.monotonic(), 100);
  await t.rejects(clock.advance(-1), { message: /cannot advance by -1 ms; allowed: 0 or more/ });
});

t.test('a failure comes from the script, and so does a request beyond its end', async (t) => {
  const model = scriptedModel([
    { text: 'Half', fails: new ModelError('overloaded', 'busy') },
    { delayMs: 1 },
  ]);
  await using troupe = await startTestTroupe({ model });
  const ends = async () => (await troupe.run('Hello')).termination;
  t.match(await ends(), { type: 'error', value: 'inference failed: provider overloaded: busy' });
  t.match(await ends(), { type: 'error', value: /give the model a clock/ });
  t.match(await ends(), { type: 'error', value: /script of 'scripted' has 2 turns, and this is request 3/ });
});

t.test(
  'several agents have several models, and settings, log and admin routes are those of the service',
  async (t) => {
    const models = [scriptedModel(['One.'], { id: 'one' }), scriptedModel(['Two.'], { id: 'two' })];
    const lines: string[] = [];
    const troupe = await startTestTroupe({
      model: models,
      agents: [{ id: 'first' }, { id: 'second', model_id: 'two' }],
      settings: { log_level: 'debug' },
      log: { write: (line) => lines.push(line) },
    });
    t.equal((await troupe.run({ message: 'Hello', agent: 'second' })).text, 'Two.');
    t.equal((await troupe.run('Hello')).text, 'One.');
    const { status } = await fetch(`${troupe.url}/v1/config/agents/second`, { headers: troupe.admin });
    t.equal(status, 200);
    t.ok(lines.length > 0);
    await t.rejects(troupe.run({ message: 'Hello', agent: 'third' }), {
      message: /the run was rejected: .*third/,
    });
    await troupe.stop();
    await troupe.stop();
  },
);

t.test(
  'requests have the headers that resolve scopes, and no port is opened if none is wanted',
  async (t) => {
    const scopes: (string | undefined)[] = [];
    const asks = { calls: [{ tool: 'transfer', args: { amount: 1 } }] };
    await using troupe = await startTestTroupe({
      listen: false,
      tools: [transfer],
      model: scriptedModel([asks, 'Sent.']),
      headers: { 'x-tenant': 'acme' },
      resolveScope: (_surface, { header }) => {
        scopes.push(header('x-tenant'));
        return header('x-tenant') ?? 'nobody';
      },
    });
    t.equal(troupe.url, '');
    t.strictSame(troupe.app.agents().includes('test'), true);
    const run = await troupe.run('Send 1');
    t.equal((await troupe.decide(run, 'call_1')).text, 'Sent.');
    t.strictSame(scopes, ['acme', 'acme', 'acme']);
  },
);

t.test('a failed start leaves nothing behind, and neither does a test', async (t) => {
  const before = folders();
  const agents = [{ id: 'lost', model_id: 'nothing' }];
  await t.rejects(startTestTroupe({ agents }), { message: /nothing/ });
  await (await startTestTroupe()).stop();
  t.strictSame(folders(), before);
});
