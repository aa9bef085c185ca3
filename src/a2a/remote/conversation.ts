import { isAtRest, isInterrupted } from '../../../machines/a2a-task.ts';
import type { Polled, Streamed, StreamMethod, Submitted } from '../../../machines/remote-task.ts';
import type { Json, RemoteEndpoint } from '../../schema/endpoint.ts';
import { timerMs } from '../../schema/timer.ts';
import type { RemoteOutcome, RemoteTurn } from '../../tools/remote-agent.ts';
import { type Part, partsOf } from '../parts.ts';
import { readEvents } from './events.ts';
import { isPassing, isUnserved, RemoteFailure } from './failure.ts';
import { createMirror, type Mirror } from './mirror.ts';
import { answerOf, givenUp, outcomeOf } from './outcome.ts';
import type { Requests } from './requests.ts';
import { createTeller } from './teller.ts';
import { Event, Task } from './wire.ts';

/**
 * The services of the remote-task machine, for one turn of one conversation.
 *
 * Guarantees: nothing is told to the turn once it is closed; what a service throws is what ends the turn, in words
 * for whoever configured the agent. Failures that may pass are results, as the machine knows what to do with them.
 */
export type Conversation = {
  submit(signal: AbortSignal): Promise<Submitted>;
  record(): Promise<void>;
  subscribe(method: StreamMethod, signal: AbortSignal): Promise<Streamed>;
  poll(signal: AbortSignal): Promise<Polled>;
  cancel(signal: AbortSignal): Promise<void>;
  close(): void;
  /** Of a turn that has one. */
  outcome(): RemoteOutcome;
  givenUp(status: 'cancelled' | 'timeout'): RemoteOutcome;
};

export type ConversationDeps = {
  requests: Requests;
  options: RemoteEndpoint['options'];
  turn: RemoteTurn;
  /** A stream on which nothing comes, not even a comment, is broken after so long. */
  idleMs: number;
  log: { warn(data: object, text: string): void };
};

const POLL_TIMEOUT_MS = 15_000;
const CANCEL_TIMEOUT_MS = 10_000;

export const createConversation = (deps: ConversationDeps): Conversation => {
  const { requests, turn, idleMs, log } = deps;
  const teller = createTeller(turn);
  let mirror: Mirror | undefined = turn.follow && createMirror(turn.follow);
  let answer: RemoteOutcome | undefined;

  /** Only a conversation that has a task is asked for it. */
  const known = (): Mirror => {
    if (mirror) return mirror;
    throw new Error('no task is known');
  };

  const seen = () => ({ kind: 'task' as const, state: known().state() });

  const submit = async (signal: AbortSignal): Promise<Submitted> => {
    const body = await requests.submit(submissionOf(deps), signal).catch(explain(SUBMISSION));
    const { task, message } = Event.safeParse(body).data ?? {};
    // Both were found in the body, so it is an object with these keys.
    const raw = body as { task: Json; message: Json };
    if (task) {
      mirror = createMirror({ task_id: task.id });
      mirror.adopt(task, raw.task);
      return seen();
    }
    if (!message) throw new Error('sendMessage response did not contain a task or message');
    answer = answerOf(message, raw.message);
    teller.answered(answer.words ?? answer.text);
    return { kind: 'message' };
  };

  const subscribe = async (method: StreamMethod, signal: AbortSignal): Promise<Streamed> => {
    const { task_id } = known().task();
    const idle = createIdle(signal, idleMs);
    try {
      const stream = await requests.subscribe(task_id, method, idle.signal);
      for await (const raw of readEvents(stream, idle.touch)) {
        const { data: event } = Event.safeParse(raw);
        if (event && known().apply(event, raw)) teller.changed(known());
        else teller.grown(known());
        if (isAtRest(known().state())) return seen();
      }
    } catch (error) {
      if (error instanceof RemoteFailure && isUnserved(error)) return { kind: 'unsupported' };
      // Also where it was refused: the next request finds out what of it concerns the task.
    } finally {
      idle.end();
    }
    return { kind: 'broken' };
  };

  const poll = async (signal: AbortSignal): Promise<Polled> => {
    const { task_id } = known().task();
    try {
      const raw = await requests.read(task_id, within(signal, POLL_TIMEOUT_MS));
      const { data: task } = Task.safeParse(raw);
      if (!task) throw new RemoteFailure('unreadable', 'the answer is not a task');
      known().adopt(task, raw);
    } catch (error) {
      if (error instanceof RemoteFailure && isPassing(error)) return { kind: 'unreachable' };
      return explain(OBSERVATION)(error);
    }
    teller.changed(known());
    return seen();
  };

  return {
    submit,
    async record() {
      await turn.onSubmitted(known().task());
      // What a task that goes on is said to ask for may be what it asked before.
      const doubtful = turn.say?.task_id !== undefined && isInterrupted(known().state());
      if (!doubtful) teller.changed(known());
    },
    subscribe,
    poll,
    async cancel(signal) {
      const { task_id } = known().task();
      await cancelTask({ requests, log }, task_id, signal);
    },
    close: teller.close,
    outcome: () => answer ?? outcomeOf(known()),
    givenUp: (status) => givenUp(status, mirror),
  };
};

/** Never throws. */
export const cancelTask = async (
  { requests, log }: Pick<ConversationDeps, 'requests' | 'log'>,
  task_id: string,
  signal?: AbortSignal,
): Promise<void> => {
  try {
    await requests.cancel(task_id, within(signal, CANCEL_TIMEOUT_MS));
  } catch (err) {
    log.warn(
      { err, task_id, interface: requests.base },
      'a remote task may go on, it could not be cancelled',
    );
  }
};

/** a2a.md 12.4. @throws Error when there is nothing to say */
const submissionOf = ({ turn: { say }, options }: ConversationDeps): Json => {
  const parts: Part[] = partsOf(say?.content ?? []);
  if (!say || parts.length === 0) throw new Error('no user message content to send');
  const { history_length, return_immediately = true } = options;
  return {
    message: {
      messageId: say.message_id,
      role: 'ROLE_USER',
      parts,
      ...(say.task_id !== undefined && { taskId: say.task_id }),
      ...(say.context_id !== undefined && { contextId: say.context_id }),
    },
    configuration: {
      acceptedOutputModes: ['text/plain', 'application/json', 'application/octet-stream'],
      ...(history_length !== undefined && { historyLength: history_length }),
      returnImmediately: return_immediately,
    },
  };
};

type Words = Readonly<Record<RemoteFailure['kind'], string>>;

const SUBMISSION: Words = {
  refused: 'A2A submission rejected',
  unreachable: 'failed to submit A2A task',
  unreadable: 'failed to decode A2A submission',
};

const OBSERVATION: Words = {
  refused: 'A2A task rejected',
  unreachable: 'failed to fetch A2A task',
  unreadable: 'failed to decode A2A task',
};

const explain =
  (words: Words) =>
  (error: unknown): never => {
    if (!(error instanceof RemoteFailure)) throw error;
    throw new Error(`${words[error.kind]}: ${error.message}`, { cause: error });
  };

const within = (signal: AbortSignal | undefined, ms: number): AbortSignal =>
  AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timerMs(ms))]);

/** Fires also when nothing has touched it for a while. */
const createIdle = (signal: AbortSignal, ms: number) => {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), timerMs(ms));
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    touch: () => void timer.refresh(),
    end() {
      clearTimeout(timer);
      // Whatever of the stream was not read is not wanted.
      silent.abort();
    },
  };
};
