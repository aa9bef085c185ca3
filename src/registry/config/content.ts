import { A2aServerSpec } from '../../schema/a2a-server.ts';
import type { ConfigNamespace, ConfigRecord, ConfigVersion } from '../../schema/config-record.ts';
import type { JsonObject } from '../../schema/endpoint.ts';
import { McpServerSpec } from '../../schema/mcp-server.ts';
import { Invalid } from '../../schema/outcome.ts';
import { parseWorded } from '../../schema/problems.ts';
import type { SourceRevision } from '../../schema/publication.ts';
import type { Namespace } from '../namespaces/namespace.ts';
import type { Namespaces } from '../namespaces/namespaces.ts';
import { type Part, partOf } from './parts.ts';
import type { Stored } from './stored.ts';

/**
 * Records as runs use them: hidden ones left out, overrides merged. What a record says is read once, however many
 * snapshots it is in. A record that is not legal any more (an older version wrote it) is left out and logged:
 * it must not stop a start.
 */

export type Content = {
  /** Of tools there are only descriptions: the tools themselves are code. */
  parts: readonly Part[];
  descriptions: ReadonlyMap<string, string>;
  mcpServers: readonly McpServerSpec[];
  a2aServers: readonly A2aServerSpec[];
  sources: SourceRevision[];
};

/** `stored`: what was written last; `live`: what was published last. */
export type View = 'stored' | 'live';

type Read =
  | { part: Part }
  | { tool: { id: string; description: string } }
  | { mcpServer: McpServerSpec }
  | { a2aServer: A2aServerSpec };

type Warn = { warn(data: object, text: string): void };

export const createContentReader = ({ namespaces, log }: { namespaces: Namespaces; log: Warn }) => {
  const known = new WeakMap<ConfigVersion, Read | 'broken'>();

  const read = (namespace: Namespace, id: string, version: ConfigVersion): Read | 'broken' => {
    const before = known.get(version);
    if (before) return before;
    let now: Read | 'broken' = 'broken';
    try {
      now = READERS[namespace.name](id, effectiveOf(namespace, version));
    } catch (err) {
      log.warn({ err, namespace: namespace.name, id }, 'a stored entry is not legal and is not used');
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
        // The revision is that of the record, which is not what is live while the two differ.
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
      sources,
    };
  };
};

const versionOf = (record: ConfigRecord, view: View): ConfigVersion | null =>
  view === 'stored' || record.published === undefined ? record : record.published;

const READERS: Record<ConfigNamespace, (id: string, spec: JsonObject) => Read> = {
  agents: (id, spec) => ({ part: partOf('agent', id, spec) }),
  models: (id, spec) => ({ part: partOf('model', id, spec) }),
  'model-pools': (id, spec) => ({ part: partOf('model_pool', id, spec) }),
  providers: (id, spec) => ({ part: partOf('provider', id, spec) }),
  skills: (id, spec) => ({ part: partOf('skill', id, spec) }),
  tools: (id, { description }) => ({ tool: { id, description: String(description) } }),
  'mcp-servers': (_, spec) => ({ mcpServer: parseWorded('mcp server spec', McpServerSpec, spec) }),
  'a2a-servers': (_, spec) => ({ a2aServer: parseWorded('a2a server spec', A2aServerSpec, spec) }),
};

/** Overrides that do not fit a new base any more leave the base as it is. */
export const effectiveOf = (
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
