import type { DeferredTools, DiscBeta } from './section.ts';
import type { Belief, Beliefs, UsageStats } from './state.ts';

/**
 * Models how often a tool is used as a discounted Beta distribution: a tool starts with `n0` virtual turns at its prior
 * rate; each turn adds one observation (used or not) and discounts earlier ones by `omega`.
 *
 * Idle turns are not stored: their effect has a closed form, so only a use writes state.
 */

const UNKNOWN_TOOL_PRIOR = 0.01;

type Model = Pick<DeferredTools, 'agent_priors' | 'disc_beta'>;

/** Expected share of turns that use the tool, at the end of `turn`. */
export const usageRate = (model: Model, beliefs: Beliefs, id: string, turn: number): number => {
  const { alpha, beta } = beliefAt(model, beliefs, id, turn);
  return alpha / (alpha + beta);
};

/**
 * A visible tool costs its schema in each request; a deferred tool costs a search whenever it is used. The costs are
 * equal at the rate `saving / gamma`.
 */
export const breakEvenRate = ({ gamma }: DiscBeta, saving: number): number => saving / gamma;

/** Records one more turn in which the tools of `used` were called. */
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
  // Each idle turn adds one to beta, discounted by the turns after it: 1 + omega + omega² + …
  const added = omega === 1 ? idle : -Math.expm1(idle * Math.log(omega)) / (1 - omega);
  return { alpha: alpha * kept, beta: beta * kept + added, turn };
};

const priorOf = ({ agent_priors, disc_beta: { n0 } }: Model, id: string): Belief => {
  const prior = (Object.hasOwn(agent_priors, id) ? agent_priors[id] : undefined) ?? UNKNOWN_TOOL_PRIOR;
  return { alpha: n0 * prior, beta: n0 * (1 - prior), turn: 0 };
};
