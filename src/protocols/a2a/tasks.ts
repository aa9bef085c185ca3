import type { Channel, RunWatch } from '../../runtime/index.ts';
import { taskAgentOf } from '../../schema/task-state.ts';
import type { Store } from '../../store/index.ts';
import { answerProtocol } from './encoder.ts';
import type { Artifact, Task, Tasks } from './model.ts';
import { createProjection, type Projection } from './projection.ts';
import { createFeed, type Feed, type Follower } from './task-feed.ts';

/**
 * The tasks of this service: every run is one, whatever made it (a2a.md 8).
 *
 * Guarantees: who joins a task in some turn of the loop is told of everything behind what the store shows in that
 * turn, once. Relies on `watch` being called for every execution and every run record (`RunWatch`).
 * Costs two map operations an execution; a run that nobody follows costs nothing else, one that somebody follows
 * what its feed costs.
 */
export type TaskRoom = Tasks & {
  readonly projection: Projection;
  /** What the runtime tells. */
  readonly runWatch: RunWatch;
  /**
   * Joins a task, which may not be there yet: the follower is told what comes after what the store has now.
   */
  follow(scope: string, task_id: string, follower: Omit<Follower, 'at'>): Following;
};

export type Following = {
  stop(): void;
  /** What was told of the answer under way, for one who has just joined. */
  artifact(): Artifact | undefined;
};

export type TaskDeps = {
  store: Pick<Store, 'runs' | 'messages' | 'pending'>;
  log: { error(data: object, text: string): void };
};

export const createTasks = ({ store, log }: TaskDeps): TaskRoom => {
  const projection = createProjection({ store });
  const feeds = new Map<string, Feed>();
  const channels = new Map<string, Channel>();

  const attach = (key: string, channel: Channel): void => {
    const begins = (): void => feeds.get(key)?.begins();
    const text = (delta: string): void => feeds.get(key)?.text(delta);
    channel.attach(answerProtocol({ begins, text }), SILENT);
  };

  const feedOf = (scope: string, task_id: string): Feed => {
    const key = keyOf(scope, task_id);
    const found = feeds.get(key);
    if (found) return found;
    const feed = createFeed({ projection, scope, task_id }, projection.find(scope, task_id));
    feeds.set(key, feed);
    const channel = channels.get(key);
    if (channel) {
      feed.missed();
      attach(key, channel);
    }
    return feed;
  };

  const follow: TaskRoom['follow'] = (scope, task_id, follower) => {
    const key = keyOf(scope, task_id);
    const feed = feedOf(scope, task_id);
    const at = projection.find(scope, task_id)?.changed_at ?? 0;
    const joined: Follower = { ...follower, at };
    feed.followers.add(joined);
    return {
      artifact: () => feed.artifactFor(joined),
      stop() {
        feed.followers.delete(joined);
        if (feed.followers.size > 0 || feeds.get(key) !== feed) return;
        feed.close();
        feeds.delete(key);
      },
    };
  };

  const allOf = (scope: string, task_id: string): Task | undefined => {
    const found = projection.find(scope, task_id);
    return found && projection.task(scope, found, { history: undefined, artifacts: true });
  };

  return {
    projection,
    follow,
    get: allOf,
    agentOf(scope, task_id) {
      const found = projection.find(scope, task_id);
      return found && taskAgentOf(found.run);
    },
    watch(scope, task_id, onEvent) {
      const task = allOf(scope, task_id);
      if (!task) return undefined;
      const fail = (): void => {};
      const { stop } = follow(scope, task_id, { pieces: false, take: (event) => onEvent(event), fail });
      return { task, stop };
    },
    runWatch: {
      began(scope, run_id, channel) {
        const key = keyOf(scope, run_id);
        channels.set(key, channel);
        const feed = feeds.get(key);
        if (!feed) return;
        feed.begins();
        attach(key, channel);
      },
      ended: (scope, run_id) => void channels.delete(keyOf(scope, run_id)),
      stored(scope, run, changed_at) {
        if (feeds.size === 0) return;
        const feed = feeds.get(keyOf(scope, run.run_id));
        try {
          feed?.told({ run, changed_at });
        } catch (error) {
          log.error({ err: error, task_id: run.run_id }, 'those who follow a task could not be told');
          for (const follower of feed?.followers ?? []) follower.fail(error);
        }
      },
    },
  };
};

/** Of what it is attached with nothing is written. */
const SILENT = { write() {}, end() {} };

/** A scope has no control characters, so two tasks never have one key. */
const keyOf = (scope: string, task_id: string): string => `${scope}\0${task_id}`;
