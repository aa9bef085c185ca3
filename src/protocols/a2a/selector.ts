import { isObject } from '../../schema/endpoint.ts';

/** The agent that a body names, by the first of its three names that is there (a2a.md 3.4 rule 5); blank is absent. */
export const selectorOf = (body: unknown): string | undefined => {
  if (!isObject(body)) return undefined;
  return [body.tenant, body.agentId, body.agent_id]
    .map((name) => (typeof name === 'string' ? name.trim() : ''))
    .find((name) => name !== '');
};
