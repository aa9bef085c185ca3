/**
 * Demo agents that exist for tests and measurements rather than for users: each shows one limit, failure or load. The
 * console lists them only on request.
 */
export const TEST_AGENTS = [
  'bench',
  'bench-paced',
  'budget',
  'compact',
  'json-render-ui',
  'limited',
  'openui-ui',
  'phases',
  'stopper',
] as const;
