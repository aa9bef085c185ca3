import type { ThreadRecord } from '../store/index.ts';
import { createChildRuns } from './child-runs.ts';
import type { RuntimeDeps } from './deps.ts';
import type { Peers } from './mail.ts';
import { bindRunMachine } from './run-services.ts';
import { createTaskBoard } from './tasks.ts';
import { createThreadActor, type ThreadActor } from './thread.ts';
import { bindThreadMachine } from './thread-machine.ts';

/**
 * Finds or makes the actor of a thread; there is never more than one.
 *
 * Passive actors are kept for their history, the least recently used ones are dropped past IDLE_ACTORS; an actor
 * that executes, has queued work or writes is never dropped. Making one costs a few reads of the store.
 */
const IDLE_ACTORS = 32;

export type Supervisor = {
  /** Only where no actor of the thread can be retiring: at the start of the process. */
  actor(scope: string, id: string): ThreadActor;
  /**
   * Asks the actor, once the last one of the thread has written what it had: two actors that write the log of one
   * thread at a time would give out the same sequence numbers. `act` asks before it waits for anything, since an
   * actor that has been retired meanwhile does not answer.
   */
  use<Answer>(
    scope: string,
    id: string,
    act: (actor: ThreadActor) => Answer | Promise<Answer>,
  ): Promise<Answer>;
  /** The record as the newest commit, also one under way, has it. Makes no actor. */
  record(scope: string, id: string): ThreadRecord | undefined;
  actors(): Iterable<ThreadActor>;
  /** What tasks still do is for nobody: the process ends. */
  stopTasks(): void;
  /** Threads whose actor failed with work left, so many at most; each is named once. */
  takeAbandoned(limit: number): { scope: string; id: string }[];
};

export const createSupervisor = (deps: RuntimeDeps, accepting: () => boolean): Supervisor => {
  const runMachine = bindRunMachine(deps);
  const threadMachine = bindThreadMachine(deps.settings);
  // Insertion order is order of use: an actor that is asked for moves to the end.
  const actors = new Map<string, ThreadActor>();
  const retired = new Map<string, Promise<void>>();
  const abandoned = new Map<string, { scope: string; id: string }>();

  const keyOf = (scope: string, id: string): string => `${scope}\0${id}`;

  const make = (scope: string, id: string, key: string): ThreadActor => {
    const made: ThreadActor = createThreadActor(deps, {
      scope,
      id,
      runMachine,
      threadMachine,
      tasks,
      peers,
      accepting,
      onRetired(quiet, failed) {
        // Also when it was retired before: the commit of a removal may fail after it.
        if (failed) abandoned.set(key, { scope, id });
        if (actors.get(key) !== made) return;
        actors.delete(key);
        made.close();
        const gone = quiet.then(() => {
          if (retired.get(key) === gone) retired.delete(key);
        });
        retired.set(key, gone);
      },
      onSettled: dropPassive,
      children: createChildRuns(deps, {
        scope,
        id,
        cancel: (thread_id, run_id) => supervisor.use(scope, thread_id, (actor) => actor.cancel(run_id)),
        decide: (thread_id, target) => supervisor.use(scope, thread_id, (actor) => actor.decide(target)),
      }),
    });
    return made;
  };

  const dropPassive = (): void => {
    if (actors.size <= IDLE_ACTORS) return;
    for (const [key, actor] of actors) {
      if (actors.size <= IDLE_ACTORS) return;
      if (!actor.passive()) continue;
      actors.delete(key);
      actor.close();
    }
  };

  const tasks = createTaskBoard({
    clock: deps.clock,
    ids: deps.ids,
    log: deps.log,
    deliver: (scope, id, event) => supervisor.use(scope, id, (actor) => actor.told(event)),
  });
  const peers: Peers = {
    record: (scope, id) => supervisor.record(scope, id),
    submit: (scope, id, submission) => supervisor.use(scope, id, (actor) => actor.submit(submission)),
  };

  const supervisor: Supervisor = {
    actor(scope, id) {
      const key = keyOf(scope, id);
      const found = actors.get(key);
      const actor = found ?? make(scope, id, key);
      if (found) actors.delete(key);
      actors.set(key, actor);
      if (!found) {
        dropPassive();
        // Work that was left goes on before anybody adds to it.
        if (!actor.passive()) actor.wake();
      }
      return actor;
    },
    async use(scope, id, act) {
      const key = keyOf(scope, id);
      for (let gone = retired.get(key); gone; gone = retired.get(key)) await gone;
      return act(supervisor.actor(scope, id));
    },
    record(scope, id) {
      const actor = actors.get(keyOf(scope, id));
      return actor ? actor.ledger.record() : deps.store.threads.get(scope, id);
    },
    actors: () => actors.values(),
    stopTasks: tasks.stop,
    takeAbandoned(limit) {
      const taken = [...abandoned.entries()].slice(0, limit);
      for (const [key] of taken) abandoned.delete(key);
      return taken.map(([, thread]) => thread);
    },
  };
  return supervisor;
};
