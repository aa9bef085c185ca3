import { anything, type Guarded, list, object, optional, text, withDefault } from '../../data/guard.ts';
import type { Meta, SourceState } from '../../data/meta.ts';
import { sourceState } from '../../data/meta.ts';
import type { AgentStats } from '../../data/resources.ts';
import { isTestAgent } from '../../data/test-agents.ts';
import { instantOf } from '../../i18n/format.ts';

export const AgentRecord = object({
  id: text,
  description: optional(text),
  model_id: optional(text),
  plugin_ids: withDefault(list(text), []),
  endpoint: anything,
});
export type AgentRecord = Guarded<typeof AgentRecord>;

export type AgentRow = {
  id: string;
  description: string;
  model: string;
  isDangling: boolean;
  plugins: readonly string[];
  isRemote: boolean;
  /** In milliseconds. */
  modified: number | undefined;
  actor: string | undefined;
  source: SourceState | undefined;
  /** A demo agent that exists for tests. */
  isTest: boolean;
  stats: AgentStats | undefined;
};

export const rowOf = (
  agent: AgentRecord,
  known: {
    meta: ReadonlyMap<string, Meta> | undefined;
    stats: readonly AgentStats[] | undefined;
    /** Undefined while unknown; no model is reported as missing then. */
    models: ReadonlySet<string> | undefined;
  },
): AgentRow => {
  const meta = known.meta?.get(agent.id);
  const model = agent.model_id ?? '';
  const isRemote = typeof agent.endpoint === 'object' && agent.endpoint !== null;
  return {
    id: agent.id,
    description: agent.description ?? '',
    model,
    isDangling: model !== '' && !isRemote && known.models !== undefined && !known.models.has(model),
    plugins: agent.plugin_ids,
    isRemote,
    modified: instantOf(meta?.updated_at),
    actor: meta?.actor,
    source: sourceState(meta),
    isTest: isTestAgent(agent.id, meta),
    stats: known.stats?.find(({ agent_id }) => agent_id === agent.id),
  };
};

/** Milliseconds by the option of the filter. */
export const WITHIN: Readonly<Record<string, number>> = {
  '1h': 3_600_000,
  '24h': 86_400_000,
  '7d': 7 * 86_400_000,
  '30d': 30 * 86_400_000,
};

export type AgentFilter = {
  model?: string | undefined;
  plugin?: string | undefined;
  modified?: string | undefined;
};

export const filtered = (rows: readonly AgentRow[], filter: AgentFilter, now: number): AgentRow[] => {
  const span = WITHIN[filter.modified ?? ''];
  return rows.filter(
    (row) =>
      (!filter.model || row.model === filter.model) &&
      (!filter.plugin || row.plugins.includes(filter.plugin)) &&
      (span === undefined || (row.modified !== undefined && row.modified >= now - span)),
  );
};
