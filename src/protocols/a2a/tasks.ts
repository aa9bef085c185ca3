import { partsOf } from '../../a2a/parts.ts';
import type { Channel, RunWatch } from '../../runtime/index.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import type { ContentBlock } from '../../schema/message.ts';
import type { Store, TimedRun } from '../../store/index.ts';
import { answerProtocol } from './encoder.ts';
import { taskNotFound } from './errors.ts';
import type { Artifact, Tasks } from './model.ts';
import { createProjection, type Projection } from './projection.ts';
import { createFeed, type Feed, type Follower, type TaskActor, type TaskEvent } from './task-feed.ts';

/**
 * The tasks of this service: every run is one, whatever started it (a2a.md 8).
 *
 * Guarantees: a follower receives every event after the state that the store has in the event-loop tick in which it
 * joins, exactly once.
 * Relies on `watch` being called for every execution and every run record (`RunWatch`).
 * Cost: two map operations per execution. A run without followers costs nothing else; a followed run costs its feed.
 */
export type TaskService = Tasks & {
  readonly projection: Projection;
  /** Receives run events from the runtime. */
  readonly runWatch: RunWatch;
  /** Joins a task, which need not exist yet. The follower receives all events after the current state of the store. */
  follow(scope: string, task_id: string, follower: Omit<Follower, 'at'>): Following;
  /** The tasks were given to another owner: their followers receive no more events. */
  moved(scope: string, task_ids: readonly string[]): void;
};

export type Following = {
  stop(): void;
  /** Returns the part of the current response that was sent before the follower joined. */
  artifact(): Artifact | undefined;
};

export type TaskDeps = {
  store: Pick<Store, 'runs' | 'messages' | 'pending'>;
  /** Notified of each new actor with its run; the returned function is called when the actor ends. */
  actors: { began(actor: TaskActor, scope: string, of: { machine: 'run'; id: string }): () => void };
  log: Pick<ServiceLog, 'error'>;
};

export const createTasks = (deps: TaskDeps): TaskService => {
  const projection = createProjection(deps);
  const context: TaskContext = { ...deps, projection, feeds: new Map(), live: new Map() };
  return {
    projection,
    follow: (scope, task_id, follower) => follow(context, scope, task_id, follower),
    moved(scope, task_ids) {
      for (const task_id of task_ids)
        for (const follower of [...(context.feeds.get(keyOf(scope, task_id))?.followers ?? [])])
          follower.fail(taskNotFound(task_id));
    },
    find: projection.find,
    update: projection.update,
    watch(scope, task_id, onEvent) {
      const found = projection.find(scope, task_id);
      if (!found) return undefined;
      // Only status and artifacts are reported.
      const task = projection.task(scope, found, { history: 0, artifacts: true });
      const fail = (): void => {};
      const follower = { pieces: false, take: (event: TaskEvent) => onEvent(event), fail };
      return { task, stop: follow(context, scope, task_id, follower).stop };
    },
    runWatch: {
      began: (scope, run_id, channel, currentAnswer) =>
        onRunBegan(context, keyOf(scope, run_id), { channel, currentAnswer }),
      ended: (scope, run_id) => void context.live.delete(keyOf(scope, run_id)),
      stored: (scope, run, changed_at) => onRunStored(context, scope, { run, changed_at }),
    },
  };
};

type TaskContext = TaskDeps & {
  readonly projection: Projection;
  /** The feeds of followed tasks, and the executing runs, by `keyOf`. */
  readonly feeds: Map<string, Feed>;
  readonly live: Map<string, Live>;
};

const follow = (
  context: TaskContext,
  scope: string,
  task_id: string,
  follower: Omit<Follower, 'at'>,
): Following => {
  const { projection, feeds } = context;
  const key = keyOf(scope, task_id);
  const feed = feeds.get(key) ?? openFeed(context, scope, task_id);
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

const openFeed = (context: TaskContext, scope: string, task_id: string): Feed => {
  const { projection, feeds, live, actors } = context;
  const key = keyOf(scope, task_id);
  const began = (actor: TaskActor): (() => void) =>
    // The run may be inactive, and another actor may execute it next.
    actors.began(actor, scope, { machine: 'run', id: task_id });
  const feed = createFeed({ projection, scope, task_id, began }, projection.find(scope, task_id));
  feeds.set(key, feed);
  const run = live.get(key);
  if (run) {
    feed.resumes(partsOf(run.currentAnswer()));
    attach(context, key, run.channel);
  }
  return feed;
};

const attach = ({ feeds }: TaskContext, key: string, channel: Channel): void => {
  channel.attach(answerProtocol({ update: (change) => feeds.get(key)?.update(change) }), SILENT);
};

const onRunBegan = (context: TaskContext, key: string, run: Live): void => {
  context.live.set(key, run);
  const feed = context.feeds.get(key);
  if (!feed) return;
  feed.update((answer) => answer.start());
  attach(context, key, run.channel);
};

const onRunStored = ({ feeds, log }: TaskContext, scope: string, found: TimedRun): void => {
  if (feeds.size === 0) return;
  const { run_id } = found.run;
  const feed = feeds.get(keyOf(scope, run_id));
  try {
    feed?.onChange(found);
  } catch (error) {
    log.error('a2a.task_notification_failed', { err: error, task_id: run_id });
    for (const follower of feed?.followers ?? []) follower.fail(error);
  }
};

/** An executing run. */
type Live = { channel: Channel; currentAnswer(): readonly ContentBlock[] };

/** The attached protocol writes no frames. */
const SILENT = { write() {}, end() {} };

/** A scope has no control characters, so keys are unambiguous. */
const keyOf = (scope: string, task_id: string): string => `${scope}\0${task_id}`;
