import { z } from 'zod';
import type { AgentSpec } from '../schema/agent.ts';
import { MOST_PARTS, type PartBlock } from '../schema/answer-part.ts';
import type { InputBlock } from '../schema/message.ts';
import type { TicketBelow } from '../schema/run.ts';
import type { Ticket } from '../schema/run-event.ts';
import { defineTool } from './define-tool.ts';
import type { RemoteOutput } from './remote-agent.ts';
import {
  type Json,
  type Tool,
  type ToolContext,
  ToolError,
  type ToolOutput,
  type ToolProgress,
} from './tool.ts';

/**
 * Tools that delegate a task to another agent (agent-loop.md 15.1). `delegate-local.ts` and `delegate-remote.ts` follow
 * the task.
 *
 * Guarantees: a call creates one task of the delegate. While the task waits, the call is suspended with a ticket that
 * names the task, and a decision on the ticket is passed to the same task. Relies on the loop passing decisions on the
 * ticket back into the tool (`resumesItself`).
 */

/** Follows the task of a call until it is done or waits. */
export type Delegate = {
  /** @throws ToolError if no task can be started */
  start(prompt: string, context: ToolContext): Promise<DelegateOutcome>;
  /**
   * Continues after a decision on a ticket of the delegate. Returns undefined for other tickets; no task was started
   * then.
   */
  proceed(context: ToolContext): Promise<DelegateOutcome | Settled> | undefined;
  giveUp?: Tool['giveUp'];
};

/** The decision is the result, and the task is not continued. */
export type Settled = { status: 'settled'; data: Json };

export type DelegateOutcome = {
  /** Undefined if the delegate has no local run. */
  child_run_id: string | undefined;
  response: string;
  /** Files in addition to the response; those of a remote delegate are in its output. */
  files?: readonly PartBlock[];
  steps: number;
  output?: RemoteOutput;
} & ({ status: 'completed' | 'cancelled' | 'timeout' } | { status: 'failed'; reason: string } | Waiting);

type Waiting = {
  status: 'waiting';
  needs: 'input_required' | 'auth_required' | 'budget_exceeded' | 'suspended';
  message?: string;
  ticket: { id: string; resume_with?: Json };
  /** Only for local delegates. */
  tickets?: readonly TicketBelow[];
};

/** A missing prompt gets the same error as a blank one. */
const Prompt = z.preprocess(
  (args) => (typeof args === 'object' ? { prompt: '', ...args } : args),
  z.object({
    prompt: z
      .string()
      .refine((prompt) => prompt.trim() !== '', 'prompt must not be empty')
      .meta({ description: 'the task, with everything that the agent must know' }),
  }),
);

type Described = Pick<AgentSpec, 'id' | 'description' | 'system_prompt'>;

export const createDelegateTool = (agent: Described, delegate: Delegate): Tool => ({
  ...defineTool({
    id: `agent_run_${agent.id}`,
    name: `agent_run_${agent.id}`,
    description: descriptionOf(agent),
    category: 'delegation',
    needsRun: `it starts a run of agent '${agent.id}'`,
    input: Prompt,
    async execute({ prompt }, context) {
      const { id } = agent;
      context.progress({ status: 'running', message: `delegating to ${id}` });
      const outcome = await follow(delegate, prompt, context);
      if (outcome.status === 'settled') return { data: outcome.data };
      const { progress, label, message } = progressOf(outcome, `delegation to ${id}`);
      context.progress({ status: progress, message });
      if (outcome.status === 'waiting') return { suspend: ticketOf(id, prompt, label, outcome, context) };
      const output = outputOf(id, label, outcome);
      if (outcome.status === 'completed') return output;
      throw new ToolError(progress === 'cancelled' ? 'cancelled' : 'execution_failed', message, { output });
    },
  }),
  resumesItself: true,
  delegatesTo: agent.id,
  ...(delegate.giveUp && { giveUp: delegate.giveUp }),
});

const descriptionOf = ({ id, description, system_prompt }: Described): string => {
  const given = description?.trim();
  if (given) return given;
  const line = system_prompt
    .split('\n')
    .map((each) => each.trim())
    .find((each) => each !== '');
  return line === undefined ? id : Array.from(line).slice(0, 100).join('');
};

/**
 * `proceed` returns undefined if the decision was on another ticket, such as a permission; the delegate was not started
 * then.
 */
const follow = async (
  delegate: Delegate,
  prompt: string,
  context: ToolContext,
): Promise<DelegateOutcome | Settled> => {
  try {
    return await (delegate.proceed(context) ?? delegate.start(prompt, context));
  } catch (error) {
    if (error instanceof ToolError) context.progress({ status: 'failed', message: error.message });
    throw error;
  }
};

const outputOf = (
  agent_id: string,
  status: string,
  { child_run_id, response, files = [], output, steps }: DelegateOutcome,
): ToolOutput => {
  const data = { agent_id, status, response, ...(output && { output: jsonOf(output) }), steps };
  return {
    data,
    ...(files.length > 0 && { content: withFiles(data, files) }),
    ...(child_run_id !== undefined && { metadata: { child_run_id } }),
  };
};

/** Limits the files to the number of blocks that content may have. */
const withFiles = (data: Json, files: readonly PartBlock[]): InputBlock[] => [
  { type: 'text', text: JSON.stringify(data) },
  ...files.slice(0, MOST_PARTS - 1),
];

const jsonOf = ({ text, artifacts, raw, structured }: RemoteOutput) => ({
  ...(text !== undefined && { text }),
  ...(artifacts && { artifacts: artifacts.map((artifact) => ({ ...artifact })) }),
  ...(raw !== undefined && { raw }),
  ...(structured !== undefined && { structured }),
});

type DelegationProgress = {
  progress: ToolProgress['status'];
  /** Value of `status` in the data. */
  label: string;
  message: string;
};

const WAITS = {
  input_required: { label: 'waiting_input', phrase: 'waiting for input', nothing: 'input required' },
  auth_required: { label: 'waiting_auth', phrase: 'waiting for auth', nothing: 'auth required' },
  budget_exceeded: { label: 'waiting_budget', phrase: 'waiting for a budget', nothing: 'budget exhausted' },
  suspended: { label: 'suspended', phrase: 'suspended', nothing: 'suspended' },
} as const;

const waitedFor = ({ needs, message }: Pick<Waiting, 'needs' | 'message'>): string =>
  message || WAITS[needs].nothing;

const progressOf = (outcome: DelegateOutcome, delegation: string): DelegationProgress => {
  switch (outcome.status) {
    case 'completed':
      return { progress: 'done', label: 'completed', message: `${delegation} completed` };
    case 'cancelled':
      return { progress: 'cancelled', label: 'cancelled', message: `${delegation} cancelled` };
    case 'timeout':
      return { progress: 'failed', label: 'timeout', message: `${delegation} timed out` };
    case 'failed': {
      const label = `failed: ${outcome.reason}`;
      return { progress: 'failed', label, message: `${delegation} ${label}` };
    }
    case 'waiting': {
      const { label, phrase } = WAITS[outcome.needs];
      const what = waitedFor(outcome);
      return {
        progress: 'pending',
        label: label === 'suspended' ? label : `${label}: ${what}`,
        message: `${delegation} ${phrase}: ${what}`,
      };
    }
  }
};

const ticketOf = (
  agent_id: string,
  prompt: string,
  backend_status: string,
  { child_run_id, ticket, tickets = [], ...waiting }: Extract<DelegateOutcome, Waiting>,
  { call_id }: ToolContext,
): Ticket => ({
  suspension: {
    id: ticket.id,
    action: `agent_delegate:${waiting.needs}`,
    message: waitedFor(waiting),
    parameters: { agent_id, backend_status, child_run_id: child_run_id ?? null, tool_call_id: call_id },
  },
  pending: { id: call_id, name: `agent_run_${agent_id}`, arguments: { prompt } },
  resume_mode: 'use_decision_as_tool_result',
  ...(tickets.length > 0 && { tickets: [...tickets] }),
  ...(ticket.resume_with !== undefined && { resume_with: ticket.resume_with }),
});
