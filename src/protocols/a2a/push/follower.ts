import { isTerminal } from '../../../../machines/a2a-task.ts';
import type { Clock } from '../../../schema/clock.ts';
import type { Batch, PushMark, PushPlace, Store } from '../../../store/index.ts';
import type { ArtifactUpdate, StatusUpdate, Task, Tasks } from '../model.ts';

/**
 * Queues each status change and each artifact of a task for one config, after the initial status (a2a.md 11.2).
 *
 * Guarantees: an event and the mark that it was queued are one commit. So after a restart, the task is compared with
 * the last queued status, and only the difference is queued: for a changed status, its artifacts and the status. An
 * artifact may then be queued twice, a status never.
 * Relies on the store for the order of the queue: commits become visible in the order in which they are made.
 */
export type Follower = {
  /**
   * Queues missed events and all later ones. A second call restarts following. `gone` means that the task or its config
   * does not exist.
   */
  follow(): Promise<'watching' | 'ended' | 'gone'>;
  stop(): void;
};

type Queued = { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate };

export type FollowerDeps = {
  store: Pick<Store, 'batch' | 'commit' | 'pushConfigs' | 'pushOutbox'>;
  clock: Clock;
  tasks: Pick<Tasks, 'watch'>;
};

export const createFollower = (
  { store, clock, tasks }: FollowerDeps,
  place: PushPlace,
  listener: { queued(last: boolean): void; missed(error: unknown): void },
): Follower => {
  const { scope, task_id } = place;
  let watching: { stop(): void } | undefined;
  /** Incremented when following restarts or stops, to ignore late results of earlier rounds. */
  let round = 0;

  const stop = (): void => {
    round += 1;
    watching?.stop();
    watching = undefined;
  };

  /** Resolves when the events are queued. */
  const queue = (events: readonly Queued[]): Promise<void> => {
    const batch = store.batch({ scope, run_id: task_id });
    for (const event of events) enqueue({ store, clock }, batch, place, event);
    return store.commit(batch);
  };

  return {
    stop,
    async follow() {
      stop();
      const mark = store.pushOutbox.markOf(place);
      if (mark === undefined || !store.pushConfigs.get(place)) return 'gone';
      const own = round;
      const watched = tasks.watch(scope, task_id, (event) => {
        queue([event]).then(
          () => {
            if (own === round) listener.queued(isLast(event));
          },
          (error) => {
            // One report is enough: the restarted follower will find all later events missing as well.
            if (own !== round) return;
            stop();
            listener.missed(error);
          },
        );
      });
      watching = watched;
      if (!watched) return 'gone';
      const missed = missedOf(watched.task, mark);
      if (missed.length > 0) await queue(missed);
      return isTerminal(watched.task.status.state) ? 'ended' : 'watching';
    },
  };
};

/** Queues an event with the mark from which a later process continues. */
export const enqueue = (
  { store, clock }: Pick<FollowerDeps, 'store' | 'clock'>,
  batch: Batch,
  place: PushPlace,
  event: Queued,
): void => {
  const body = JSON.stringify(event);
  store.pushOutbox.append(batch, place, { body, attempts: 0, available_at: clock.now() });
  if (!('statusUpdate' in event)) return;
  const { state, timestamp } = event.statusUpdate.status;
  store.pushOutbox.follow(batch, { place, mark: { state, timestamp } });
};

const statusUpdateOf = ({ id: taskId, contextId, status }: Task): Queued => ({
  statusUpdate: { taskId, contextId, status },
});

const isLast = (event: Queued): boolean =>
  'statusUpdate' in event && isTerminal(event.statusUpdate.status.state);

const missedOf = (task: Task, mark: PushMark): Queued[] => {
  const { id: taskId, contextId, status, artifacts = [] } = task;
  if (mark.state === status.state && mark.timestamp === status.timestamp) return [];
  const whole = artifacts.map((artifact) => ({
    artifactUpdate: { taskId, contextId, artifact, append: false, lastChunk: true },
  }));
  return [...whole, statusUpdateOf(task)];
};
