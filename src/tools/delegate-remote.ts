import { z } from 'zod';
import type { Resume } from '../schema/activation.ts';
import type { Delegate, DelegateOutcome } from './delegate.ts';
import type { RemoteAgent, RemoteOutcome, RemoteTask, RemoteTurn } from './remote-agent.ts';
import { type ToolContext, ToolError } from './tool.ts';

/**
 * A delegate in another service (a2a.md 12.10, 14): there is no local run, and only the ids of the task are stored:
 * with the call while the task is working, and with its ticket while it waits.
 *
 * Guarantees: a cancelled call, or one whose ticket is no longer valid, leaves no remote task running. After a crash or
 * a stop of the process, the next process follows the task and submits nothing again.
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

/** The text for a task that requires input, if the decision contains one. */
const textIn = (payload: Resume['result']): string | undefined => {
  const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  const text = isObject ? payload.text : payload;
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
};

type Prompt = Partial<RemoteTask> & { message_id: string; text: string };

/** A task that the call already started is followed, and nothing is submitted. */
const openingOf = ({ kept }: ToolContext, { text, ...say }: Prompt): Pick<RemoteTurn, 'follow' | 'say'> => {
  const task = Task.safeParse(kept).data;
  return task ? { follow: withoutAbsent(task) } : { say: { ...say, content: [{ type: 'text', text }] } };
};

const converse = async (
  remote: RemoteAgent,
  context: ToolContext,
  message: Prompt,
): Promise<DelegateOutcome> => {
  const { scope, run_id, call_id, signal, keep, isLetGo } = context;
  const stop = new AbortController();
  const leave = new AbortController();
  const opening = openingOf(context, message);
  let task: RemoteTask | undefined = opening.follow;
  let isKept = task !== undefined;
  // Only a task whose ids are stored can be continued by the next process.
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
    // The model reads the error message only.
    throw new ToolError('execution_failed', `remote error: ${reason}`, { output: { data: null } });
  } finally {
    signal.removeEventListener('abort', cutOff);
  }
};

const outcomeOf = (outcome: RemoteOutcome, call_id: string): DelegateOutcome => {
  const { text: response, output } = outcome;
  const common = { child_run_id: undefined, response, output, steps: 1 };
  switch (outcome.status) {
    case 'completed':
    case 'cancelled':
    case 'timeout':
      return { ...common, status: outcome.status };
    case 'rejected':
    case 'failed':
      return { ...common, status: 'failed', reason: outcome.reason };
    case 'input_required':
    case 'auth_required': {
      const { status: needs, reason: message, task } = outcome;
      const ticket = { id: `${TICKET}${call_id}`, ...(task && { resume_with: { ...task } }) };
      return { ...common, status: 'waiting', needs, message, ticket };
    }
  }
};
