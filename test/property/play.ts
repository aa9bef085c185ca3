import assert from 'node:assert/strict';
import type { Store } from '../../src/store/index.ts';
import { checkChanges, checkRestart } from './check-changes.ts';
import { checkAnswers, checkStreams, checkTools } from './check-clients.ts';
import { checkEvents, checkReaders } from './check-events.ts';
import { checkInputs, checkRequests, checkViews } from './check-history.ts';
import { checkRest, checkRuns } from './check-runs.ts';
import type { Input, Request } from './client.ts';
import { happen } from './happenings.ts';
import { judge } from './model.ts';
import { asks, request } from './requests.ts';
import { begin, finish, pause, type Sequence, settle, THREADS } from './sequence.ts';
import { resolverFor } from './service.ts';
import { createSteered } from './steered.ts';
import type { Step } from './steps.ts';
import { installTime } from './time.ts';
import { type World, worldOf } from './view.ts';

/**
 * Executes and checks one sequence: the quiet invariants whenever nothing is being written, and all of them at the end.
 */

const countingIds = () => {
  let made = 0;
  return {
    uuid() {
      made += 1;
      return `01900000-0000-7000-8000-${String(made).padStart(12, '0')}`;
    },
  };
};

/** Holds whenever nothing is being written. */
const checkQuiet = (sequence: Sequence): World => {
  const world = worldOf(sequence);
  assert.deepEqual(sequence.faults, [], 'the service reports a fault of its own');
  checkRuns(sequence, world);
  checkViews(sequence, world);
  checkEvents(world);
  return world;
};

const checkEnd = async (sequence: Sequence, crashed: ReadonlySet<Input>): Promise<void> => {
  await finish(sequence);
  const world = checkQuiet(sequence);
  checkAnswers(sequence);
  checkRest(sequence, world);
  checkInputs(sequence, world);
  checkRequests(sequence, world);
  checkTools(sequence);
  checkStreams(sequence, crashed);
  for (const tail of sequence.tails.values()) tail.drain();
  await settle();
  checkReaders(sequence, world);
};

/** Checks that a deleted thread stays deleted, together with its pending work. */
const checkRemoval = async (sequence: Sequence): Promise<void> => {
  const { store, scope, client } = sequence;
  const removals = THREADS.filter((id) => store.threads.get(scope, id)).map((id) => client.remove(id));
  await finish(sequence);
  await Promise.all(removals);
  for (const { id, thread, history } of checkQuiet(sequence).values()) {
    assert.equal(thread, undefined, `${id} came back`);
    assert.deepEqual(history, [], `messages of ${id} came back`);
  }
  assert.equal(store.runs.count(scope, 'waiting'), 0, 'a run of a deleted thread waits');
};

/** The world at a quiet moment; `fresh` as long as nothing has happened since. */
type Moment = { world: World; removals: number; fresh: boolean };

const checkMoment = (
  sequence: Sequence,
  { act }: Step,
  asked: Request | undefined,
  before: Moment,
): Moment => {
  const after: Moment = { world: checkQuiet(sequence), removals: sequence.removals.length, fresh: true };
  checkChanges(before.world, after.world, after.removals > before.removals);
  // After the store has rejected a write, unfinished work remains that the next request may resume.
  const attended = sequence.refused !== sequence.lives;
  if (before.fresh && attended && asked && asks(act)) judge(act, asked, [before.world, after.world]);
  if (before.fresh && (act.do === 'crash' || act.do === 'stop')) checkRestart(before.world, after.world);
  return after;
};

const playSteps = async (sequence: Sequence, steps: readonly Step[]): Promise<Set<Input>> => {
  const crashed = new Set<Input>();
  let moment: Moment = { world: worldOf(sequence), removals: 0, fresh: true };
  for (const step of steps) {
    const { act, gap } = step;
    if (act.do === 'crash') for (const input of sequence.inputs) if (!input.stream?.ended) crashed.add(input);
    let asked: Request | undefined;
    if (asks(act)) asked = request(sequence, act);
    else await happen(sequence, act);
    await pause(sequence, gap);
    if (gap === 'quiet') moment = checkMoment(sequence, step, asked, moment);
    else moment.fresh = false;
  }
  return crashed;
};

export const play = async ({
  store,
  scope,
  steps,
}: {
  store: Store;
  scope: string;
  steps: readonly Step[];
}) => {
  const time = installTime();
  try {
    const steered = createSteered();
    const resolve = resolverFor(steered);
    const sequence = begin({ store, scope, time, steered, resolve, ids: countingIds(), faults: [] });
    const crashed = await playSteps(sequence, steps);
    await checkEnd(sequence, crashed);
    await checkRemoval(sequence);
  } finally {
    time.uninstall();
  }
};
