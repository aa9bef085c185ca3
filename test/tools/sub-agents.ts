import type { SubAgents } from '../../src/tools/sub-agent.ts';

/** For tests that never delegate. */
export const NO_SUB_AGENTS: SubAgents = {
  start: () => Promise.reject(new Error('no sub-agent is started here')),
  proceed: () => Promise.reject(new Error('no sub-agent is started here')),
  end: () => {},
};
