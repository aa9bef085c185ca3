import { z } from 'zod';
import type { Resume } from '../schema/run.ts';
import type { Delegate, DelegateOutcome } from './delegate.ts';
import type { RemoteAgent, RemoteOutcome, RemoteTask, RemoteTurn } from './remote-agent.ts';
import { type ToolContext, ToolError } from './tool.ts';

/**
 * A delegate that another service runs (a2a.md 12.10, 14): no run here, and nothing is stored but the ids of the task,
 * with the call while it is at work, and with its ticket while it waits.
 *
 * Guarantees: a call that is cut off, or whose ticket leads nowhere any more, leaves no task behind. When the process
 * dies or stops, the next one follows the task on and submits nothing a second time.
 */

const TICKET = 'delegate_tool:';

const Task = z.object({ task_id: z.string(), context_id: z.string().optional() });

export const remoteDelegate = (remote: RemoteAgent): Delegate => ({
  start: (prompt, context) =>
    converse(remote, context, { message_id: `${context.run_id}-${context.call_id}`, text: prompt.trim() }),
  proceed(context) {
    const { decision, ticket_id, resume_with } = context;
    const task = Task.safeParse(resume_with).data;
    if (!decision || !ticket_id?.startsWith(TICKET) || !task) return undefined;
    const text = textIn(decision.result);
    if (text !== undefined) {
      const message_id = `${context.run_id}-${decision.decision_id}`;
      return converse(remote, context, { ...withoutAbsent(task), message_id, text });
    }
    void remote.cancel(task.task_id);
    return Promise.resolve({ status: 'settled', data: decision.result });
  },
  giveUp(resume_with) {
    const task = Task.safeParse(resume_with).data;
    if (task) void remote.cancel(task.task_id);
  },
});

const withoutAbsent = ({ task_id, context_id }: z.infer<typeof Task>): RemoteTask => ({
  task_id,
  ...(context_id !== undefined && { context_id }),
});

/** The answer to a task that asks, if the decision has one. */
const textIn = (payload: Resume['result']): string | undefined => {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  const text = isObject ? payload.text : payload;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
};

type Said = Partial<RemoteTask> & { message_id: string; text: string };

/** A task that the call is at already is followed on, whatever was to be said. */
const openingOf = ({ kept }: ToolContext, { text, ...say }: Said): Pick<RemoteTurn, 'follow' | 'say'> => {
  const task = Task.safeParse(kept).data;
  return task ? { follow: withoutAbsent(task) } : { say: { ...say, content: [{ type: 'text', text }] } };
};

const converse = async (remote: RemoteAgent, context: ToolContext, said: Said): Promise<DelegateOutcome> => {
  const { scope, run_id, call_id, signal, keep, isLetGo } = context;
  const stop = new AbortController();
  const leave = new AbortController();
  const opening = openingOf(context, said);
  let task: RemoteTask | undefined = opening.follow;
  let isKept = task !== undefined;
  // Only a task that is known to the next process may be left to it.
  const cutOff = (): void => (isLetGo() && isKept ? leave : stop).abort();
  if (signal.aborted) cutOff();
  signal.addEventListener('abort', cutOff, { once: true });
  const turn: RemoteTurn = {
    run: { scope, id: run_id },
    trace: context.trace,
    ...opening,
    async onSubmitted(submitted) {
      task = submitted;
      await keep({ ...submitted });
      isKept = true;
    },
    onSnapshot() {},
    onText() {},
    signal: stop.signal,
    leave: leave.signal,
  };
  try {
    return outcomeOf(await remote.converse(turn), call_id);
  } catch (error) {
    if (task && !leave.signal.aborted) void remote.cancel(task.task_id);
    const reason = error instanceof Error ? error.message : String(error);
    // What a model reads is the sentence alone.
    throw new ToolError('execution_failed', `remote error: ${reason}`, { output: { data: null } });
  } finally {
    signal.removeEventListener('abort', cutOff);
  }
};

const outcomeOf = (outcome: RemoteOutcome, call_id: string): DelegateOutcome => {
  const { text: response, output } = outcome;
  const told = { child_run_id: undefined, response, output, steps: 1 };
  switch (outcome.status) {
    case 'completed':
    case 'cancelled':
    case 'timeout':
      return { ...told, status: outcome.status };
    case 'rejected':
    case 'failed':
      return { ...told, status: 'failed', reason: outcome.reason };
    case 'input_required':
    case 'auth_required': {
      const { status: needs, reason: message, task } = outcome;
      const ticket = { id: `${TICKET}${call_id}`, ...(task && { resume_with: { ...task } }) };
      return { ...told, status: 'waiting', needs, message, ticket };
    }
  }
};
