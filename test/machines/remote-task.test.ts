import t from 'tap';
import type { AnyEventObject } from 'xstate';
import { isTerminalOrInterrupted } from '../../machines/a2a-task.ts';
import { remoteTaskMachine } from '../../machines/index.ts';
import { type Edge, type Outcome, pathOf, untaken, walk } from './walk.ts';

/** A task with all outcomes of its services, whether it is new, continued or known. */

const STATES = ['TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_FAILED'];
const seen: Outcome[] = STATES.map((state) => ({ output: { kind: 'task', state } }));
const kinds = (...found: string[]): Outcome[] => found.map((kind) => ({ output: { kind } }));
const FAILED: Outcome = { error: new Error('no') };

const services: Record<string, Outcome[]> = {
  submit: [...seen, ...kinds('message'), FAILED],
  record: [{ output: undefined }, FAILED],
  subscribe: [...seen, ...kinds('broken', 'unsupported'), FAILED],
  poll: [...seen, ...kinds('unreachable'), FAILED],
  cancel: [{ output: undefined }, FAILED],
};

const events: AnyEventObject[] = ['SUBMIT', 'FOLLOW', 'ABANDON', 'LEAVE', 'EXPIRE'].map((type) => ({ type }));

const FIRST_PAUSE = 2;
const LONGEST_PAUSE = 7;

const walks = await Promise.all(
  [false, true].map((continues) =>
    walk(remoteTaskMachine, {
      input: { host: {}, continues, firstPauseMs: FIRST_PAUSE, longestPauseMs: LONGEST_PAUSE },
      events,
      services,
    }),
  ),
);
const edges = walks.flatMap((walked) => walked.edges);

const nameOf = ({ event }: Edge): string =>
  event.type.replace(/^xstate\.(done|error)\.actor\..*\.(\w+)$/, '$1 in $2').replace(/^xstate\./, '');
const told = (edge: Edge): string => `${pathOf(edge.from)} on ${JSON.stringify(edge.event)}`;
const after = (name: string): Edge[] => edges.filter((edge) => nameOf(edge) === name);
const enters = ({ from, to }: Edge, path: string): boolean => pathOf(to) === path && pathOf(from) !== path;
const place = (path: string): string => path.replace(/^open\./, '');

t.test('follows a task exactly as its table defines', async (t) => {
  const moves = edges
    .filter(({ taken }) => taken.length > 0)
    .map((edge) => {
      const { kind, state } = edge.event.output ?? {};
      const what =
        kind === undefined ? '' : `: ${state && isTerminalOrInterrupted(state) ? 'settled' : kind}`;
      return `${place(pathOf(edge.from))}, ${nameOf(edge)}${what} → ${place(pathOf(edge.to))}`;
    });
  const unwanted = ['done', 'error'].flatMap((how) =>
    ['abandoned', 'timedOut', 'failed'].map((end) => `cancelling, ${how} in cancelling → ${end}`),
  );
  const given = [
    'following.doubting',
    'following.recording',
    'following.streaming',
    'following.polling.asking',
  ].concat('following.polling.pausing');
  const leavable = [...given, 'submitting.wanted', 'submitting.unwanted'];
  t.same(
    new Set(moves),
    new Set([
      'idle, SUBMIT → submitting.wanted',
      'idle, FOLLOW → following.streaming',
      'submitting.wanted, done in submitting: message → answered',
      'submitting.wanted, done in submitting: task → following.recording',
      'submitting.wanted, done in submitting: settled → following.recording',
      'submitting.wanted, error in submitting → failed',
      'submitting.wanted, ABANDON → submitting.unwanted',
      'submitting.wanted, EXPIRE → submitting.unwanted',
      'submitting.unwanted, done in submitting: task → cancelling',
      'submitting.unwanted, done in submitting: settled → cancelling',
      ...['done in submitting: message', 'error in submitting'].flatMap((came) => [
        `submitting.unwanted, ${came} → abandoned`,
        `submitting.unwanted, ${came} → timedOut`,
      ]),
      'submitting.unwanted, after.patience.remote-task.open.submitting.unwanted → abandoned',
      'submitting.unwanted, after.patience.remote-task.open.submitting.unwanted → timedOut',
      'following.recording, done in recording → settled',
      'following.recording, done in recording → following.streaming',
      'following.recording, done in recording → following.doubting',
      'following.doubting, after.secondLook.remote-task.open.following.doubting → following.streaming',
      'following.recording, error in recording → cancelling',
      'following.streaming, done in streaming: settled → settled',
      'following.streaming, done in streaming: unsupported → following.streaming',
      'following.streaming, done in streaming: unsupported → following.polling.asking',
      'following.streaming, done in streaming: broken → following.streaming',
      'following.streaming, done in streaming: broken → following.polling.asking',
      'following.streaming, done in streaming: task → following.polling.asking',
      'following.streaming, error in streaming → failed',
      'following.polling.asking, done in asking: settled → settled',
      'following.polling.asking, done in asking: task → following.polling.pausing',
      'following.polling.asking, done in asking: unreachable → following.polling.pausing',
      'following.polling.asking, error in asking → failed',
      'following.polling.pausing, after.pollPause.remote-task.open.following.polling.pausing → following.polling.asking',
      ...given.flatMap((from) => [`${from}, ABANDON → cancelling`, `${from}, EXPIRE → cancelling`]),
      ...leavable.map((from) => `${from}, LEAVE → left`),
      ...unwanted,
    ]),
  );
});

t.test('cancels a task at most once, and only when it is abandoned', async (t) => {
  const cancelled = edges.filter((edge) => enters(edge, 'cancelling'));
  t.ok(cancelled.length > 0);
  t.same(cancelled.filter(({ from }) => pathOf(from) === 'settled').map(told), []);
  for (const { to } of cancelled) t.not(to.context.givenUp, undefined);
  const leaving = edges.filter(
    ({ from, to }) => pathOf(from) === 'cancelling' && pathOf(to) !== 'cancelling',
  );
  t.same(new Set(leaving.map(({ to }) => to.status)), new Set(['done']));
});

t.test('ends with the reason for which the task was abandoned', async (t) => {
  const ends: Record<string, string | undefined> = {
    abandoned: 'cancelled',
    timedOut: 'timed_out',
    failed: 'failed',
    settled: undefined,
    answered: undefined,
  };
  const ended = edges.filter(({ to }) => Object.hasOwn(ends, pathOf(to)));
  t.same(new Set(ended.map(({ to }) => pathOf(to))), new Set(Object.keys(ends)));
  for (const edge of ended) t.equal(edge.to.context.givenUp, ends[pathOf(edge.to)], told(edge));
});

t.test('is tagged as unwanted exactly while it is being abandoned', async (t) => {
  const wrong = edges.filter(({ to }) => {
    const unwanted = pathOf(to) === 'cancelling' || pathOf(to) === 'open.submitting.unwanted';
    return to.hasTag('unwanted') !== unwanted;
  });
  t.same(wrong.map(told), []);
});

t.test('sends a message once for a new task, and none for a known one', async (t) => {
  const sent = edges.filter(
    ({ from, to }) => pathOf(to).includes('submitting') && !pathOf(from).includes('submitting'),
  );
  t.same(new Set(sent.map(told)), new Set(['idle on {"type":"SUBMIT"}']));
});

t.test('reads a task only if it is recorded or known', async (t) => {
  const looked = edges.filter((edge) => enters(edge, 'open.following.streaming'));
  const second = looked.filter(({ from }) => pathOf(from) === 'open.following.doubting');
  const others = looked.filter((edge) => !second.includes(edge));
  t.same(new Set(others.map(nameOf)), new Set(['done in recording', 'FOLLOW']));
});

t.test('confirms the request for input of a continued task with a second read', async (t) => {
  const recorded = after('done in recording').filter(({ from }) => from.context.state.includes('REQUIRED'));
  t.same(new Set(recorded.map(({ from }) => from.context.continues)), new Set([true, false]));
  for (const { from, to } of recorded) {
    t.equal(pathOf(to), from.context.continues ? 'open.following.doubting' : 'settled');
  }
});

t.test('retries a stream with GET once, reconnects once, and never returns to it', async (t) => {
  for (const edge of after('done in streaming')) {
    const { kind } = edge.event.output;
    const { method, resubscribed } = edge.from.context;
    if (kind === 'broken') t.equal(pathOf(edge.to).includes('streaming'), !resubscribed, told(edge));
    if (kind === 'unsupported') t.equal(pathOf(edge.to).includes('streaming'), method === 'POST', told(edge));
  }
  const back = edges.filter(
    ({ from, to }) => pathOf(from).includes('polling') && pathOf(to).includes('streaming'),
  );
  t.same(back.map(told), []);
});

t.test('doubles the delays between polls up to the maximum', async (t) => {
  const paused = edges.filter(
    ({ from, to }) => pathOf(from).endsWith('pausing') && pathOf(to).endsWith('asking'),
  );
  t.same(
    new Map(paused.map(({ from, to }) => [from.context.pauseMs, to.context.pauseMs])),
    new Map([
      [2, 4],
      [4, 7],
      [7, 7],
    ]),
  );
});

t.test('keeps the last state that the remote service reported', async (t) => {
  for (const edge of edges.filter(({ event }) => event.output?.kind === 'task')) {
    if (pathOf(edge.to).includes('streaming') || edge.taken.length === 0) continue;
    if (pathOf(edge.from).includes('streaming') && pathOf(edge.to).includes('polling')) continue;
    t.equal(edge.to.context.state, edge.event.output.state, told(edge));
  }
  for (const { from, to } of edges.filter(({ event }) => event.output?.kind === 'unreachable')) {
    t.equal(to.context.state, from.context.state);
  }
});

t.test('accepts no event after the end of a task', async (t) => {
  const ended = edges.filter(({ to }) => to.status === 'done');
  t.ok(ended.length > 0);
  t.same(new Set(ended.flatMap(({ late }) => late)), new Set());
});

t.test('covers every transition of the machine', async (t) => {
  const description = walks[0]?.description;
  t.ok(description);
  if (description) t.same(untaken(description, walks), []);
});
