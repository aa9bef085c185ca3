import { isTerminal } from '../../../../machines/a2a-task.ts';
import type { Clock } from '../../../schema/clock.ts';
import type { Batch, PushMark, PushPlace, Store } from '../../../store/index.ts';
import type { ArtifactUpdate, StatusUpdate, Task, Tasks } from '../model.ts';

/**
 * What is put into the queue of one config after the status that it began with: each change of its task and each
 * artifact (a2a.md 11.2).
 *
 * Guarantees: an event and the note that it was queued are one commit, so after a restart the task is compared with
 * what really was queued last, and only the difference is queued: for a status that has changed, the artifacts that
 * belong to it and the status. An artifact may then be queued twice, a status is not.
 * Relies on the store for the order of the queue: commits become visible in the order in which they are made.
 */
export type Follower = {
  /**
   * Queues what was missed, and everything from then on. A second call begins anew. `gone`: there is nothing to
   * follow.
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
  told: { queued(last: boolean): void; missed(error: unknown): void },
): Follower => {
  const { scope, task_id } = place;
  let watching: { stop(): void } | undefined;
  /** Counts up when what is watched changes: what comes later from before is not told. */
  let round = 0;

  const stop = (): void => {
    round += 1;
    watching?.stop();
    watching = undefined;
  };

  /** Resolves when the events are in the queue. */
  const queue = (events: readonly Queued[]): Promise<void> => {
    const batch = store.batch();
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
            if (own === round) told.queued(isLast(event));
          },
          (error) => {
            // One report is enough: what comes next will be found missing with it.
            if (own !== round) return;
            stop();
            told.missed(error);
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

/** With the note that it was queued, from which a later process goes on. */
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
