import { useResource } from '../data/queries.ts';
import { capabilities } from '../data/resources.ts';

/** The agent that the service starts with, or its first one. */
export const useDemoAgent = (): string => {
  const agents = useResource(capabilities).data?.agents ?? [];
  return agents.includes('default') ? 'default' : (agents[0] ?? 'default');
};
