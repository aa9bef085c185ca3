import { z } from 'zod';
import { isInterrupted, isTerminal, TASK_STATES } from '../../machines/a2a-task.ts';
import type { StateSnapshot } from '../schema/run.ts';
import type { RemoteOutcome, RemoteOutput, RemoteTask } from '../tools/remote-agent.ts';
import { defineState, update } from '../tools/state.ts';
import type { Turn } from './turn.ts';

/**
 * What is known of the tasks of a run that other services work on (a2a.md 12.7), by the key of the remote agent. It
 * is written before anybody looks at what such a task does, so that another process can follow it on.
 */

const KEY = '__runtime_remote_backend';

/** A message answered at once, and there was no task. */
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

/** How many user messages of the run have gone out: those behind them are new. */
const said = defineState({ key: '__runtime.remote_said', scope: 'run', hidden: true, schema: z.int() });

/**
 * The message that is about to go out, and how many user messages of the run are said with it. It is durable before
 * it is sent: after a crash the same words are sent under the same id, whatever input has come meanwhile.
 */
const intent = defineState({
  key: '__runtime.remote_intent',
  scope: 'run',
  hidden: true,
  schema: z.object({ message_id: z.string(), until: z.int() }),
});

export type Intent = z.infer<typeof intent.schema>;

/** The conversation of the thread with each remote agent, for runs to come. */
const contexts = defineState({
  key: '__runtime.remote_contexts',
  scope: 'thread',
  hidden: true,
  schema: z.record(z.string(), z.string()),
});

export const asks = ({ last_state }: Handle): boolean => last_state !== ANSWERED && isInterrupted(last_state);

export const isOpen = ({ last_state }: Handle): boolean => last_state !== ANSWERED && !isTerminal(last_state);

/** It works, as far as is known, and somebody has to follow it. */
export const works = (handle: Handle): boolean => isOpen(handle) && !asks(handle);

/** @throws Error when the state of the run cannot be read */
export const handleOf = (turn: Turn, key: string): Handle | undefined => {
  const stored = turn.state.view().get(handles);
  if (stored === undefined) return undefined;
  const parsed = Handles.safeParse(stored);
  if (parsed.success) return parsed.data.targets[key];
  throw new Error(`corrupt A2A persisted remote state at ${KEY}: ${z.prettifyError(parsed.error)}`);
};

/** Tasks of a stored run that have not ended. What cannot be read names none. */
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

/** Of the run, or else of what the thread said to the agent before. */
export const contextOf = (turn: Turn, key: string): string | undefined =>
  handleOf(turn, key)?.context_id ?? turn.state.view().get(contexts)?.[key];

export const noteOutput = (turn: Turn, { output }: RemoteOutcome): void =>
  turn.state.apply([update(lastOutput, output)]);

/** Of a message whose acceptance is unknown. */
export const intentOf = (turn: Turn): Intent | undefined => {
  const known = turn.state.view().get(intent);
  return known && known.until > saidBefore(turn) ? known : undefined;
};

export const noteIntent = (turn: Turn, next: Intent): void => turn.state.apply([update(intent, next)]);

export const saidBefore = (turn: Turn): number => turn.state.view().get(said) ?? 0;

export const noteSaid = (turn: Turn, messages: number): void => {
  if (messages !== saidBefore(turn)) turn.state.apply([update(said, messages)]);
};
