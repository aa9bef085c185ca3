/** Tokens of each step of `child-budget.ts`. */
export const STEP_TOKENS = { input: 10, output: 20 };
