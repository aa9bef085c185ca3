import { type Actor, createActor } from 'xstate';
import { a2aTaskMachine, type TaskState, taskAt, toldOf } from '../../../machines/a2a-task.ts';
import { taskStateOf } from '../../schema/task-state.ts';
import type { TimedRun } from '../../store/index.ts';
import type { Artifact, ArtifactUpdate, Part, StatusUpdate } from './model.ts';
import type { Projection } from './projection.ts';
import { type Answer, createAnswer, type Piece } from './task-answer.ts';

/**
 * What happens to one task, for all who follow it. A task that is followed is an actor of the machine `a2a-task`,
 * from the moment in which it is there until it is over or nobody follows it any more.
 *
 * Guarantees: each follower is told every change of the status behind the one that it has seen, once and in order,
 * and all are told the same; the artifact comes before the status that ends the task; no status goes back. What
 * is told is made once, and is JSON once for all who write it.
 * Relies on changes of one task having rising times (`RunTable.put`), and on being told of them in order. Text of a
 * run is not told before the task is at work, which is when its acceptance is durable.
 * Costs, while text comes, one event every `CHUNK_MS`.
 */
export type TaskEvent = { statusUpdate: StatusUpdate } | { artifactUpdate: ArtifactUpdate };

export type Follower = {
  /** It has seen the status of this time; milliseconds. */
  at: number;
  /** Artifacts come in pieces as they are made, or whole at the end. */
  pieces: boolean;
  /** `json` is the event as text. Must not throw. */
  take(event: TaskEvent, json: () => string): void;
  /** Nothing can be told any more. Must not throw. */
  fail(error: unknown): void;
};

export type Feed = {
  readonly followers: Set<Follower>;
  told(found: TimedRun): void;
  /** It is joined in the middle of an answer, of which this was said. */
  resumes(said: readonly Part[]): void;
  /** More of the answer has come. */
  heard(says: (answer: Answer) => void): void;
  /** The artifact as far as it was told, for one who has seen the status of now. */
  artifactFor(follower: Follower): Artifact | undefined;
  close(): void;
};

export type TaskActor = Actor<typeof a2aTaskMachine>;

export type FeedDeps = {
  projection: Projection;
  scope: string;
  task_id: string;
  /** Told of the actor of the task; what it returns is called when that is gone. */
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

  const tell = (event: TaskEvent, to: (follower: Follower) => boolean): void => {
    let text: string | undefined;
    const json = (): string => {
      text ??= JSON.stringify(event);
      return text;
    };
    for (const follower of [...followers]) if (to(follower)) follower.take(event, json);
  };

  const artifactEvent = (piece: Piece): TaskEvent => ({
    artifactUpdate: { taskId: task_id, contextId, ...piece },
  });

  const tellNews = (): void => {
    timer = undefined;
    const piece = state === 'TASK_STATE_WORKING' ? answer.take() : undefined;
    if (piece) tell(artifactEvent(piece), (follower) => follower.pieces && follower.at <= at);
  };

  const arm = (): void => {
    if (timer || state !== 'TASK_STATE_WORKING' || !answer.hasNews()) return;
    timer = setTimeout(tellNews, CHUNK_MS).unref();
  };

  const tellResponse = ({ run, changed_at }: TimedRun): void => {
    const response = projection.artifact(scope, run);
    if (!response) return;
    const behind = (follower: Follower): boolean => follower.at < changed_at;
    const whole = { artifact: response, append: false, lastChunk: true };
    tell(artifactEvent(whole), (follower) => !follower.pieces && behind(follower));
    tell(artifactEvent(answer.last(response)), (follower) => follower.pieces && behind(follower));
  };

  return {
    followers,
    told(found) {
      const { changed_at } = found;
      if (changed_at <= at) return;
      note(found);
      if (state === 'TASK_STATE_COMPLETED') tellResponse(found);
      const isNews = (follower: Follower): boolean => {
        if (follower.at >= changed_at) return false;
        follower.at = changed_at;
        return true;
      };
      tell({ statusUpdate: projection.update(scope, found) }, isNews);
      if (state === 'TASK_STATE_WORKING') arm();
    },
    resumes: (said) => answer.resume(said, state === 'TASK_STATE_WORKING'),
    heard(says) {
      says(answer);
      arm();
    },
    artifactFor: (follower) =>
      state === 'TASK_STATE_WORKING' && follower.at === at ? answer.said() : undefined,
    close() {
      clearTimeout(timer);
      life.end();
    },
  };
};

/** The actor of the task, while there is something that can happen to it. */
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
    /** What was over before anybody could see it begin did begin. */
    move(state: TaskState): void {
      if (!actor) {
        begin(state);
        return;
      }
      const event = toldOf(state);
      if (!actor.getSnapshot().can(event)) actor.send({ type: 'START' });
      actor.send(event);
      if (actor.getSnapshot().status !== 'active') end();
    },
  };
};
