import { z } from 'zod';
import { defineState, update } from '../tools/state.ts';
import type { Turn } from './turn.ts';

/**
 * Another agent takes over the run at a step boundary (agent-loop.md 15.3). A plugin asks for it through the state;
 * the thread remembers who is active, so that the next run begins with that agent.
 */

export const agentHandoff = defineState({
  key: 'agent_handoff',
  scope: 'thread',
  schema: z.object({ active_agent: z.string().optional(), requested_agent: z.string().optional() }),
});

export const activeAgent = defineState({
  key: '__runtime.active_agent',
  scope: 'thread',
  schema: z.string(),
});

/** A run that was started with another agent makes that one the active one. */
export const noteActive = (turn: Turn): void => {
  const { id } = turn.agent.spec;
  const active = turn.state.view().get(activeAgent);
  if (active !== undefined && active !== id) turn.state.apply([update(activeAgent, id)]);
};

/** Returns why it could not be done. */
export const handOver = (turn: Turn): string | undefined => {
  const requested = turn.state.view().get(agentHandoff)?.requested_agent;
  if (requested === undefined || requested === turn.agent.spec.id) return undefined;
  const from = turn.agent.spec.id;
  const { agent } = turn;
  try {
    turn.agent = turn.resolveAgent(requested);
  } catch (error) {
    // The next run of the thread begins without the request that nobody can fulfil.
    turn.state.apply([update(agentHandoff, { active_agent: from })]);
    return `handoff resolve failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  turn.observe.agents.handoff(from);
  turn.trace ??= turn.traceFor(turn.agent);
  turn.trace?.note(agent, { type: 'handoff', to: requested });
  turn.state.apply([update(agentHandoff, { active_agent: requested }), update(activeAgent, requested)]);
  return undefined;
};
