import type { Delegate, DelegateOutcome } from './delegate.ts';
import type { SubAgentCall, SubAgentOutcome, SubAgents } from './sub-agent.ts';
import { delegatedRun, delegateTicketId } from './tickets.ts';
import type { ToolContext } from './tool.ts';

/** A delegate in this service: a separate run, which is named by the ticket of the waiting call. */

export const localDelegate = (agent: string, subAgents: SubAgents): Delegate => ({
  start: async (prompt, context) => outcomeOf(await subAgents.start({ ...callOf(context), agent, prompt })),
  proceed(context) {
    const { decision, ticket_id = '' } = context;
    const child_run_id = delegatedRun(ticket_id);
    if (!decision || child_run_id === undefined) return undefined;
    return subAgents.proceed({ ...callOf(context), child_run_id, decision }).then(outcomeOf);
  },
});

const callOf = (context: ToolContext): SubAgentCall => {
  const { scope, run_id, thread_id, call_id, signal, trace } = context;
  return { scope, run_id, thread_id, call_id, signal, trace, onEvent: relayTo(context) };
};

/** Relays progress of the child's own tools, but not progress that the child relayed from its children. */
const relayTo =
  ({ relay }: ToolContext): SubAgentCall['onEvent'] =>
  (event) => {
    if (event.event_type !== 'activity_snapshot' || event.activity_type !== 'tool-call-progress') return;
    const { content } = event;
    if (typeof content !== 'object' || content === null || Array.isArray(content)) return;
    if (!('parent_call_id' in content)) relay(event.message_id, content);
  };

const outcomeOf = (outcome: SubAgentOutcome): DelegateOutcome =>
  outcome.status === 'waiting'
    ? { ...outcome, ticket: { id: delegateTicketId(outcome.child_run_id ?? '') } }
    : outcome;
