import t from 'tap';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { TASK_STATES } from '../../machines/a2a-task.ts';
import { type RunEnding, type RunEntry, runMachine, type WaitsFor } from '../../machines/run.ts';
import { type Edge, type Outcome, pathOf, untaken, walk } from './walk.ts';

/**
 * A run and everything that its services may come to, from each place where an execution can begin. One retry is
 * enough to see both sides of the limit.
 */

const ENDS = ['completed', 'cancelled', 'blocked', 'failed'];
const STATUSES = ['created', 'running', 'waiting', 'done'] as const;
const MAX_ATTEMPTS = 2;

const ENTRIES: RunEntry[] = ['inference', 'unfinished_calls', 'decisions'];

const transient: Outcome = { error: Object.assign(new Error('try again'), { transient: true }) };
const HELD_BACK = { transient: true, heldBack: true, retryAfterMs: 1 };
const heldBack: Outcome = { error: Object.assign(new Error('the circuit is open'), HELD_BACK) };
const MAX_HELD_BACK_MS = 1;
const permanent: Outcome = { error: new Error('never') };
const failures = [transient, permanent];
const kinds = (...found: string[]): Outcome[] => found.map((kind) => ({ output: { kind } }));

const BLOCKED: Outcome = { output: { kind: 'blocked', reason: 'denied' } };
/** A phase or hook failed, so that to try again, now or later, would do the same. */
const FINAL: Outcome = { error: Object.assign(new Error('final'), { final: true }) };
const STOPPED: RunEnding = { type: 'stopped', value: { code: 'max_rounds' } };
const INVALID: RunEnding = { type: 'stopped', value: { code: 'invalid_output' } };
const REQUESTED: RunEnding = { type: 'behavior_requested' };

const ASKED: WaitsFor[] = ['forDecision', 'forInput', 'forAuthentication'];
const asked = (kind: string): Outcome[] => ASKED.map((waits) => ({ output: { kind, waits } }));

const services: Record<string, Outcome[]> = {
  decide: [...kinds('resolved'), ...asked('suspended'), BLOCKED, ...failures],
  infer: [
    ...kinds('answer', 'calls', 'truncated', 'pending_work'),
    ...asked('asks'),
    ...[STOPPED, REQUESTED].map((ending) => ({ output: { kind: 'stopped', ending } })),
    ...failures,
    heldBack,
  ],
  act: [...kinds('executed', 'answered'), ...asked('suspended'), BLOCKED, ...failures],
  checkpoint: [
    { output: { over: true } },
    { output: { over: true, waits: true } },
    { output: { over: true, unchecked: true } },
    { output: { over: false } },
    ...failures,
  ],
  validate: [...kinds('fits', 'repair'), { output: { kind: 'exhausted', ending: INVALID } }, ...failures],
  reschedule: [{ output: undefined }, ...failures],
  reclaim: [...ENTRIES.map((entry) => ({ output: { entry } })), ...failures],
  park: [{ output: undefined }, ...failures, FINAL],
  conclude: [{ output: undefined }, ...failures, FINAL],
  finish: [{ output: undefined }, ...failures],
};

const events: AnyEventObject[] = [
  { type: 'CLAIM' },
  { type: 'CANCEL' },
  { type: 'SUPERSEDE' },
  { type: 'DEAD_LETTER', reason: 'no such agent' },
  { type: 'STEER' },
  { type: 'RESUME' },
  { type: 'ANSWER' },
  { type: 'RELEASE' },
];

/** Whether anything is left to be done when the model has answered. */
const CONCLUDED = [
  { entries: ENTRIES, mustConclude: true, mustValidate: false },
  { entries: ['inference'] as RunEntry[], mustConclude: false, mustValidate: false },
  { entries: ['inference'] as RunEntry[], mustConclude: true, mustValidate: true },
];

const worlds = CONCLUDED.flatMap(({ entries, mustConclude, mustValidate }) =>
  entries.map((entry) => ({
    entry,
    mustValidate,
    machine: runMachine.provide({
      guards: { mustConclude: () => mustConclude, mustValidate: () => mustValidate },
    }),
  })),
);

const walks = await Promise.all(
  worlds.map(({ entry, machine }) =>
    walk(machine, {
      input: { host: {}, entry, attempt: 0, maxAttempts: MAX_ATTEMPTS, maxHeldBackMs: MAX_HELD_BACK_MS },
      events,
      services,
    }),
  ),
);
const edges = walks.flatMap((walked) => walked.edges);

const statusOf = (snapshot: AnyMachineSnapshot): string | undefined =>
  STATUSES.find((status) => snapshot.hasTag(status));
const released = (snapshot: AnyMachineSnapshot): boolean => pathOf(snapshot) === 'released';
const isParked = (snapshot: AnyMachineSnapshot): boolean => /^waiting\.\w+\.parked$/.test(pathOf(snapshot));
const isParking = (snapshot: AnyMachineSnapshot): boolean => /^waiting\.\w+\.parking$/.test(pathOf(snapshot));
const isEnding = (snapshot: AnyMachineSnapshot): boolean =>
  ['concluding', 'ending'].includes(pathOf(snapshot));
const nameOf = ({ event }: Edge): string =>
  event.type.replace(/^xstate\.(done|error)\.actor\..*\.(\w+)$/, '$1 in $2');
/** What a service that is done has to say. */
const found = ({ event }: Edge): string | undefined =>
  event.output?.kind ?? (event.output?.over ? overOf(event.output) : undefined);
const overOf = ({ waits, unchecked }: { waits?: boolean; unchecked?: boolean }): string => {
  if (waits) return 'over, waits';
  return unchecked ? 'over, unchecked' : 'over';
};
/** Something that a wait of the run waits for has come. */
const atHand = ({ context }: AnyMachineSnapshot): boolean => context.steered || context.decided;
const told = (edge: Edge): string => `${pathOf(edge.from)} on ${JSON.stringify(edge.event)}`;
const into = (path: string): Edge[] => edges.filter(({ to, taken }) => taken.length && pathOf(to) === path);
const after = (name: string): Edge[] => edges.filter((edge) => nameOf(edge) === name);

t.test('a run has exactly one status, unless it was let go', async (t) => {
  const wrong = edges.filter(({ to }) => {
    const statuses = STATUSES.filter((status) => to.hasTag(status));
    return statuses.length !== (released(to) ? 0 : 1);
  });
  t.same(wrong.map(told), []);
});

t.test('the status of a run changes as the contract allows, and in no other way', async (t) => {
  const changes = edges
    .filter(({ from, to }) => !released(to) && statusOf(from) !== statusOf(to))
    .map(({ from, to }) => `${statusOf(from)} → ${statusOf(to)}`);
  t.same(
    new Set(changes),
    new Set([
      'created → running',
      'created → done',
      'running → waiting',
      'running → done',
      'waiting → running',
      'waiting → done',
    ]),
  );
});

t.test('a run whose end is being written only ends, or is let go', async (t) => {
  const leaving = edges.filter(({ from, to }) => pathOf(from) === 'ending' && pathOf(to) !== 'ending');
  t.same(new Set(leaving.map(({ to }) => pathOf(to))), new Set([...ENDS, 'released']));
  for (const edge of leaving) t.match(nameOf(edge), /^(done|error) in ending$/);
});

t.test('nothing leaves the end of a run', async (t) => {
  const ended = edges.filter(({ to }) => to.status === 'done');
  t.same(new Set(ended.map(({ to }) => pathOf(to))), new Set([...ENDS, 'released']));
  t.same(new Set(ended.flatMap(({ late }) => late)), new Set());
});

t.test('a run ends for the reason that ended it', async (t) => {
  const reasons = new Map<string, Set<string>>();
  const decided = [...into('concluding'), ...into('ending')].filter(({ from }) => !isEnding(from));
  for (const edge of decided) {
    const ending: RunEnding = edge.to.context.ending;
    const name = found(edge) === undefined ? nameOf(edge) : `${nameOf(edge)}: ${found(edge)}`;
    reasons.set(name, (reasons.get(name) ?? new Set()).add(JSON.stringify(ending)));
  }
  const only = (ending: RunEnding): Set<string> => new Set([JSON.stringify(ending)]);
  const failedWith = (...words: string[]): Set<string> =>
    new Set(words.map((value) => JSON.stringify({ type: 'error', value })));
  const failed = failedWith('try again', 'never');
  t.same(
    reasons,
    new Map([
      ['CANCEL', only({ type: 'cancelled' })],
      ['SUPERSEDE', only({ type: 'cancelled' })],
      ['DEAD_LETTER', only({ type: 'error', value: 'no such agent' })],
      ['done in inferring: answer', only({ type: 'natural_end' })],
      ['done in inferring: stopped', new Set([STOPPED, REQUESTED].map((ending) => JSON.stringify(ending)))],
      ['done in checkpointing: over', only({ type: 'natural_end' })],
      ['done in validating: fits', only({ type: 'natural_end' })],
      ['done in validating: exhausted', only(INVALID)],
      ['error in validating', failed],
      ['done in acting: blocked', only({ type: 'blocked', value: 'denied' })],
      ['done in deciding: blocked', only({ type: 'blocked', value: 'denied' })],
      ['error in deciding', failed],
      ['error in inferring', failedWith('try again', 'never', 'the circuit is open')],
      ['error in acting', failed],
      ['error in checkpointing', failed],
      ['error in parking', only({ type: 'error', value: 'final' })],
    ]),
  );
});

t.test('the state that a run ends in says how it ended', async (t) => {
  const ways = new Map<string, Set<string>>();
  for (const { from, to } of after('done in ending')) {
    ways.set(pathOf(to), (ways.get(pathOf(to)) ?? new Set()).add(from.context.ending.type));
  }
  t.same(
    ways,
    new Map([
      ['completed', new Set(['natural_end', 'stopped', 'behavior_requested'])],
      ['cancelled', new Set(['cancelled'])],
      ['blocked', new Set(['blocked'])],
      ['failed', new Set(['error'])],
    ]),
  );
});

t.test('the state of a wait says what the run waits for', async (t) => {
  const begun = edges.filter(({ from, to }) => isParking(to) && !isParking(from));
  t.same(new Set(begun.map(({ event }) => event.output.waits)), new Set([...ASKED, true, undefined]));
  for (const { event, to } of begun) {
    const { waits } = event.output;
    t.equal(pathOf(to), `waiting.${typeof waits === 'string' ? waits : 'forTasks'}.parking`);
  }
  const parked = after('done in parking').filter(({ to }) => isParked(to));
  t.same(
    parked.filter(({ from, to }) => pathOf(to) !== pathOf(from).replace('parking', 'parked')).map(told),
    [],
  );
});

t.test('a run has one reason to wait, unless it is answered, and is one state as a task', async (t) => {
  const REASONS = ['tool_permission', 'user_input', 'background_tasks'];
  const tagged = (snapshot: AnyMachineSnapshot, tags: readonly string[]): string[] =>
    tags.filter((tag) => snapshot.hasTag(tag));
  const reasons = new Map(edges.map(({ to }) => [pathOf(to), tagged(to, REASONS)]));
  for (const [path, found] of reasons) {
    t.equal(found.length, /^waiting\.for/.test(path) ? 1 : 0, path);
  }
  const tasks = new Map(edges.map(({ to }) => [pathOf(to), tagged(to, TASK_STATES)]));
  for (const [path, found] of tasks)
    t.equal(found.length, ['released', 'ending'].includes(path) ? 0 : 1, path);
  t.same(new Set([...tasks.values()].flat()), new Set(TASK_STATES));
});

t.test('an answer to a run that rests is noted, unless its own tasks are at work', async (t) => {
  const noted = edges.filter(({ event, from }) => event.type === 'ANSWER' && statusOf(from) === 'waiting');
  const paths = new Map(noted.map(({ from, to }) => [pathOf(from), pathOf(to)]));
  for (const [from, to] of paths) {
    const isAsked = ASKED.some((waits) => from === `waiting.${waits}.parked`);
    t.equal(to, isAsked ? 'waiting.answered' : from);
  }
  t.ok(paths.size >= 8);
  // Who asks an actor that is not there whether it takes an answer is told so by the chart alone.
  for (const { from } of noted)
    if (/^waiting\.\w+\.parked$/.test(pathOf(from))) t.ok(from.can({ type: 'ANSWER' }), pathOf(from));
});

t.test('what a run still does before it ends changes its end only by failing, or by a cancel', async (t) => {
  const concluded = edges.filter(({ from, to }) => pathOf(from) === 'concluding' && pathOf(to) === 'ending');
  t.same(
    new Set(concluded.map(nameOf)),
    new Set(['done in concluding', 'error in concluding', 'CANCEL', 'RELEASE']),
  );
  for (const edge of concluded) {
    const { event, from, to } = edge;
    const expected: Record<string, RunEnding> = {
      'done in concluding': from.context.ending,
      'error in concluding': { type: 'error', value: 'final' },
      CANCEL: { type: 'cancelled' },
      RELEASE: { type: 'cancelled' },
    };
    t.same(to.context.ending, expected[nameOf(edge)], event.type);
  }
});

t.test('a run that nothing executes has nothing to conclude', async (t) => {
  const wrong = into('concluding').filter(({ from }) => statusOf(from) !== 'running');
  t.same(wrong.map(told), []);
});

t.test('a run has a reason to end exactly when it is ending', async (t) => {
  const wrong = edges.filter(({ to }) => {
    const hasReason = to.context.ending !== undefined;
    return !released(to) && hasReason !== (statusOf(to) === 'done' || isEnding(to));
  });
  t.same(wrong.map(told), []);
});

t.test('every run can be cancelled until its end is being written', async (t) => {
  const wrong = edges.filter(
    ({ event, from, to }) => event.type === 'CANCEL' && statusOf(from) !== 'done' && !isEnding(to),
  );
  t.ok(edges.some(({ event }) => event.type === 'CANCEL'));
  t.same(wrong.map(told), []);
});

t.test('a run that executes or waits can be released at any time; a cancelled one is ended', async (t) => {
  const all = edges.filter(
    ({ event, from }) => event.type === 'RELEASE' && ['running', 'waiting'].includes(statusOf(from) ?? ''),
  );
  const isCancelled = ({ from }: Edge): boolean => from.context.ending?.type === 'cancelled';
  t.same(new Set(all.filter(isCancelled).map(({ to }) => pathOf(to))), new Set(['ending']));
  t.same(all.filter((edge) => !isCancelled(edge) && !released(edge.to)).map(told), []);
});

t.test('an execution begins where the last commit left off', async (t) => {
  const places = { inference: 'inferring', unfinished_calls: 'acting', decisions: 'deciding' };
  const claimed = edges.filter(({ event, taken }) => taken.length > 0 && event.type === 'CLAIM');
  const reclaimed = after('done in reclaiming');
  t.ok(claimed.length > 0 && reclaimed.length > 0);
  for (const { from, event, to } of [...claimed, ...reclaimed]) {
    const entry: RunEntry = event.output?.entry ?? from.context.entry;
    t.equal(pathOf(to), `running.${places[entry]}`);
  }
});

t.test('a run that waits goes on with what was decided, and with nothing else', async (t) => {
  const resumed = edges.filter(({ from, to }) => statusOf(from) === 'waiting' && statusOf(to) === 'running');
  t.same(new Set(resumed.map(nameOf)), new Set(['RESUME', 'done in parking']));
  for (const { to } of resumed) t.equal(pathOf(to), 'running.deciding');
});

t.test('input or a decision that arrives while the wait is being written ends the wait', async (t) => {
  const written = after('done in parking');
  t.same(new Set(written.map(({ from }) => atHand(from))), new Set([true, false]));
  for (const { from, to } of written) {
    t.ok(atHand(from) ? pathOf(to) === 'running.deciding' : isParked(to), pathOf(to));
  }
});

t.test('no run rests while something that it waits for is at hand', async (t) => {
  const resting = edges.filter(({ to }) => isParked(to));
  t.ok(resting.length > 0);
  t.same(resting.filter(({ to }) => atHand(to)).map(told), []);
});

t.test('a run says that nothing executes when its wait is durable, and at no other time', async (t) => {
  const wrong = edges.filter(({ from, to, actions }) => {
    const rests = isParked(to) && !isParked(from);
    return actions.includes('reportParked') !== rests;
  });
  t.same(wrong.map(told), []);
});

t.test('a call that waits sends its run to the decisions at hand, else to a wait', async (t) => {
  for (const place of ['acting', 'deciding']) {
    const suspended = after(`done in ${place}`).filter((edge) => found(edge) === 'suspended');
    t.same(new Set(suspended.map(({ from }) => atHand(from))), new Set([true, false]));
    for (const { from, to } of suspended) {
      t.ok(atHand(from) ? pathOf(to) === 'running.deciding' : isParking(to), pathOf(to));
      t.notOk(atHand(to), 'and takes them');
    }
  }
});

t.test('input that arrives while a run executes is taken before the run ends by itself', async (t) => {
  const ends = edges.filter(
    ({ from, to }) =>
      from.context.ending === undefined && !released(to) && to.context.ending?.type === 'natural_end',
  );
  t.ok(ends.length > 0);
  t.same(ends.filter(({ from }) => from.context.steered).map(told), []);
  const steered = [
    ...after('done in inferring'),
    ...after('done in deciding'),
    ...after('done in checkpointing'),
    ...after('done in validating'),
  ]
    .filter(({ from }) => from.context.steered)
    .filter((edge) =>
      [
        ...[undefined, 'over', 'over, waits', 'over, unchecked', 'answer', 'pending_work', 'resolved'],
        ...['fits', 'repair', 'exhausted'],
      ].includes(found(edge)),
    );
  t.ok(steered.length > 0);
  for (const { to } of steered) t.equal(pathOf(to), 'running.checkpointing');
});

t.test('input counts as taken where a commit takes it, and nowhere else', async (t) => {
  const taking = edges.filter(({ from, to }) => from.context.steered && !to.context.steered);
  t.same(new Set(taking.map(({ to }) => pathOf(to))), new Set(['running.checkpointing', 'running.deciding']));
});

t.test('a decision counts as taken where decisions are applied, and nowhere else', async (t) => {
  const taking = edges.filter(({ from, to }) => from.context.decided && !to.context.decided);
  const into = taking.filter(({ to }) => pathOf(to) === 'running.deciding');
  t.ok(into.length > 0);
  // What came meanwhile was applied with the others when no ticket is left.
  const resolved = taking.filter((edge) => !into.includes(edge));
  t.same(new Set(resolved.map(nameOf)), new Set(['done in deciding']));
});

t.test('what came while decisions were applied is applied with them, and not looked for again', async (t) => {
  const resolved = after('done in deciding').filter((edge) => found(edge) === 'resolved');
  t.same(
    new Set(resolved.map(({ to }) => pathOf(to))),
    new Set(['running.checkpointing', 'running.inferring']),
  );
  for (const path of ['running.checkpointing', 'running.inferring'])
    t.ok(resolved.some(({ from, to }) => from.context.decided && pathOf(to) === path));
  t.same(resolved.filter(({ to }) => to.context.decided).map(told), []);
});

t.test('what arrives while a run works or its wait is being written is not lost', async (t) => {
  const arrived = edges.filter(
    ({ from, event }) =>
      ((statusOf(from) === 'running' && !isEnding(from)) || isParking(from)) &&
      ['STEER', 'RESUME'].includes(event.type),
  );
  t.same(new Set(arrived.map(({ from }) => statusOf(from))), new Set(['running', 'waiting']));
  const lost = arrived.filter(({ from, event, to }) => {
    const { steered, decided } = from.context;
    const noted = event.type === 'STEER' ? { steered: true, decided } : { steered, decided: true };
    return (
      to.context.steered !== noted.steered ||
      to.context.decided !== noted.decided ||
      pathOf(to) !== pathOf(from)
    );
  });
  t.same(lost.map(told), []);
});

t.test('an answer is validated where the run has a schema, and nowhere else', async (t) => {
  const answered = edges.filter((edge) => nameOf(edge) === 'done in inferring' && found(edge) === 'answer');
  const places = answered.filter(({ from }) => !from.context.steered).map(({ to }) => pathOf(to));
  t.same(new Set(places), new Set(['running.validating', 'concluding', 'ending']));
  const without = walks
    .filter((_, index) => worlds[index]?.mustValidate === false)
    .flatMap((walked) => walked.edges)
    .filter((edge) => ['running.validating'].includes(pathOf(edge.to)));
  t.same(
    new Set(without.filter(({ from, to }) => pathOf(from) !== pathOf(to)).map((edge) => found(edge))),
    new Set(['answered', 'over, unchecked']),
    'the other ways lead there only by what a service of a run with a schema reports',
  );
});

t.test('an answer that does not fit is given again, or ends the run', async (t) => {
  const next = { fits: 'concluding', repair: 'running.checkpointing', exhausted: 'concluding' };
  const checked = after('done in validating').filter(({ from }) => !from.context.steered);
  t.same(new Set(checked.map(found)), new Set(Object.keys(next)));
  for (const edge of checked) t.equal(pathOf(edge.to), Reflect.get(next, found(edge) ?? ''), told(edge));
});

t.test('a step boundary ends a run only when it says that the run is over', async (t) => {
  const crossed = after('done in checkpointing');
  t.same(new Set(crossed.map(found)), new Set(['over', 'over, waits', 'over, unchecked', undefined]));
  const next = {
    over: 'concluding',
    'over, waits': 'waiting.forTasks.parking',
    'over, unchecked': 'running.validating',
  } as Record<string, string>;
  for (const edge of crossed) {
    const boundary = next[found(edge) ?? ''] ?? 'running.inferring';
    t.equal(pathOf(edge.to), edge.from.context.steered ? 'running.checkpointing' : boundary, told(edge));
  }
});

/** It is held back, and has not been for too long. */
const waits = ({ event, from }: Edge): boolean =>
  event.error?.heldBack === true && from.context.heldBackMs < MAX_HELD_BACK_MS;

t.test('a run that is held back waits for as long as the circuit is open', async (t) => {
  const waiting = after('error in inferring').filter(waits);
  t.ok(waiting.length > 0);
  for (const { to } of waiting) t.match(to.context, { counted: false, pauseMs: 1, heldBackMs: 1 });
});

t.test('a transient failure is retried while attempts are left, any other one is not', async (t) => {
  for (const place of ['deciding', 'inferring', 'acting', 'checkpointing', 'validating']) {
    const failed = after(`error in ${place}`);
    t.equal(new Set(failed.map(({ from }) => from.context.attempt)).size, MAX_ATTEMPTS);
    for (const edge of failed) {
      const again =
        waits(edge) || (edge.event.error.transient === true && edge.from.context.attempt + 1 < MAX_ATTEMPTS);
      t.equal(pathOf(edge.to), again ? 'running.retrying.rescheduling' : 'concluding', told(edge));
    }
  }
});

t.test('an attempt is counted once for each retry, and none for a run that is held back', async (t) => {
  const wrong = edges.filter((edge) => {
    const { from, to } = edge;
    const retried =
      pathOf(to) === 'running.retrying.rescheduling' &&
      pathOf(from) !== 'running.retrying.rescheduling' &&
      !waits(edge);
    return to.context.attempt - from.context.attempt !== (retried ? 1 : 0);
  });
  t.same(wrong.map(told), []);
});

t.test(
  'a run lets go when the store does not take what it writes between attempts, waits or ends',
  async (t) => {
    for (const place of ['rescheduling', 'reclaiming', 'parking', 'concluding', 'ending']) {
      const failed = after(`error in ${place}`).filter(({ event }) => event.error.final !== true);
      t.ok(failed.length > 0);
      t.same(failed.filter(({ to }) => !released(to)).map(told), []);
    }
  },
);

t.test('the walk takes every transition of the machine', async (t) => {
  const description = walks[0]?.description;
  t.ok(description);
  if (description) t.same(untaken(description, walks), []);
});
