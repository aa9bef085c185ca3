import { z } from 'zod';
import { defineState, update } from '../tools/state.ts';
import type { Turn } from './turn.ts';

/**
 * Another agent takes over the run at a step boundary (agent-loop.md 15.3). A plugin requests it through the state; the
 * thread stores the active agent, so that the next run starts with that agent.
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

/** A run that was started with another agent makes that agent the active one. */
export const noteActive = (turn: Turn): void => {
  const { id } = turn.agent.spec;
  const active = turn.state.view().get(activeAgent);
  if (active !== undefined && active !== id) turn.state.apply([update(activeAgent, id)]);
};

/** Returns why the hand-over failed, if it did. */
export const handOver = (turn: Turn): string | undefined => {
  const requested = turn.state.view().get(agentHandoff)?.requested_agent;
  if (requested === undefined || requested === turn.agent.spec.id) return undefined;
  const from = turn.agent.spec.id;
  const { agent } = turn;
  try {
    turn.agent = turn.resolveAgent(requested);
  } catch (error) {
    // The request is removed, so that the next run of the thread does not fail with it again.
    turn.state.apply([update(agentHandoff, { active_agent: from })]);
    return `handoff resolve failed: ${error instanceof Error ? error.message : String(error)}`;
  }
  turn.observe.agents.handoff(from);
  turn.trace ??= turn.traceFor(turn.agent);
  turn.trace?.note(agent, { type: 'handoff', to: requested });
  turn.state.apply([update(agentHandoff, { active_agent: requested }), update(activeAgent, requested)]);
  return undefined;
};
