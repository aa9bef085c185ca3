import type { DeferredTools, DiscBeta } from './section.ts';
import type { Belief, Beliefs, UsageStats } from './state.ts';

/**
 * How often a tool is used, as a discounted Beta model: a tool starts with `n0` imagined turns at its prior rate;
 * each turn adds one observation (used or not), and earlier ones lose weight by `omega`.
 *
 * Idle turns are not written down: their effect has a closed form, so only a use touches the state.
 */

const UNKNOWN_TOOL_PRIOR = 0.01;

type Model = Pick<DeferredTools, 'agent_priors' | 'disc_beta'>;

/** Expected share of turns that use the tool, at the end of `turn`. */
export const usageRate = (model: Model, beliefs: Beliefs, id: string, turn: number): number => {
  const { alpha, beta } = beliefAt(model, beliefs, id, turn);
  return alpha / (alpha + beta);
};

/**
 * A tool pays for its schema in each request when it is visible, and for a search when it is used while
 * deferred: both cost the same at the rate `saving / gamma`.
 */
export const breakEvenRate = ({ gamma }: DiscBeta, saving: number): number => saving / gamma;

/** One more turn, in which these tools were called. */
export const observeTurn = (
  model: Model,
  before: { stats: UsageStats; beliefs: Beliefs },
  used: ReadonlySet<string>,
): { stats: UsageStats; beliefs: Beliefs } => {
  const turns = before.stats.turns + 1;
  const uses = { ...before.stats.uses };
  const beliefs = { ...before.beliefs };
  for (const id of used) {
    uses[id] = (uses[id] ?? 0) + 1;
    const { alpha, beta } = beliefAt(model, before.beliefs, id, turns - 1);
    beliefs[id] = {
      alpha: model.disc_beta.omega * alpha + 1,
      beta: model.disc_beta.omega * beta,
      turn: turns,
    };
  }
  return { stats: { turns, uses }, beliefs };
};

const beliefAt = (model: Model, beliefs: Beliefs, id: string, turn: number): Belief => {
  const { omega } = model.disc_beta;
  const known = Object.hasOwn(beliefs, id) ? beliefs[id] : undefined;
  const { alpha, beta, turn: since } = known ?? priorOf(model, id);
  const idle = Math.max(0, turn - since);
  const kept = omega ** idle;
  // Each idle turn adds one to beta, and all but the last have lost weight: 1 + omega + omega² + …
  const added = omega === 1 ? idle : -Math.expm1(idle * Math.log(omega)) / (1 - omega);
  return { alpha: alpha * kept, beta: beta * kept + added, turn };
};

const priorOf = ({ agent_priors, disc_beta: { n0 } }: Model, id: string): Belief => {
  const prior = (Object.hasOwn(agent_priors, id) ? agent_priors[id] : undefined) ?? UNKNOWN_TOOL_PRIOR;
  return { alpha: n0 * prior, beta: n0 * (1 - prior), turn: 0 };
};
