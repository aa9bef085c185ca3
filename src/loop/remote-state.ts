import { z } from 'zod';
import { isInterrupted, isTerminal, TASK_STATES } from '../../machines/a2a-task.ts';
import type { StateSnapshot } from '../schema/run.ts';
import type { RemoteOutcome, RemoteOutput, RemoteTask } from '../tools/remote-agent.ts';
import { defineState, update } from '../tools/state.ts';
import type { Turn } from './turn.ts';

/**
 * The stored state of the remote tasks of a run (a2a.md 12.7), by the key of the remote agent. It is written before a
 * task is followed, so that another process can continue to follow it.
 */

const KEY = '__runtime_remote_backend';

/** The remote service answered with a message, without a task. */
const ANSWERED = 'DIRECT_MESSAGE';

const Handle = z.object({
  version: z.literal(1),
  task_id: z.string().min(1),
  context_id: z.string().optional(),
  last_state: z.enum([...TASK_STATES, ANSWERED]),
  updated_at_ms: z.int(),
});
export type Handle = z.infer<typeof Handle>;

const Handles = z.object({ version: z.literal(1), targets: z.record(z.string(), Handle) });

const handles = defineState({ key: KEY, scope: 'run', schema: Handles });

const lastOutput = defineState({
  key: '__runtime_backend_output',
  scope: 'run',
  schema: z.custom<RemoteOutput>(),
});

/** Number of the run's user messages that were sent; later ones are new. */
const sentMessages = defineState({
  key: '__runtime.remote_said',
  scope: 'run',
  hidden: true,
  schema: z.int(),
});

/**
 * The message to send next, and the number of user messages that it includes. It is durable before it is sent: after a
 * crash the same text is sent under the same id, regardless of input that arrived since.
 */
const intent = defineState({
  key: '__runtime.remote_intent',
  scope: 'run',
  hidden: true,
  schema: z.object({ message_id: z.string(), until: z.int() }),
});

export type Intent = z.infer<typeof intent.schema>;

/** The conversation of the thread with each remote agent, for later runs. */
const contexts = defineState({
  key: '__runtime.remote_contexts',
  scope: 'thread',
  hidden: true,
  schema: z.record(z.string(), z.string()),
});

export const needsInput = ({ last_state }: Handle): boolean =>
  last_state !== ANSWERED && isInterrupted(last_state);

export const isOpen = ({ last_state }: Handle): boolean => last_state !== ANSWERED && !isTerminal(last_state);

/** Whether the task is working, as far as known, and must be followed. */
export const isWorking = (handle: Handle): boolean => isOpen(handle) && !needsInput(handle);

/** @throws Error when the state of the run cannot be parsed */
export const findHandle = (turn: Turn, key: string): Handle | undefined => {
  const stored = turn.state.view().get(handles);
  if (stored === undefined) return undefined;
  const parsed = Handles.safeParse(stored);
  if (parsed.success) return parsed.data.targets[key];
  throw new Error(`corrupt A2A persisted remote state at ${KEY}: ${z.prettifyError(parsed.error)}`);
};

/** Returns the open tasks of a stored run; none if the state cannot be parsed. */
export const openTasksIn = (state: StateSnapshot | null): { key: string; task_id: string }[] => {
  const stored = state?.extensions[KEY];
  if (stored === undefined) return [];
  const { targets = {} } = Handles.safeParse(stored).data ?? {};
  return Object.entries(targets).flatMap(([key, handle]) =>
    isOpen(handle) ? [{ key, task_id: handle.task_id }] : [],
  );
};

export const noteTask = (
  turn: Turn,
  key: string,
  { task_id, context_id }: RemoteTask,
  last_state: Handle['last_state'],
): void => {
  const before = turn.state.view().get(handles)?.targets ?? {};
  const handle: Handle = {
    version: 1,
    task_id,
    ...(context_id !== undefined && { context_id }),
    last_state,
    updated_at_ms: turn.clock.now(),
  };
  turn.state.apply([update(handles, { version: 1, targets: { ...before, [key]: handle } })]);
  noteContext(turn, key, context_id);
};

export const noteContext = (turn: Turn, key: string, context_id: string | undefined): void => {
  const known = turn.state.view().get(contexts) ?? {};
  if (context_id !== undefined && known[key] !== context_id)
    turn.state.apply([update(contexts, { ...known, [key]: context_id })]);
};

/** The context of the run, or else of an earlier conversation of the thread with the agent. */
export const findContext = (turn: Turn, key: string): string | undefined =>
  findHandle(turn, key)?.context_id ?? turn.state.view().get(contexts)?.[key];

export const noteOutput = (turn: Turn, { output }: RemoteOutcome): void =>
  turn.state.apply([update(lastOutput, output)]);

/** Returns the intent of a message whose acceptance is unknown. */
export const findIntent = (turn: Turn): Intent | undefined => {
  const known = turn.state.view().get(intent);
  return known && known.until > sentBefore(turn) ? known : undefined;
};

export const noteIntent = (turn: Turn, next: Intent): void => turn.state.apply([update(intent, next)]);

export const sentBefore = (turn: Turn): number => turn.state.view().get(sentMessages) ?? 0;

export const noteSent = (turn: Turn, messages: number): void => {
  if (messages !== sentBefore(turn)) turn.state.apply([update(sentMessages, messages)]);
};
