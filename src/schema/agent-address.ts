import { Invalid } from './outcome.ts';

/**
 * The name of an agent in a request for a run: `support` is its live entry, `support@9` a published version, and
 * `support@draft` its draft (config.md 8.1). The id of an agent may have the form of an address; it takes precedence.
 */

export type AgentAddress = { agent_id: string; version: number | 'draft' };

const ADDRESS = /^(.+)@(?:(draft)|([1-9]\d{0,8}))$/s;

/** Returns undefined for a plain id. */
export const addressOf = (name: string): AgentAddress | undefined => {
  if (!name.includes('@')) return undefined;
  const [, agent_id, draft, version] = ADDRESS.exec(name) ?? [];
  if (agent_id === undefined) return undefined;
  return { agent_id, version: draft === undefined ? Number(version) : 'draft' };
};

/** No version or draft has the address, or the caller may not use it. */
export class UnknownAddress extends Invalid {
  constructor(address: AgentAddress) {
    super(`agent not found: ${addressText(address)}`);
  }
}

export const addressText = ({ agent_id, version }: AgentAddress): string => `${agent_id}@${version}`;
