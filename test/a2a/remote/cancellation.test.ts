import t from 'tap';
import { nameOf } from '../../../src/inspection/name.ts';
import {
  type Answer,
  agentAt,
  artifact,
  brokenOff,
  CANCEL,
  createTurn,
  event,
  json,
  READ,
  SEND,
  SUBSCRIBE,
  silence,
  startPeer,
  status,
  stream,
  task,
} from './peer.ts';

/** a2a.md 12.6 (deadline, back-off) and 12.9; 19, checks 46, 48 and 49. */

const accepted = json({ task: task('SUBMITTED') });
const working = json(task('WORKING'));
const cancelled = json(task('CANCELED'));

/** Timers that the test fires. */
const manualTimers = () => {
  const set = new Map<object, { ms: number; run: () => void }>();
  const waiting = new Set<() => void>();
  const find = (ms: number) => [...set].find(([, timer]) => timer.ms === ms);
  return {
    timers: {
      setTimeout(run: () => void, ms: number): object {
        const key = {};
        set.set(key, { ms, run });
        for (const look of waiting) look();
        return key;
      },
      clearTimeout: (key: object) => void set.delete(key),
    },
    pending: () => [...set.values()].map(({ ms }) => ms),
    /** Waits until a timer with this delay is set, and fires it. */
    async pass(ms: number): Promise<void> {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (!find(ms)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
      const [key, timer] = find(ms) ?? [];
      if (key) set.delete(key);
      timer?.run();
    },
  };
};

/** Waits enough event-loop ticks for pending work to arrive. */
const quiet = async (): Promise<void> => {
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
};

t.test('doubles the delay between polls from 200 ms up to the interval', async (t) => {
  const { timers, pass, pending } = manualTimers();
  const peer = await startPeer(t, {
    [SEND]: accepted,
    [READ]: [working, brokenOff, working, working, working, working, json(task('COMPLETED'))],
  });
  const { agent } = agentAt(peer.base_url, { options: { poll_interval_ms: 2000 } }, { timers });
  const outcome = agent.converse(createTurn().turn);
  for (const ms of [200, 400, 800, 1600, 2000, 2000]) await pass(ms);
  t.match(await outcome, { status: 'completed' });
  t.equal(peer.count(READ), 7);
  t.strictSame(pending(), [], 'every timer is cleared');
});

t.test('uses an interval below 200 ms from the start', async (t) => {
  const { timers, pass } = manualTimers();
  const peer = await startPeer(t, { [SEND]: accepted, [READ]: [working, working, json(task('COMPLETED'))] });
  const { agent } = agentAt(peer.base_url, { options: { poll_interval_ms: 50 } }, { timers });
  const outcome = agent.converse(createTurn().turn);
  await pass(50);
  await pass(50);
  t.match(await outcome, { status: 'completed' });
});

const atWork: [name: string, subscribe: Answer][] = [
  ['polled', json({}, 500)],
  ['streamed', stream([event(artifact('Half'))], { hold: true })],
];
for (const [name, subscribe] of atWork) {
  const followed = async (t: Parameters<typeof startPeer>[0]) => {
    const manual = manualTimers();
    const peer = await startPeer(t, {
      [SEND]: accepted,
      [SUBSCRIBE]: subscribe,
      [READ]: json(task('WORKING', { artifacts: [{ artifactId: 'a', parts: [{ text: 'Half' }] }] })),
      [CANCEL]: cancelled,
    });
    let heard = (): void => {};
    const halfway = new Promise<void>((resolve) => {
      heard = resolve;
    });
    const told = createTurn({ onText: () => heard() });
    const { agent, warnings } = agentAt(peer.base_url, { timeout_ms: 5000, options: {} }, manual);
    const outcome = agent.converse(told.turn);
    await halfway;
    return { ...peer, ...told, ...manual, outcome, warnings };
  };

  t.test(`times out a task that is ${name} past the deadline, and cancels it once`, async (t) => {
    const { outcome, pass, until, count, pending } = await followed(t);
    await pass(5000);
    t.match(await outcome, { status: 'timeout', text: 'Half', task: { task_id: 't-1' } });
    await until(CANCEL);
    await quiet();
    t.equal(count(CANCEL), 1);
    t.strictSame(pending(), []);
  });

  t.test(`cancels an abandoned task that is ${name} once`, async (t) => {
    const { outcome, abandon, until, count, asked, pending, warnings } = await followed(t);
    abandon();
    abandon();
    t.match(await outcome, { status: 'cancelled', text: 'Half' });
    await until(CANCEL);
    await quiet();
    t.equal(count(CANCEL), 1);
    t.equal(asked.at(-1)?.body, undefined);
    t.strictSame([pending(), warnings], [[], []]);
  });
}

t.test('does not wait for the cancel to complete', async (t) => {
  const peer = await startPeer(t, { [SEND]: accepted, [SUBSCRIBE]: silence, [CANCEL]: silence });
  const told = createTurn();
  const outcome = agentAt(peer.base_url).agent.converse(told.turn);
  await peer.until(SUBSCRIBE);
  told.abandon();
  t.match(await outcome, { status: 'cancelled' });
  await peer.until(CANCEL);
});

t.test('logs a failed cancel', async (t) => {
  const peer = await startPeer(t, { [SEND]: accepted, [SUBSCRIBE]: silence, [CANCEL]: json({}, 500) });
  let gone = (): void => {};
  const over = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const told = createTurn({ run: { scope: 's', id: 'r' } });
  const { agent, warnings } = agentAt(peer.base_url, {}, { actors: { began: () => gone } });
  const outcome = agent.converse(told.turn);
  await peer.until(SUBSCRIBE);
  told.abandon();
  t.match(await outcome, { status: 'cancelled' });
  await over;
  t.match(warnings, [{ task_id: 't-1', err: { message: 'status 500' } }]);
});

t.test('cancels the task of a message that was abandoned while it was sent', async (t) => {
  let answer = (): void => {};
  const peer = await startPeer(t, {
    [SEND](response, asked) {
      answer = () => accepted(response, asked);
    },
    [CANCEL]: cancelled,
  });
  const told = createTurn();
  const outcome = agentAt(peer.base_url).agent.converse(told.turn);
  await peer.until(SEND);
  told.abandon();
  t.match(await outcome, { status: 'cancelled', text: '', output: {} });
  t.equal(peer.count(CANCEL), 0);
  answer();
  await peer.until(CANCEL);
  t.strictSame(told.submitted, []);
  t.strictSame(peer.routes(), [SEND, CANCEL]);
});

t.test('applies the deadline to the message as well', async (t) => {
  const { timers, pass, pending } = manualTimers();
  const peer = await startPeer(t, { [SEND]: silence });
  const { agent } = agentAt(peer.base_url, { timeout_ms: 5000 }, { timers });
  const outcome = agent.converse(createTurn().turn);
  await peer.until(SEND);
  await pass(5000);
  t.match(await outcome, { status: 'timeout', text: '', output: {} });
  await pass(10_000);
  t.strictSame(pending(), [], 'the wait for the response has a deadline too');
});

t.test('sends nothing for a turn that was abandoned before', async (t) => {
  const peer = await startPeer(t, { [SEND]: accepted, [CANCEL]: cancelled });
  const told = createTurn();
  told.abandon();
  t.match(await agentAt(peer.base_url).agent.converse(told.turn), { status: 'cancelled' });
  t.equal(peer.asked.length, 0);
});

t.test('cancels an earlier task that is abandoned, and does nothing else', async (t) => {
  const peer = await startPeer(t, { [CANCEL]: cancelled });
  const told = createTurn({ follow: { task_id: 't-1' } });
  told.abandon();
  t.match(await agentAt(peer.base_url).agent.converse(told.turn), { status: 'cancelled' });
  await peer.until(CANCEL);
  await quiet();
  t.equal(peer.count(CANCEL), 1);
});

t.test('keeps the task when the service stops', async (t) => {
  const { timers, pending } = manualTimers();
  const peer = await startPeer(t, { [SEND]: accepted, [SUBSCRIBE]: silence });
  const leave = new AbortController();
  const told = createTurn({ leave: leave.signal });
  const outcome = agentAt(peer.base_url, {}, { timers }).agent.converse(told.turn);
  await peer.until(SUBSCRIBE);
  leave.abort();
  await t.rejects(outcome, { message: /the service stops/ });
  told.abandon();
  await quiet();
  t.strictSame(peer.routes(), [SEND, SUBSCRIBE]);
  t.strictSame(pending(), []);
});

t.test('reports nothing to a finished turn', async (t) => {
  const all = [artifact('One'), artifact('Two', { append: true, lastChunk: true }), status('COMPLETED')];
  const peer = await startPeer(t, {
    [SEND]: accepted,
    [SUBSCRIBE]: stream([all.map(event).join('')], { hold: true }),
    [CANCEL]: cancelled,
  });
  const deltas: string[] = [];
  const told = createTurn({
    onText(delta) {
      deltas.push(delta);
      told.abandon();
    },
  });
  t.match(await agentAt(peer.base_url).agent.converse(told.turn), { status: 'cancelled' });
  const { length } = told.snapshots;
  await peer.until(CANCEL);
  await quiet();
  t.strictSame([deltas, told.snapshots.length], [['One'], length]);
  t.notMatch(told.snapshots, [{ text: 'OneTwo' }]);
});

t.test('cancels a task of an earlier turn without ever throwing', async (t) => {
  const peer = await startPeer(t, { [CANCEL]: [cancelled, json({ error: 'over' }, 409)] });
  const { agent, warnings } = agentAt(peer.base_url, { auth: { type: 'bearer', token: 'secret' } });
  await agent.cancel('t-1');
  t.match(peer.asked, [
    { body: undefined, headers: { authorization: 'Bearer secret', 'a2a-version': '1.0' } },
  ]);
  t.strictSame(warnings, []);
  await agent.cancel('t-1');
  t.match(warnings, [{ task_id: 't-1' }]);
  t.notMatch(JSON.stringify(warnings), 'secret');
});

t.test('shows the task of a run among the actors until it ends', async (t) => {
  const peer = await startPeer(t, { [SEND]: accepted, [READ]: json(task('COMPLETED')) });
  const seen: unknown[] = [];
  const actors = {
    began(...about: Parameters<typeof nameOf>) {
      const [actor] = about;
      seen.push(nameOf(...about));
      return () => void seen.push(actor.getSnapshot().value);
    },
  };
  const { agent } = agentAt(peer.base_url, {}, { actors });
  await agent.converse(createTurn({ run: { scope: 's', id: 'r' } }).turn);
  t.strictSame(seen, [{ machine: 'remote-task', id: 'm-1', scope: 's', parent: 'run:r' }, 'settled']);
});
