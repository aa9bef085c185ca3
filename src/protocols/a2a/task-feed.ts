import { type Actor, createActor } from 'xstate';
import { a2aTaskMachine, type TaskState, taskAt, updateEventOf } from '../../../machines/a2a-task.ts';
import { taskStateOf } from '../../schema/task-state.ts';
import type { TimedRun } from '../../store/index.ts';
import type { Artifact, ArtifactUpdate, Part, StatusUpdate } from './model.ts';
import type { Projection } from './projection.ts';
import { type Answer, type ArtifactChunk, createAnswer } from './task-answer.ts';

/**
 * Distributes the events of one task to all of its followers. A followed task is an actor of the machine `a2a-task`,
 * from its creation until it is over or has no followers.
 *
 * Guarantees: each follower receives every status change after the one that it has seen, once and in order, and all
 * followers receive the same events. The artifact precedes the status that ends the task, and a status never goes back.
 * An event is created and serialized once for all followers.
 * Relies on changes of one task having increasing times (`RunTable.put`), and on receiving them in order. Text of a run
 * is not sent before the task is working, which is when its acceptance is durable.
 * Cost: while text arrives, one event every `CHUNK_MS`.
 */
export type TaskEvent = { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate };

export type Follower = {
  /** Time of the last status that the follower has seen, in milliseconds. */
  at: number;
  /** Whether artifacts are sent in chunks as they are produced, or whole at the end. */
  pieces: boolean;
  /** `json` returns the serialized event. Must not throw. */
  take(event: TaskEvent, json: () => string): void;
  /** Called when no more events can be delivered. Must not throw. */
  fail(error: unknown): void;
};

export type Feed = {
  readonly followers: Set<Follower>;
  onChange(found: TimedRun): void;
  /** Starts in the middle of a completion with its earlier parts. */
  resumes(earlier: readonly Part[]): void;
  /** Applies progress of the response. */
  update(change: (answer: Answer) => void): void;
  /** Returns the sent part of the artifact for a follower that has seen the current status. */
  artifactFor(follower: Follower): Artifact | undefined;
  close(): void;
};

export type TaskActor = Actor<typeof a2aTaskMachine>;

export type FeedDeps = {
  projection: Projection;
  scope: string;
  task_id: string;
  /** Notified of the actor of the task; the returned function is called when the actor ends. */
  began(actor: TaskActor): () => void;
};

/** 20 events a second. */
const CHUNK_MS = 50;

export const createFeed = (deps: FeedDeps, start: TimedRun | undefined): Feed => {
  const { projection, scope, task_id } = deps;
  const followers = new Set<Follower>();
  const answer = createAnswer();
  const life = createLife(deps);
  let at = 0;
  let state: TaskState | undefined;
  let contextId = '';
  let timer: NodeJS.Timeout | undefined;

  const note = ({ run, changed_at }: TimedRun): void => {
    at = changed_at;
    state = taskStateOf(run);
    contextId = run.thread_id;
    life.move(state);
  };
  if (start) note(start);

  const artifactEvent = (chunk: ArtifactChunk): TaskEvent => ({
    artifactUpdate: { taskId: task_id, contextId, ...chunk },
  });

  const sendChunk = (): void => {
    timer = undefined;
    const chunk = state === 'TASK_STATE_WORKING' ? answer.take() : undefined;
    if (chunk) send(followers, artifactEvent(chunk), ({ pieces, at: seen }) => pieces && seen <= at);
  };

  const arm = (): void => {
    if (timer || state !== 'TASK_STATE_WORKING' || !answer.hasNews()) return;
    timer = setTimeout(sendChunk, CHUNK_MS).unref();
  };

  const sendResponse = ({ run, changed_at }: TimedRun): void => {
    const response = projection.artifact(scope, run);
    if (!response) return;
    const behind = (follower: Follower): boolean => follower.at < changed_at;
    const whole = { artifact: response, append: false, lastChunk: true };
    send(followers, artifactEvent(whole), (follower) => !follower.pieces && behind(follower));
    send(followers, artifactEvent(answer.last(response)), (follower) => follower.pieces && behind(follower));
  };

  return {
    followers,
    onChange(found) {
      const { changed_at } = found;
      if (changed_at <= at) return;
      note(found);
      if (state === 'TASK_STATE_COMPLETED') sendResponse(found);
      const isNews = (follower: Follower): boolean => {
        if (follower.at >= changed_at) return false;
        follower.at = changed_at;
        return true;
      };
      send(followers, { statusUpdate: projection.update(scope, found) }, isNews);
      if (state === 'TASK_STATE_WORKING') arm();
    },
    resumes: (earlier) => answer.resume(earlier, state === 'TASK_STATE_WORKING'),
    update(change) {
      change(answer);
      arm();
    },
    artifactFor: (follower) =>
      state === 'TASK_STATE_WORKING' && follower.at === at ? answer.sentArtifact() : undefined,
    close() {
      clearTimeout(timer);
      life.end();
    },
  };
};

/** Serializes the event once, when the first of the receivers needs it. */
const send = (
  followers: ReadonlySet<Follower>,
  event: TaskEvent,
  isReceiver: (follower: Follower) => boolean,
): void => {
  let text: string | undefined;
  const json = (): string => {
    text ??= JSON.stringify(event);
    return text;
  };
  for (const follower of [...followers]) if (isReceiver(follower)) follower.take(event, json);
};

/** Manages the actor of the task until the task is over. */
const createLife = ({ task_id, began }: FeedDeps) => {
  let actor: TaskActor | undefined;
  let gone = (): void => {};

  const begin = (state: TaskState): void => {
    const snapshot = taskAt(state);
    if (snapshot.status !== 'active') return;
    actor = createActor(a2aTaskMachine, { id: task_id, snapshot });
    gone = began(actor);
    actor.start();
  };

  const end = (): void => {
    actor?.stop();
    actor = undefined;
    gone();
    gone = () => {};
  };

  return {
    end,
    /** A task that ended before its start was observed is started first. */
    move(state: TaskState): void {
      if (!actor) {
        begin(state);
        return;
      }
      const event = updateEventOf(state);
      if (!actor.getSnapshot().can(event)) actor.send({ type: 'START' });
      actor.send(event);
      if (actor.getSnapshot().status !== 'active') end();
    },
  };
};
