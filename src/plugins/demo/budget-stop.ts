import { definePlugin } from '../define.ts';

/** A budget for demo agents (agent-loop.md 18.3), in the format of `stop_conditions` in a spec (1.4). */
export const BUDGET_STOP_CONDITIONS = [
  { type: 'token_budget', max_total: 50_000 },
  { type: 'timeout', seconds: 60 },
  { type: 'consecutive_errors', max: 3 },
] as const;

export const budgetStopPlugin = definePlugin({
  id: 'budget-stop',
  create: () => ({ stop_conditions: BUDGET_STOP_CONDITIONS }),
});
