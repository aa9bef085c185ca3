import { isObject } from '../../schema/endpoint.ts';

/**
 * Returns the agent that a body names, by the first present one of its three keys (a2a.md 3.4 rule 5); blank means
 * absent.
 */
export const findSelector = (body: unknown): string | undefined => {
  if (!isObject(body)) return undefined;
  return [body.tenant, body.agentId, body.agent_id]
    .map((name) => (typeof name === 'string' ? name.trim() : ''))
    .find((name) => name !== '');
};
