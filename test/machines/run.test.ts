import t from 'tap';
import type { AnyEventObject, AnyMachineSnapshot } from 'xstate';
import { TASK_STATES } from '../../machines/a2a-task.ts';
import { runMachine } from '../../machines/run.ts';
import type { RunEnding, RunEntry, WaitsFor } from '../../machines/run-types.ts';
import { type Edge, type Outcome, pathOf, untaken, walk } from './walk.ts';

/**
 * A run with all outcomes of its services, from each position where an execution can start. One retry covers both sides
 * of the limit.
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
/** A phase or hook failed permanently, so that a retry would fail as well. */
const FINAL: Outcome = { error: Object.assign(new Error('final'), { final: true }) };
const STOPPED: RunEnding = { type: 'stopped', value: { code: 'max_rounds' } };
const INVALID: RunEnding = { type: 'stopped', value: { code: 'invalid_output' } };
const REQUESTED: RunEnding = { type: 'behavior_requested' };
const UNPAID: RunEnding = { type: 'stopped', value: { code: 'budget', detail: 'b' } };

const ASKED: WaitsFor[] = ['forDecision', 'forInput', 'forAuthentication', 'forBudget'];
const asked = (kind: string): Outcome[] => ASKED.map((waits) => ({ output: { kind, waits } }));

const services: Record<string, Outcome[]> = {
  decide: [
    ...kinds('resolved'),
    ...asked('suspended'),
    BLOCKED,
    { output: { kind: 'stopped', ending: UNPAID } },
    ...failures,
  ],
  infer: [
    ...kinds('answer', 'calls', 'truncated', 'pending_work'),
    ...asked('asks'),
    ...[STOPPED, REQUESTED].map((ending) => ({ output: { kind: 'stopped', ending } })),
    ...failures,
    heldBack,
  ],
  act: [...kinds('executed', 'answered', 'pending_work'), ...asked('suspended'), BLOCKED, ...failures],
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

/** Whether anything remains to be done after the completion. */
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
/** The result of a finished service. */
const found = ({ event }: Edge): string | undefined =>
  event.output?.kind ?? (event.output?.over ? overOf(event.output) : undefined);
const overOf = ({ waits, unchecked }: { waits?: boolean; unchecked?: boolean }): string => {
  if (waits) return 'over, waits';
  return unchecked ? 'over, unchecked' : 'over';
};
/** A decision or input that ends the wait has arrived. */
const atHand = ({ context }: AnyMachineSnapshot): boolean => context.steered || context.decided;
const told = (edge: Edge): string => `${pathOf(edge.from)} on ${JSON.stringify(edge.event)}`;
const into = (path: string): Edge[] => edges.filter(({ to, taken }) => taken.length && pathOf(to) === path);
const after = (name: string): Edge[] => edges.filter((edge) => nameOf(edge) === name);

t.test('has exactly one status unless it was released', async (t) => {
  const wrong = edges.filter(({ to }) => {
    const statuses = STATUSES.filter((status) => to.hasTag(status));
    return statuses.length !== (released(to) ? 0 : 1);
  });
  t.same(wrong.map(told), []);
});

t.test('changes its status only as the contract allows', async (t) => {
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

t.test('only ends or is released while its end is being written', async (t) => {
  const leaving = edges.filter(({ from, to }) => pathOf(from) === 'ending' && pathOf(to) !== 'ending');
  t.same(new Set(leaving.map(({ to }) => pathOf(to))), new Set([...ENDS, 'released']));
  for (const edge of leaving) t.match(nameOf(edge), /^(done|error) in ending$/);
});

t.test('accepts no event after its end', async (t) => {
  const ended = edges.filter(({ to }) => to.status === 'done');
  t.same(new Set(ended.map(({ to }) => pathOf(to))), new Set([...ENDS, 'released']));
  t.same(new Set(ended.flatMap(({ late }) => late)), new Set());
});

t.test('ends for the reason that ended it', async (t) => {
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
      ['done in deciding: stopped', only(UNPAID)],
      ['error in deciding', failed],
      ['error in inferring', failedWith('try again', 'never', 'the circuit is open')],
      ['error in acting', failed],
      ['error in checkpointing', failed],
      ['error in parking', only({ type: 'error', value: 'final' })],
    ]),
  );
});

t.test('ends in the state that matches its ending', async (t) => {
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
      ['failed', new Set(['error', 'stopped'])],
    ]),
  );
});

t.test('waits in the state that matches its reason', async (t) => {
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

t.test('has one reason to wait until its decision, and one state as a task', async (t) => {
  const REASONS = ['tool_permission', 'user_input', 'background_tasks', 'manual_pause'];
  const tagged = (snapshot: AnyMachineSnapshot, tags: readonly string[]): string[] =>
    tags.filter((tag) => snapshot.hasTag(tag));
  const reasons = new Map(edges.map(({ to }) => [pathOf(to), tagged(to, REASONS)]));
  for (const [path, found] of reasons) {
    t.equal(found.length, /^waiting\.(for|notified)/.test(path) ? 1 : 0, path);
  }
  const tasks = new Map(edges.map(({ to }) => [pathOf(to), tagged(to, TASK_STATES)]));
  for (const [path, found] of tasks)
    t.equal(found.length, ['released', 'ending'].includes(path) ? 0 : 1, path);
  t.same(new Set([...tasks.values()].flat()), new Set(TASK_STATES));
});

t.test('records a reply to a suspended run, and an event of its tasks', async (t) => {
  const noted = edges.filter(({ event, from }) => event.type === 'ANSWER' && statusOf(from) === 'waiting');
  const paths = new Map(noted.map(({ from, to }) => [pathOf(from), pathOf(to)]));
  for (const [from, to] of paths) {
    const isAsked = ASKED.some((waits) => from === `waiting.${waits}.parked`);
    const elsewhere = from === 'waiting.forTasks.parked' ? 'waiting.notified' : from;
    t.equal(to, isAsked ? 'waiting.answered' : elsewhere);
  }
  t.ok(paths.size >= 8);
  // A caller without a live actor uses only the chart to check whether a reply is accepted.
  for (const { from } of noted)
    if (/^waiting\.\w+\.parked$/.test(pathOf(from))) t.ok(from.can({ type: 'ANSWER' }), pathOf(from));
});

t.test('changes its ending while concluding only on a failure or a cancel', async (t) => {
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

t.test('concludes only a run that was executing', async (t) => {
  const wrong = into('concluding').filter(({ from }) => statusOf(from) !== 'running');
  t.same(wrong.map(told), []);
});

t.test('has an ending exactly while it is ending or done', async (t) => {
  const wrong = edges.filter(({ to }) => {
    const hasReason = to.context.ending !== undefined;
    return !released(to) && hasReason !== (statusOf(to) === 'done' || isEnding(to));
  });
  t.same(wrong.map(told), []);
});

t.test('accepts a cancel until its end is being written', async (t) => {
  const wrong = edges.filter(
    ({ event, from, to }) => event.type === 'CANCEL' && statusOf(from) !== 'done' && !isEnding(to),
  );
  t.ok(edges.some(({ event }) => event.type === 'CANCEL'));
  t.same(wrong.map(told), []);
});

t.test('can be released while executing or suspended, and ends if it is cancelled', async (t) => {
  const all = edges.filter(
    ({ event, from }) => event.type === 'RELEASE' && ['running', 'waiting'].includes(statusOf(from) ?? ''),
  );
  const isCancelled = ({ from }: Edge): boolean => from.context.ending?.type === 'cancelled';
  t.same(new Set(all.filter(isCancelled).map(({ to }) => pathOf(to))), new Set(['ending']));
  t.same(all.filter((edge) => !isCancelled(edge) && !released(edge.to)).map(told), []);
});

t.test('starts where the last commit ended', async (t) => {
  const places = { inference: 'inferring', unfinished_calls: 'acting', decisions: 'deciding' };
  const claimed = edges.filter(({ event, taken }) => taken.length > 0 && event.type === 'CLAIM');
  const reclaimed = after('done in reclaiming');
  t.ok(claimed.length > 0 && reclaimed.length > 0);
  for (const { from, event, to } of [...claimed, ...reclaimed]) {
    const entry: RunEntry = event.output?.entry ?? from.context.entry;
    t.equal(pathOf(to), `running.${places[entry]}`);
  }
});

t.test('resumes from a wait only with decisions', async (t) => {
  const resumed = edges.filter(({ from, to }) => statusOf(from) === 'waiting' && statusOf(to) === 'running');
  t.same(new Set(resumed.map(nameOf)), new Set(['RESUME', 'done in parking']));
  for (const { to } of resumed) t.equal(pathOf(to), 'running.deciding');
});

t.test('ends the wait when input or a decision arrives while it is being written', async (t) => {
  const written = after('done in parking');
  t.same(new Set(written.map(({ from }) => atHand(from))), new Set([true, false]));
  for (const { from, to } of written) {
    t.ok(atHand(from) ? pathOf(to) === 'running.deciding' : isParked(to), pathOf(to));
  }
});

t.test('never suspends while input or a decision is pending', async (t) => {
  const resting = edges.filter(({ to }) => isParked(to));
  t.ok(resting.length > 0);
  t.same(resting.filter(({ to }) => atHand(to)).map(told), []);
});

t.test('reports that it is suspended exactly when its wait is durable', async (t) => {
  const wrong = edges.filter(({ from, to, actions }) => {
    const rests = isParked(to) && !isParked(from);
    return actions.includes('reportParked') !== rests;
  });
  t.same(wrong.map(told), []);
});

t.test('applies pending decisions before it waits for a suspended call', async (t) => {
  for (const place of ['acting', 'deciding']) {
    const suspended = after(`done in ${place}`).filter((edge) => found(edge) === 'suspended');
    t.same(new Set(suspended.map(({ from }) => atHand(from))), new Set([true, false]));
    for (const { from, to } of suspended) {
      t.ok(atHand(from) ? pathOf(to) === 'running.deciding' : isParking(to), pathOf(to));
      t.notOk(atHand(to), 'the pending decisions are applied');
    }
  }
});

t.test('processes input that arrives during execution before it ends naturally', async (t) => {
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

t.test('processes input only where a commit includes it', async (t) => {
  const taking = edges.filter(({ from, to }) => from.context.steered && !to.context.steered);
  t.same(new Set(taking.map(({ to }) => pathOf(to))), new Set(['running.checkpointing', 'running.deciding']));
});

t.test('processes a decision only where decisions are applied', async (t) => {
  const taking = edges.filter(({ from, to }) => from.context.decided && !to.context.decided);
  const into = taking.filter(({ to }) => pathOf(to) === 'running.deciding');
  t.ok(into.length > 0);
  // Later decisions were applied with the others when no ticket is left.
  const resolved = taking.filter((edge) => !into.includes(edge));
  t.same(new Set(resolved.map(nameOf)), new Set(['done in deciding']));
});

t.test('applies decisions that arrive while others are applied once', async (t) => {
  const resolved = after('done in deciding').filter((edge) => found(edge) === 'resolved');
  t.same(
    new Set(resolved.map(({ to }) => pathOf(to))),
    new Set(['running.checkpointing', 'running.inferring']),
  );
  for (const path of ['running.checkpointing', 'running.inferring'])
    t.ok(resolved.some(({ from, to }) => from.context.decided && pathOf(to) === path));
  t.same(resolved.filter(({ to }) => to.context.decided).map(told), []);
});

t.test('keeps events that arrive while it executes or its wait is being written', async (t) => {
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

t.test('validates a completion only if the run has a schema', async (t) => {
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
    'all other transitions follow from reports of services that only a run with a schema has',
  );
});

t.test('repairs a mismatching completion, or ends the run', async (t) => {
  const next = { fits: 'concluding', repair: 'running.checkpointing', exhausted: 'concluding' };
  const checked = after('done in validating').filter(({ from }) => !from.context.steered);
  t.same(new Set(checked.map(found)), new Set(Object.keys(next)));
  for (const edge of checked) t.equal(pathOf(edge.to), Reflect.get(next, found(edge) ?? ''), told(edge));
});

t.test('ends at a step boundary only if the run is over', async (t) => {
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

/** The run is held back, and has not exceeded the maximum time for that. */
const waits = ({ event, from }: Edge): boolean =>
  event.error?.heldBack === true && from.context.heldBackMs < MAX_HELD_BACK_MS;

t.test('waits until the circuit closes while it is postponed', async (t) => {
  const waiting = after('error in inferring').filter(waits);
  t.ok(waiting.length > 0);
  for (const { to } of waiting) t.match(to.context, { counted: false, pauseMs: 1, heldBackMs: 1 });
});

t.test('retries transient failures only, while attempts are left', async (t) => {
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

t.test('counts an attempt for each retry, but none while it is postponed', async (t) => {
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

t.test('is released when the store rejects a write between attempts, waits or ends', async (t) => {
  for (const place of ['rescheduling', 'reclaiming', 'parking', 'concluding', 'ending']) {
    const failed = after(`error in ${place}`).filter(({ event }) => event.error.final !== true);
    t.ok(failed.length > 0);
    t.same(failed.filter(({ to }) => !released(to)).map(told), []);
  }
});

t.test('covers every transition of the machine', async (t) => {
  const description = walks[0]?.description;
  t.ok(description);
  if (description) t.same(untaken(description, walks), []);
});
