import { A2aServerSpec } from '../../schema/a2a-server.ts';
import { BudgetSpec } from '../../schema/budget.ts';
import type { ConfigNamespace, ConfigRecord, ConfigVersion } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import type { ServiceLog } from '../../schema/log-events.ts';
import { McpServerSpec } from '../../schema/mcp-server.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseWorded } from '../../schema/problems.ts';
import type { SourceRevision } from '../../schema/publication.ts';
import type { Namespace } from '../namespaces/namespace.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import { createPart, type Part } from './parts.ts';
import type { Stored } from './stored.ts';

/**
 * Converts records to their effective form: without hidden ones, and with overrides merged. Each record is parsed once,
 * however many snapshots contain it. A record that is no longer valid (an older version wrote it) is omitted and
 * logged, because it must not prevent a start.
 */

export type Content = {
  /** Tools are not included, because they are code; records contain only their descriptions. */
  parts: readonly Part[];
  descriptions: ReadonlyMap<string, string>;
  mcpServers: readonly McpServerSpec[];
  a2aServers: readonly A2aServerSpec[];
  budgets: readonly BudgetSpec[];
  sources: SourceRevision[];
};

/** `stored`: the last written content; `live`: the last published content. */
export type View = 'stored' | 'live';

type Read =
  | { part: Part }
  | { tool: { id: string; description: string } }
  | { mcpServer: McpServerSpec }
  | { a2aServer: A2aServerSpec }
  | { budget: BudgetSpec };

type Warn = Pick<ServiceLog, 'warn'>;

export const createContentReader = ({ namespaces, log }: { namespaces: Namespaces; log: Warn }) => {
  const known = new WeakMap<ConfigVersion, Read | 'broken'>();

  const read = (namespace: Namespace, id: string, version: ConfigVersion): Read | 'broken' => {
    const before = known.get(version);
    if (before) return before;
    let now: Read | 'broken' = 'broken';
    try {
      now = READERS[namespace.name](id, resolveSpec(namespace, version));
    } catch (err) {
      log.warn('config.entry_invalid', { err, namespace: namespace.name, id });
    }
    known.set(version, now);
    return now;
  };

  return (stored: Stored, view: View): Content => {
    const found: Read[] = [];
    const sources: SourceRevision[] = [];
    for (const namespace of namespaces.all) {
      for (const record of stored[namespace.name].values()) {
        const version = versionOf(record, view);
        const entry = version && !version.hidden && read(namespace, record.id, version);
        if (!entry || entry === 'broken') continue;
        found.push(entry);
        // The revision belongs to the record, so it is a source only if the record itself is used, and not its
        // published version.
        if (version === record) {
          sources.push({ namespace: namespace.name, id: record.id, revision: record.revision });
        }
      }
    }
    return {
      parts: found.flatMap((entry) => ('part' in entry ? entry.part : [])),
      descriptions: new Map(
        found.flatMap((entry) => ('tool' in entry ? [[entry.tool.id, entry.tool.description]] : [])),
      ),
      mcpServers: found.flatMap((entry) => ('mcpServer' in entry ? entry.mcpServer : [])),
      a2aServers: found.flatMap((entry) => ('a2aServer' in entry ? entry.a2aServer : [])),
      budgets: found.flatMap((entry) => ('budget' in entry ? entry.budget : [])),
      sources,
    };
  };
};

const versionOf = (record: ConfigRecord, view: View): ConfigVersion | null =>
  view === 'stored' || record.published === undefined ? record : record.published;

const READERS: Record<ConfigNamespace, (id: string, spec: JsonObject) => Read> = {
  agents: (id, spec) => ({ part: createPart('agent', id, spec) }),
  models: (id, spec) => ({ part: createPart('model', id, spec) }),
  'model-pools': (id, spec) => ({ part: createPart('model_pool', id, spec) }),
  providers: (id, spec) => ({ part: createPart('provider', id, spec) }),
  skills: (id, spec) => ({ part: createPart('skill', id, spec) }),
  tools: (id, { description }) => ({ tool: { id, description: String(description) } }),
  'mcp-servers': (_, spec) => ({ mcpServer: parseWorded('mcp server spec', McpServerSpec, spec) }),
  'a2a-servers': (_, spec) => ({ a2aServer: parseWorded('a2a server spec', A2aServerSpec, spec) }),
  budgets: (_, spec) => ({ budget: parseWorded('budget spec', BudgetSpec, spec) }),
};

/** If overrides no longer fit a changed base, they are ignored. */
export const resolveSpec = (
  namespace: Namespace,
  { spec, user_overrides }: Pick<ConfigVersion, 'spec' | 'user_overrides'>,
): JsonObject => {
  try {
    return namespace.effective(spec, user_overrides);
  } catch (error) {
    if (error instanceof Invalid) return spec;
    throw error;
  }
};
