import { z } from 'zod';
import type { AgentSpec } from '../schema/agent.ts';
import type { Ticket } from '../schema/run-event.ts';
import type { SubAgentOutcome, SubAgents } from './sub-agent.ts';
import { defineTool, type Tool, type ToolContext, ToolError, type ToolProgress } from './tool.ts';

/**
 * Tools that hand a task to another agent (agent-loop.md 15.1).
 *
 * Guarantees: a call leads to one run of the delegate. While that run waits, the call waits behind a ticket that
 * names it, and what is decided on the ticket goes to the same run. Relies on the loop leading a decision on the
 * ticket back into the tool (`resumesItself`), and on the runtime for the end of a run whose call is given up.
 */

/** A missing prompt is answered like a blank one. */
const Prompt = z.preprocess(
  (args) => (typeof args === 'object' ? { prompt: '', ...args } : args),
  z.object({
    prompt: z
      .string()
      .refine((prompt) => prompt.trim() !== '', 'prompt must not be empty')
      .meta({ description: 'the task, with everything that the agent must know' }),
  }),
);

const TICKET = 'delegate_run:';

export const createDelegateTool = (
  delegate: Pick<AgentSpec, 'id' | 'description' | 'system_prompt'>,
  subAgents: SubAgents,
): Tool => ({
  ...defineTool({
    id: `agent_run_${delegate.id}`,
    name: `agent_run_${delegate.id}`,
    description: descriptionOf(delegate),
    category: 'delegation',
    input: Prompt,
    async execute({ prompt }, context) {
      const { id } = delegate;
      context.progress({ status: 'running', message: `delegating to ${id}` });
      const outcome = await follow(id, prompt, context, subAgents);
      const { progress, label, message } = tellOf(outcome, `delegation to ${id}`);
      context.progress({ status: progress, message });
      if (outcome.status === 'waiting') return { suspend: ticketOf(id, prompt, label, outcome, context) };
      const { child_run_id, response, steps } = outcome;
      const output = {
        data: { agent_id: id, status: label, response, steps },
        ...(child_run_id !== undefined && { metadata: { child_run_id } }),
      };
      if (outcome.status === 'completed') return output;
      throw new ToolError(progress === 'cancelled' ? 'cancelled' : 'execution_failed', message, { output });
    },
  }),
  resumesItself: true,
  delegatesTo: delegate.id,
});

const descriptionOf = ({
  id,
  description,
  system_prompt,
}: Parameters<typeof createDelegateTool>[0]): string => {
  const given = description?.trim();
  if (given) return given;
  const line = system_prompt
    .split('\n')
    .map((each) => each.trim())
    .find((each) => each !== '');
  return line === undefined ? id : Array.from(line).slice(0, 100).join('');
};

/** A ticket of another kind, as one for a permission, came before the child was there. */
const follow = (
  agent: string,
  prompt: string,
  context: ToolContext,
  subAgents: SubAgents,
): Promise<SubAgentOutcome> => {
  const { scope, run_id, thread_id, call_id, signal, decision, ticket_id = '' } = context;
  const call = { scope, run_id, thread_id, call_id, signal, onEvent: relayTo(context) };
  return decision && ticket_id.startsWith(TICKET)
    ? subAgents.proceed({ ...call, child_run_id: ticket_id.slice(TICKET.length), decision })
    : subAgents.start({ ...call, agent, prompt });
};

/** Progress of the child's own tools; what its children reported stays with it. */
const relayTo =
  ({ relay }: ToolContext): Parameters<SubAgents['start']>[0]['onEvent'] =>
  (event) => {
    if (event.event_type !== 'activity_snapshot' || event.activity_type !== 'tool-call-progress') return;
    const { content } = event;
    if (typeof content !== 'object' || content === null || Array.isArray(content)) return;
    if (!('parent_call_id' in content)) relay(event.message_id, content);
  };

type Told = {
  progress: ToolProgress['status'];
  /** `status` in the data. */
  label: string;
  message: string;
};

const WAITS = {
  input_required: { label: 'waiting_input', said: 'waiting for input', nothing: 'input required' },
  auth_required: { label: 'waiting_auth', said: 'waiting for auth', nothing: 'auth required' },
  suspended: { label: 'suspended', said: 'suspended', nothing: 'suspended' },
} as const;

type Waiting = Extract<SubAgentOutcome, { status: 'waiting' }>;

const waitedFor = ({ needs, message }: Waiting): string => message || WAITS[needs].nothing;

const tellOf = (outcome: SubAgentOutcome, delegation: string): Told => {
  switch (outcome.status) {
    case 'completed':
      return { progress: 'done', label: 'completed', message: `${delegation} completed` };
    case 'cancelled':
      return { progress: 'cancelled', label: 'cancelled', message: `${delegation} cancelled` };
    case 'failed': {
      const label = `failed: ${outcome.reason}`;
      return { progress: 'failed', label, message: `${delegation} ${label}` };
    }
    case 'waiting': {
      const { label, said } = WAITS[outcome.needs];
      const what = waitedFor(outcome);
      return {
        progress: 'pending',
        label: label === 'suspended' ? label : `${label}: ${what}`,
        message: `${delegation} ${said}: ${what}`,
      };
    }
  }
};

const ticketOf = (
  agent_id: string,
  prompt: string,
  backend_status: string,
  outcome: Waiting,
  { call_id }: ToolContext,
): Ticket => ({
  suspension: {
    id: `${TICKET}${outcome.child_run_id}`,
    action: `agent_delegate:${outcome.needs}`,
    message: waitedFor(outcome),
    parameters: {
      agent_id,
      backend_status,
      child_run_id: outcome.child_run_id ?? null,
      tool_call_id: call_id,
    },
  },
  pending: { id: call_id, name: `agent_run_${agent_id}`, arguments: { prompt } },
  resume_mode: 'use_decision_as_tool_result',
});
