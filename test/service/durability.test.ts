import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startChild } from '../store/child.ts';
import { readTrace } from './traced.ts';
import { clientOf, eventually, startTroupe } from './troupe.ts';
import { type View, viewOf } from './view.ts';

/**
 * What a SIGKILL leaves behind: runtime.md 17, 18.2, 18.5, 18.6 and 19, checks 64, 71 and 72. One service is killed
 * with a run in each place, and started again on its folder. That a folder belongs to one process (check 73) is in
 * test/store/folder.test.ts, kills at any moment are in test/crash.
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

/** Brings one run into each place. Returns when every one of them is there. */
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
  // Two runs stop before their first token, two in the harmless tool.
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

t.test('a service that is killed goes on where its commits were', async (t) => {
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

  t.test('every accepted run comes to its end, with nothing twice', async (t) => {
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

  t.test('a run that was killed before its first token is repeated', async (t) => {
    t.strictSame(await at('before its first token').texts(), [
      'user: before its first token',
      'assistant: answer: before its first token',
    ]);
    t.match(await at('before its first token').dispatches(), [
      { status: 'Acked', attempt_count: 1, last_error: 'lease expired' },
    ]);
    const cut_off = { output_tokens: 0, estimated: true };
    const [run] = await at('before its first token').runs();
    t.match(run, { cut_off }, 'its first request was sent');
    t.ok(Number(Object(run?.cut_off).input_tokens) > 0);
  });

  t.test('a run that was killed in its second step does not repeat the first one', async (t) => {
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

  t.test('a call that had begun is executed again only if that is harmless', async (t) => {
    t.equal(executions('in a tool'), 1);
    t.equal((await at('in a tool').texts())[2], 'tool: [Tool execution was interrupted]');
    t.equal(executions('in a harmless tool'), 2);
    t.equal((await at('in a harmless tool').texts())[2], 'tool: "did call in a harmless tool"');
    for (const place of ['in a tool', 'in a harmless tool'])
      t.match(await at(place).runs(), [{ steps: 2 }], `the step that was taken up again counts: ${place}`);
  });

  t.test('keeps the result of a call that finished before a parallel one', async (t) => {
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

  t.test('input that was accepted and not begun is executed once', async (t) => {
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

  t.test('a decision that was accepted is applied, and its tool is executed once at most', async (t) => {
    const place = 'right after a decision';
    t.ok(executions(place) <= 1);
    const results = (await at(place).texts()).filter((text) => text.startsWith('tool: '));
    t.equal(results.length, 2, 'the placeholder and the result');
    if (executions(place) === 0) t.equal(results[1], 'tool: [Tool execution was interrupted]');
  });

  t.test('the trace of a run tells what was committed, once, and a call that was lost', async (t) => {
    const told = async (place: string): Promise<string[]> => {
      const { lines } = await readTrace(client, String((await at(place).runs())[0]?.run_id));
      return lines.map(({ type, step_index, error_type }) => `${type} ${step_index} ${error_type ?? 'ok'}`);
    };
    t.strictSame(await told('before its first token'), ['inference 0 ok']);
    t.strictSame(await told('in the second step'), ['inference 0 ok', 'tool 0 ok', 'inference 1 ok']);
    t.strictSame(await told('in a harmless tool'), ['inference 0 ok', 'tool 0 ok', 'inference 1 ok']);
    t.strictSame(await told('in a tool'), ['inference 0 ok', 'tool 0 missing_tool_result', 'inference 1 ok']);
  });

  t.test('a run that waited waits, and goes on when it is decided', async (t) => {
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

t.test('a restart repeats no event', async (t) => {
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
  t.strictSame((await view.events()).slice(0, before.length), before, 'what was logged stays as it was');
  troupe.models.release();
  await view.check(t);
  t.equal((await view.messages()).length, 8);
});
