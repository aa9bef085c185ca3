import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startChild } from '../store/child.ts';
import { readTrace } from './traced.ts';
import { clientOf, eventually, startTroupe } from './troupe.ts';
import { type View, viewOf } from './view.ts';

/**
 * The state after a SIGKILL: runtime.md 17, 18.2, 18.5, 18.6 and 19, checks 64, 71 and 72. One service is killed with a
 * run at each position and started again on its data directory. Exclusive use of a data directory (check 73) is in
 * test/store/folder.test.ts, kills at arbitrary moments are in test/crash.
 */

const PLACES = [
  'before its first token',
  'in a tool',
  'in a harmless tool',
  'beside finished calls',
  'in the second step',
  'while it waits',
  'right after a decision',
  'with steered input',
  'queued',
];

type Service = ReturnType<typeof startChild> & { url: string };

const serve = async (
  t: Parameters<typeof startChild>[0],
  dir: string,
  how: 'stops' | 'goes on',
): Promise<Service> => {
  const child = startChild(t, '../service/child-serve.ts', [join(dir, 'data'), join(dir, 'executed'), how]);
  for (;;) {
    const [, url] = /^listens on (.*)/.exec(await child.line()) ?? [];
    if (url !== undefined) return { ...child, url };
  }
};

const decision = (place: string) => ({ toolCallId: `call ${place}`, action: 'resume' });

/** Brings one run to each position, and returns once all have reached it. */
const fill = async (service: Service, viewOfPlace: (place: string) => View): Promise<void> => {
  const client = clientOf(() => service.url);
  for (const place of PLACES) {
    const path = `/v1/threads/${encodeURIComponent(place)}/mailbox`;
    const text = place === 'queued' ? 'before its first token' : place;
    const { status } = await client.post(path, { payload: { text } });
    if (status !== 201) throw new Error(`${place} was not accepted: ${status}`);
  }
  for (const place of ['while it waits', 'right after a decision']) {
    const view = viewOfPlace(place);
    await view.until((await view.runs())[0]?.run_id, 'waiting');
  }
  // Two runs halt before their first token, and two in the harmless tool.
  for (let reached = 0; reached < 7; reached += 1) await service.line();
  const parallel = viewOfPlace('beside finished calls');
  await eventually(
    async () => [await parallel.texts(), JSON.stringify(await parallel.runs())] as const,
    ([texts, runs]) => texts.includes('tool: "did call first"') && runs.includes('"status":"returned"'),
  );
  const steered = await viewOfPlace('with steered input').say('steered', { mode: 'steer' });
  const queued = await viewOfPlace('queued').say('behind');
  const decided = await viewOfPlace('right after a decision').post(
    '/decision',
    decision('right after a decision'),
  );
  for (const { status } of [steered, queued, decided]) {
    if (status !== 202) throw new Error(`not accepted: ${status}`);
  }
};

t.test('recovers from a SIGKILL at every position', async (t) => {
  const dir = t.testdir();
  let service = await serve(t, dir, 'stops');
  const client = clientOf(() => service.url);
  const at = (place: string): View => viewOf(client, encodeURIComponent(place));
  await fill(service, at);
  service.kill();
  await service.exit;
  service = await serve(t, dir, 'goes on');
  const executions = (place: string): number =>
    readFileSync(join(dir, 'executed'), 'utf8')
      .split('\n')
      .filter((call) => call === `call ${place}`).length;

  t.test('every accepted run completes without duplicates', async (t) => {
    for (const place of PLACES) {
      const view = at(place);
      await view.check(t);
      const messages = await view.messages('&visibility=all');
      t.equal(new Set(messages.map(({ id }) => id)).size, messages.length);
      const users = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
      t.equal(new Set(users.map((content) => JSON.stringify(content))).size, users.length, place);
      for (const run of await view.runs()) {
        if (place === 'while it waits') t.equal(run.status, 'waiting');
        else t.match(run, { status: 'done', termination_reason: { type: 'natural_end' } }, place);
      }
    }
  });

  t.test('repeats a run that was killed before its first token', async (t) => {
    t.strictSame(await at('before its first token').texts(), [
      'user: before its first token',
      'assistant: answer: before its first token',
    ]);
    t.match(await at('before its first token').dispatches(), [
      { status: 'Acked', attempt_count: 1, last_error: 'lease expired' },
    ]);
    const cut_off = { output_tokens: 0, estimated: true };
    const [run] = await at('before its first token').runs();
    t.match(run, { cut_off }, 'the first request was sent');
    t.ok(Number(Object(run?.cut_off).input_tokens) > 0);
  });

  t.test('does not repeat the first step of a run that was killed in its second', async (t) => {
    const place = 'in the second step';
    t.strictSame(await at(place).texts(), [
      `user: ${place}`,
      'assistant: ',
      `tool: "did call ${place}"`,
      `assistant: answer: ${place}`,
    ]);
    t.equal(executions(place), 1);
    t.match(await at(place).runs(), [{ steps: 2 }]);
  });

  t.test('executes an interrupted call again only if its tool is harmless', async (t) => {
    t.equal(executions('in a tool'), 1);
    t.equal((await at('in a tool').texts())[2], 'tool: [Tool execution was interrupted]');
    t.equal(executions('in a harmless tool'), 2);
    t.equal((await at('in a harmless tool').texts())[2], 'tool: "did call in a harmless tool"');
    for (const place of ['in a tool', 'in a harmless tool'])
      t.match(await at(place).runs(), [{ steps: 2 }], `the continued step is counted: ${place}`);
  });

  t.test('keeps the result of a call that finished while a parallel one was executing', async (t) => {
    t.strictSame(await at('beside finished calls').texts(), [
      'user: beside finished calls',
      'assistant: ',
      'tool: "did call first"',
      'tool: [Tool execution was interrupted]',
      'tool: "did call third"',
      'assistant: answer: beside finished calls',
    ]);
    for (const call of ['first', 'second', 'third']) t.equal(executions(call), 1, call);
  });

  t.test('executes accepted input once that had not started', async (t) => {
    t.strictSame(await at('queued').texts(), [
      'user: before its first token',
      'assistant: answer: before its first token',
      'user: behind',
      'assistant: answer: behind',
    ]);
    t.strictSame((await at('with steered input').texts()).slice(-2), [
      'user: steered',
      'assistant: answer: steered',
    ]);
  });

  t.test('applies an accepted decision and executes its tool at most once', async (t) => {
    const place = 'right after a decision';
    t.ok(executions(place) <= 1);
    const results = (await at(place).texts()).filter((text) => text.startsWith('tool: '));
    t.equal(results.length, 2, 'the history has the placeholder and the result');
    if (executions(place) === 0) t.equal(results[1], 'tool: [Tool execution was interrupted]');
  });

  t.test('traces committed work once, and the lost call as an error', async (t) => {
    const told = async (place: string): Promise<string[]> => {
      const { lines } = await readTrace(client, String((await at(place).runs())[0]?.run_id));
      return lines.map(({ type, step_index, error_type }) => `${type} ${step_index} ${error_type ?? 'ok'}`);
    };
    t.strictSame(await told('before its first token'), ['inference 0 ok']);
    t.strictSame(await told('in the second step'), ['inference 0 ok', 'tool 0 ok', 'inference 1 ok']);
    t.strictSame(await told('in a harmless tool'), ['inference 0 ok', 'tool 0 ok', 'inference 1 ok']);
    t.strictSame(await told('in a tool'), ['inference 0 ok', 'tool 0 missing_tool_result', 'inference 1 ok']);
  });

  t.test('keeps a suspended run suspended and resumes it on a decision', async (t) => {
    const view = at('while it waits');
    t.match(await view.active(), {
      status: 'waiting',
      waiting: { ticket_ids: ['perm_call while it waits'] },
    });
    t.equal(executions('while it waits'), 0);
    t.equal((await view.post('/decision', decision('while it waits'))).status, 202);
    await view.until((await view.runs())[0]?.run_id, 'done');
    t.equal(executions('while it waits'), 1);
    await view.check(t);
  });
});

t.test('repeats no event after a restart', async (t) => {
  const troupe = await startTroupe(t);
  const view = viewOf(troupe, 'T');
  const messages = [{ role: 'user', content: 'Hello' }];
  for (const agentId of ['echo', 'default']) await troupe.runToEnd({ agentId, threadId: 'T', messages });
  const stream = await troupe.run({ agentId: 'slow', threadId: 'T', messages });
  await stream.until('text_delta');
  await view.say('next', { agentId: 'echo' });
  const before = await view.events();
  await troupe.restart();
  await troupe.restart();
  await eventually(
    async () => troupe.models.waiting(),
    (waiting) => waiting === 1,
  );
  t.strictSame((await view.events()).slice(0, before.length), before, 'earlier events are unchanged');
  troupe.models.release();
  await view.check(t);
  t.equal((await view.messages()).length, 8);
});
