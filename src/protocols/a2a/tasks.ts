import { partsOf } from '../../a2a/parts.ts';
import type { Channel, RunWatch } from '../../runtime/index.ts';
import type { ContentBlock } from '../../schema/message.ts';
import type { Store } from '../../store/index.ts';
import { answerProtocol } from './encoder.ts';
import type { Artifact, Tasks } from './model.ts';
import { createProjection, type Projection } from './projection.ts';
import { createFeed, type Feed, type Follower, type TaskActor } from './task-feed.ts';

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
  /** Told of every actor that begins, and of the run that it works for; what it returns is called when it is gone. */
  actors: { began(actor: TaskActor, scope: string, of: { machine: 'run'; id: string }): () => void };
  log: { error(data: object, text: string): void };
};

export const createTasks = ({ store, actors, log }: TaskDeps): TaskRoom => {
  const projection = createProjection({ store });
  const feeds = new Map<string, Feed>();
  const live = new Map<string, Live>();

  const attach = (key: string, channel: Channel): void => {
    channel.attach(answerProtocol({ heard: (says) => feeds.get(key)?.heard(says) }), SILENT);
  };

  const feedOf = (scope: string, task_id: string): Feed => {
    const key = keyOf(scope, task_id);
    const found = feeds.get(key);
    if (found) return found;
    const began = (actor: TaskActor): (() => void) =>
      // Its run may be at rest, and another actor may execute it next.
      actors.began(actor, scope, { machine: 'run', id: task_id });
    const feed = createFeed({ projection, scope, task_id, began }, projection.find(scope, task_id));
    feeds.set(key, feed);
    const run = live.get(key);
    if (run) {
      feed.resumes(partsOf(run.said()));
      attach(key, run.channel);
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

  return {
    projection,
    follow,
    find: projection.find,
    update: projection.update,
    watch(scope, task_id, onEvent) {
      const found = projection.find(scope, task_id);
      if (!found) return undefined;
      // What is told of it is its status and its artifacts.
      const task = projection.task(scope, found, { history: 0, artifacts: true });
      const fail = (): void => {};
      const { stop } = follow(scope, task_id, { pieces: false, take: (event) => onEvent(event), fail });
      return { task, stop };
    },
    runWatch: {
      began(scope, run_id, channel, said) {
        const key = keyOf(scope, run_id);
        live.set(key, { channel, said });
        const feed = feeds.get(key);
        if (!feed) return;
        feed.heard((answer) => answer.start());
        attach(key, channel);
      },
      ended: (scope, run_id) => void live.delete(keyOf(scope, run_id)),
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

/** A run that executes. */
type Live = { channel: Channel; said(): readonly ContentBlock[] };

/** Of what it is attached with nothing is written. */
const SILENT = { write() {}, end() {} };

/** A scope has no control characters, so two tasks never have one key. */
const keyOf = (scope: string, task_id: string): string => `${scope}\0${task_id}`;
