import assert from 'node:assert/strict';
import type { AnyActorRef, AnyMachineSnapshot } from 'xstate';
import { endOf, type RunEnding } from '../../machines/run-types.ts';
import { inState, type RunRecord, type RunState, recordedState } from '../../src/schema/run-state.ts';
import type { Store } from '../../src/store/index.ts';

/** Compares the state in every record of a run with the state of its machine at the moment of the write. */

export type WatchedStates = {
  /** Receives the actors of the runtime. */
  began(actor: AnyActorRef): () => void;
  /** The table, with a check of each write. */
  runs: Store['runs'];
};

export const watchStates = (runs: Store['runs'], faults: string[]): WatchedStates => {
  const actors = new Map<string, AnyActorRef>();
  return {
    began(actor) {
      const { id } = actor;
      // Actors of threads and tasks have no record of a run; their ids are names of threads and tasks.
      actors.set(id, actor);
      return () => {
        if (actors.get(id) === actor) actors.delete(id);
      };
    },
    runs: {
      ...runs,
      put(batch, scope, after, before, now) {
        try {
          check(after, before, actors.get(after.run_id)?.getSnapshot());
        } catch (error) {
          faults.push(String(error));
        }
        return runs.put(batch, scope, after, before, now);
      },
    },
  };
};

const check = (
  after: RunRecord,
  before: RunRecord | undefined,
  machine: AnyMachineSnapshot | undefined,
): void => {
  const { run_id, status, machine_state: state } = after;
  assert.equal(status, inState(state).status, `${run_id}: its status is a tag of its state`);
  if (machine?.status !== 'active') return;
  const expected = statesOf(machine, before);
  assert.ok(
    expected.includes(state),
    `${run_id}: ${state} is stored while the machine is in ${JSON.stringify(machine.value)}`,
  );
};

/** The states that a record may have while its machine is in this state. */
const statesOf = (machine: AnyMachineSnapshot, before: RunRecord | undefined): (RunState | undefined)[] => {
  const own = recordedState(machine);
  // The state is that of the end that the commit writes.
  if (machine.matches('ending')) return [endOf(machine.context.ending as RunEnding)];
  // The last commit of the decisions leaves an inference to do.
  if (own === 'running.deciding') return [own, 'running.inferring'];
  if (!machine.hasTag('waiting')) return [own ?? before?.machine_state];
  const answered: RunState[] = ['waiting.answered', 'waiting.notified'];
  // Until the wait is written, the record is that of the last commit; input may end the wait during the commit.
  if (isParking(machine)) return [own, before?.machine_state, ...answered];
  // Another writer resumes or ends the run with the event that it sends after its write.
  return [own, ...answered, 'running.deciding', 'cancelled'];
};

const isParking = ({ value }: AnyMachineSnapshot): boolean => JSON.stringify(value).includes('parking');
