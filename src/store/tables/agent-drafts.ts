import type { JsonObject } from '../../schema/endpoint.ts';
import type { Batch } from '../engine/batch.ts';
import type { Environment } from '../engine/environment.ts';
import { checkId, isId } from '../engine/keys.ts';
import { createSealedTable, type SealOlder } from '../engine/sealed-table.ts';
import type { Cipher } from '../engine/secrets-cipher.ts';

/** Agents that are saved and not published (config.md 8.2), at most one of each id; sealed like the configuration. */

export type AgentDraftTable = {
  get(agentId: string): JsonObject | undefined;
  has(agentId: string): boolean;
  put(batch: Batch, agentId: string, spec: JsonObject): void;
  remove(batch: Batch, agentId: string): void;
};

export const createAgentDraftTable = (
  env: Environment,
  cipher: Cipher,
): { table: AgentDraftTable; sealOlder: SealOlder } => {
  const rows = createSealedTable<{ id: string }, { spec: JsonObject }>(env, 'agent_drafts', cipher);
  const table: AgentDraftTable = {
    get: (id) => (isId(id) ? rows.get([id])?.spec : undefined),
    has: (id) => isId(id) && rows.has([id]),
    put(batch, id, spec) {
      checkId('agent id', id);
      rows.put(batch, [id], { id }, { spec });
    },
    remove: (batch, id) => rows.remove(batch, [id]),
  };
  return { table, sealOlder: rows.sealOlder };
};
