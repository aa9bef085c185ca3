import { type ActorOptions, type AnyActorLogic, type AnyActorRef, createActor, fromPromise } from 'xstate';
import { remoteTaskMachine } from '../../../machines/remote-task.ts';
import type { RemoteTaskContext } from '../../../machines/remote-task-types.ts';
import type { RemoteEndpoint } from '../../schema/endpoint.ts';
import { timerMs } from '../../schema/timer.ts';
import type { RemoteOutcome, RemoteTurn } from '../../tools/remote-agent.ts';
import type { Conversation } from './conversation.ts';

/**
 * Executes turns: starts an actor for each, forwards signals and the deadline to it, and returns a promise of its
 * outcome. The actor may outlive the promise to cancel an abandoned task.
 */
export type Timers = NonNullable<ActorOptions<AnyActorLogic>['clock']>;

/** The returned function is called when the actor ends. */
export type Actors = {
  began(actor: AnyActorRef, scope: string, of: { machine: 'run'; id: string }): () => void;
};

type PlayerDeps = { actors?: Actors; timers?: Timers };

type Play = (
  endpoint: RemoteEndpoint,
  turn: RemoteTurn,
  conversation: Conversation,
) => Promise<RemoteOutcome>;

const TIMERS: Timers = { setTimeout, clearTimeout };

export const createPlayer =
  ({ actors, timers = TIMERS }: PlayerDeps): Play =>
  (endpoint, turn, conversation) =>
    new Promise((resolve, reject) => {
      const continues = turn.say?.task_id !== undefined;
      const input = { host: conversation, continues, ...pausesOf(endpoint) };
      const actor = createActor(boundMachine(), {
        id: idOf(turn),
        input,
        clock: timers,
      });
      const gone = turn.run && actors?.began(actor, turn.run.scope, { machine: 'run', id: turn.run.id });
      const unsubscribe = listen(turn, endpoint, timers, (type) => actor.send({ type }));
      const finished = (): void => {
        conversation.close();
        unsubscribe();
        gone?.();
      };
      actor.subscribe({
        next(snapshot) {
          const over = snapshot.status === 'done';
          if (!over && !snapshot.hasTag('unwanted')) return;
          conversation.close();
          // A promise settles only once, so later states of an abandoned task have no effect.
          settle(conversation, snapshot.context, snapshot.value === 'left').then(resolve, reject);
          if (over) finished();
        },
        error(error) {
          reject(error);
          finished();
        },
      });
      actor.start();
      actor.send({ type: turn.follow ? 'FOLLOW' : 'SUBMIT' });
      if (turn.signal.aborted) actor.send({ type: 'ABANDON' });
    });

const settle = async (
  conversation: Conversation,
  { givenUp, error }: RemoteTaskContext,
  isReleased: boolean,
): Promise<RemoteOutcome> => {
  if (isReleased) throw new Error('the service stops; the remote task is followed on later');
  if (givenUp === 'failed') throw error;
  if (givenUp === undefined) return conversation.outcome();
  return conversation.givenUp(givenUp === 'timed_out' ? 'timeout' : 'cancelled');
};

/** Returns a function that removes the listeners. */
const listen = (
  { signal, leave }: RemoteTurn,
  { timeout_ms }: RemoteEndpoint,
  timers: Timers,
  send: (type: 'ABANDON' | 'LEAVE' | 'EXPIRE') => void,
): (() => void) => {
  const abandon = (): void => send('ABANDON');
  const leaving = (): void => send('LEAVE');
  const deadline = timers.setTimeout(() => send('EXPIRE'), timerMs(timeout_ms));
  signal.addEventListener('abort', abandon);
  leave?.addEventListener('abort', leaving);
  return () => {
    timers.clearTimeout(deadline);
    signal.removeEventListener('abort', abandon);
    leave?.removeEventListener('abort', leaving);
  };
};

/** Messages and tasks have distinct ids, and a run has one turn at a time with each. */
const idOf = ({ follow, say }: RemoteTurn): string => follow?.task_id ?? say?.message_id ?? '';

const FIRST_PAUSE_MS = 200;
const DEFAULT_PAUSE_MS = 2_000;
/** Lower bound of polling intervals, whatever an endpoint configures. */
const SHORTEST_PAUSE_MS = 10;

const pausesOf = ({ options: { poll_interval_ms } }: RemoteEndpoint) => {
  const given = typeof poll_interval_ms === 'number' ? poll_interval_ms : DEFAULT_PAUSE_MS;
  const longestPauseMs = timerMs(Math.max(given, SHORTEST_PAUSE_MS));
  return { longestPauseMs, firstPauseMs: Math.min(FIRST_PAUSE_MS, longestPauseMs) };
};

// The host of every remote-task machine is the conversation that it was started with.
const hostOf = ({ host }: RemoteTaskContext): Conversation => host as Conversation;

let bound: ReturnType<typeof bindMachine> | undefined;

/** Shared by all turns of the process, because each turn brings its conversation. */
const boundMachine = () => {
  bound ??= bindMachine();
  return bound;
};

const bindMachine = () =>
  remoteTaskMachine.provide({
    actors: {
      submit: fromPromise(({ input, signal }) => hostOf(input).submit(signal)),
      record: fromPromise(({ input }) => hostOf(input).record()),
      subscribe: fromPromise(({ input, signal }) => hostOf(input).subscribe(input.method, signal)),
      poll: fromPromise(({ input, signal }) => hostOf(input).poll(signal)),
      cancel: fromPromise(({ input, signal }) => hostOf(input).cancel(signal)),
    },
  });
