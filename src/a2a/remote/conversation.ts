import { isInterrupted, isTerminalOrInterrupted } from '../../../machines/a2a-task.ts';
import type { Polled, Streamed, StreamMethod, Submitted } from '../../../machines/remote-task-types.ts';
import type { Json, RemoteEndpoint } from '../../schema/endpoint.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { timerMs } from '../../schema/timer.ts';
import type { RemoteOutcome, RemoteTurn } from '../../tools/remote-agent.ts';
import { type Part, partsOf } from '../parts.ts';
import { readEvents } from './events.ts';
import { isPassing, isUnserved, RemoteFailure } from './failure.ts';
import { createMirror, type Mirror } from './mirror.ts';
import { abandonedOutcome, messageOutcome, taskOutcome } from './outcome.ts';
import { createProgressReporter } from './progress-reporter.ts';
import type { Requests } from './requests.ts';
import { Event, Task } from './wire.ts';

/**
 * The services of the remote-task machine for one turn of one conversation.
 *
 * Guarantees: the turn receives no reports after it is closed. An error of a service ends the turn with a message for
 * the person who configured the agent. Transient failures are returned as results, because the machine handles them.
 */
export type Conversation = {
  submit(signal: AbortSignal): Promise<Submitted>;
  record(): Promise<void>;
  subscribe(method: StreamMethod, signal: AbortSignal): Promise<Streamed>;
  poll(signal: AbortSignal): Promise<Polled>;
  cancel(signal: AbortSignal): Promise<void>;
  close(): void;
  /** Returns the outcome of a turn that has one. */
  outcome(): RemoteOutcome;
  givenUp(status: 'cancelled' | 'timeout'): RemoteOutcome;
};

export type ConversationDeps = {
  requests: Requests;
  options: RemoteEndpoint['options'];
  turn: RemoteTurn;
  /** A stream without any data, including comments, counts as broken after this time. */
  idleMs: number;
  log: Pick<ServiceLog, 'warn'>;
};

const POLL_TIMEOUT_MS = 15_000;
const CANCEL_TIMEOUT_MS = 10_000;

type Turn = {
  readonly deps: ConversationDeps;
  readonly reporter: ReturnType<typeof createProgressReporter>;
  /** Undefined until the task of the conversation is known. */
  mirror: Mirror | undefined;
  /** The outcome of a turn whose response is a message. */
  answer: RemoteOutcome | undefined;
};

export const createConversation = (deps: ConversationDeps): Conversation => {
  const turn: Turn = {
    deps,
    reporter: createProgressReporter(deps.turn),
    mirror: deps.turn.follow && createMirror(deps.turn.follow),
    answer: undefined,
  };
  return {
    submit: (signal) => submit(turn, signal),
    async record() {
      const mirror = knownTask(turn);
      await deps.turn.onSubmitted(mirror.task());
      // A continued task may still report its previous question.
      const doubtful = deps.turn.say?.task_id !== undefined && isInterrupted(mirror.state());
      if (!doubtful) turn.reporter.changed(mirror);
    },
    subscribe: (method, signal) => subscribe(turn, method, signal),
    poll: (signal) => poll(turn, signal),
    async cancel(signal) {
      await cancelTask(deps, knownTask(turn).task().task_id, signal);
    },
    close: turn.reporter.close,
    outcome: () => turn.answer ?? taskOutcome(knownTask(turn)),
    givenUp: (status) => abandonedOutcome(status, turn.mirror),
  };
};

/** Requires a conversation with a task. */
const knownTask = ({ mirror }: Turn): Mirror => {
  if (mirror) return mirror;
  throw new Error('no task is known');
};

const stateOf = (mirror: Mirror) => ({ kind: 'task' as const, state: mirror.state() });

const submit = async (turn: Turn, signal: AbortSignal): Promise<Submitted> => {
  const { deps, reporter } = turn;
  const body = await deps.requests.submit(submissionOf(deps), signal).catch(explain(SUBMISSION));
  const { task, message } = Event.safeParse(body).data ?? {};
  // Both were parsed from the body, so it is an object with these keys.
  const raw = body as { task: Json; message: Json };
  if (task) {
    turn.mirror = createMirror({ task_id: task.id });
    turn.mirror.adopt(task, raw.task);
    return stateOf(turn.mirror);
  }
  if (!message) throw new Error('sendMessage response did not contain a task or message');
  turn.answer = messageOutcome(message, raw.message);
  reporter.answered(turn.answer.plainText ?? turn.answer.text);
  return { kind: 'message' };
};

const subscribe = async (turn: Turn, method: StreamMethod, signal: AbortSignal): Promise<Streamed> => {
  const { deps, reporter } = turn;
  const mirror = knownTask(turn);
  const idle = createIdle(signal, deps.idleMs);
  try {
    const stream = await deps.requests.subscribe(mirror.task().task_id, method, idle.signal);
    for await (const raw of readEvents(stream, idle.touch)) {
      const { data: event } = Event.safeParse(raw);
      if (event && mirror.apply(event, raw)) reporter.changed(mirror);
      else reporter.grown(mirror);
      if (isTerminalOrInterrupted(mirror.state())) return stateOf(mirror);
    }
  } catch (error) {
    if (error instanceof RemoteFailure && isUnserved(error)) return { kind: 'unsupported' };
    // Refusals are ignored here as well: the next request determines whether they concern the task.
  } finally {
    idle.end();
  }
  return { kind: 'broken' };
};

const poll = async (turn: Turn, signal: AbortSignal): Promise<Polled> => {
  const mirror = knownTask(turn);
  try {
    const raw = await turn.deps.requests.read(mirror.task().task_id, within(signal, POLL_TIMEOUT_MS));
    const { data: task } = Task.safeParse(raw);
    if (!task) throw new RemoteFailure('unreadable', 'the response is not a task');
    mirror.adopt(task, raw);
  } catch (error) {
    if (error instanceof RemoteFailure && isPassing(error)) return { kind: 'unreachable' };
    return explain(OBSERVATION)(error);
  }
  turn.reporter.changed(mirror);
  return stateOf(mirror);
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
    log.warn('remote_task.cancel_failed', { err, task_id, interface: requests.base });
  }
};

/** a2a.md 12.4. @throws Error when there is no content to send */
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

type FailureMessages = Readonly<Record<RemoteFailure['kind'], string>>;

const SUBMISSION: FailureMessages = {
  refused: 'A2A submission rejected',
  unreachable: 'failed to submit A2A task',
  unreadable: 'failed to decode A2A submission',
};

const OBSERVATION: FailureMessages = {
  refused: 'A2A task rejected',
  unreachable: 'failed to fetch A2A task',
  unreadable: 'failed to decode A2A task',
};

const explain =
  (messages: FailureMessages) =>
  (error: unknown): never => {
    if (!(error instanceof RemoteFailure)) throw error;
    throw new Error(`${messages[error.kind]}: ${error.message}`, { cause: error });
  };

const within = (signal: AbortSignal | undefined, ms: number): AbortSignal =>
  AbortSignal.any([...(signal ? [signal] : []), AbortSignal.timeout(timerMs(ms))]);

/** Also aborts after a time without activity. */
const createIdle = (signal: AbortSignal, ms: number) => {
  const silent = new AbortController();
  const timer = setTimeout(() => silent.abort(), timerMs(ms));
  return {
    signal: AbortSignal.any([signal, silent.signal]),
    touch: () => void timer.refresh(),
    end() {
      clearTimeout(timer);
      // Cancels the unread rest of the stream.
      silent.abort();
    },
  };
};
