import { mcpSegment } from '../../../schema/mcp-names.ts';
import {
  fields,
  type Guarded,
  isObject,
  list,
  object,
  optional,
  text,
  withDefault,
} from '../../data/guard.ts';
import type { Diagnostic } from '../../data/resources.ts';

/**
 * The dependencies of agents: pools, models and their providers, tool servers, remote agents and other agents. An edge
 * is dangling if the service reports its target as missing. A target that is not in the configuration, such as a
 * provider registered by a program, may exist nevertheless.
 */

export const AgentSpec = object({
  id: text,
  model_id: optional(text),
  ...fields(optional(list(text)), 'delegates', 'allowed_tools', 'allowed_tool_patterns'),
  endpoint: (value) => value,
});
export type AgentSpec = Guarded<typeof AgentSpec>;

export const ModelSpec = object({ id: text, provider_id: optional(text) });
export const PoolSpec = object({ id: text, members: withDefault(list(object({ model_id: text })), []) });

export type Kind = 'agents' | 'model-pools' | 'mcp-servers' | 'a2a-servers' | 'models' | 'providers';

/** The kinds in the columns of the map, so that all edges except delegations lead from left to right. */
export const COLUMNS: readonly (readonly Kind[])[] = [
  ['agents'],
  ['model-pools', 'mcp-servers', 'a2a-servers'],
  ['models'],
  ['providers'],
];

export type GraphNode = { key: string; kind: Kind; id: string; isMissing: boolean };
export type GraphEdge = { from: string; to: string; isDangling: boolean };
export type Graph = { columns: GraphNode[][]; edges: GraphEdge[] };

type Named = { id: string };

export type Known = {
  agents: readonly AgentSpec[];
  models: readonly Guarded<typeof ModelSpec>[];
  pools: readonly Guarded<typeof PoolSpec>[];
  providers: readonly Named[];
  mcpServers: readonly Named[];
  a2aServers: readonly Named[];
  /** Undefined if diagnostics are unavailable; every target that is not in these lists then counts as missing. */
  diagnostics: readonly Diagnostic[] | undefined;
};

export const keyOf = (kind: string, id: string): string => `${kind}/${id}`;

const isKind = (namespace: string): namespace is Kind => COLUMNS.flat().some((kind) => kind === namespace);

const serversOf = (agent: AgentSpec, servers: readonly Named[]): string[] => {
  const tools = [...(agent.allowed_tools ?? []), ...(agent.allowed_tool_patterns ?? [])];
  return servers
    .map(({ id }) => id)
    .filter((id) =>
      tools.some((tool) => [id, mcpSegment(id)].some((own) => tool.startsWith(`mcp__${own}__`))),
    );
};

const remoteServerOf = ({ endpoint }: AgentSpec): string | undefined => {
  const options = isObject(endpoint) ? endpoint.options : undefined;
  const server = isObject(options) ? options.a2a_server_id : undefined;
  return typeof server === 'string' && server.trim() !== '' ? server : undefined;
};

type Reference = readonly [from: string, kind: Kind, id: string];

const referencesOf = (known: Known): Reference[] => {
  const pools = new Set(known.pools.map(({ id }) => id));
  const ofAgents = known.agents.flatMap((agent): Reference[] => {
    const from = keyOf('agents', agent.id);
    const server = remoteServerOf(agent);
    const model = agent.model_id ?? '';
    const isLocal = !isObject(agent.endpoint);
    return [
      ...(model !== '' && isLocal
        ? [[from, pools.has(model) ? 'model-pools' : 'models', model] as const]
        : []),
      ...(agent.delegates ?? []).map((id): Reference => {
        const [remote = '', name] = id.split('/');
        return name === undefined ? [from, 'agents', id] : [from, 'a2a-servers', remote];
      }),
      ...serversOf(agent, known.mcpServers).map((id): Reference => [from, 'mcp-servers', id]),
      ...(server === undefined ? [] : [[from, 'a2a-servers', server] as const]),
    ];
  });
  return [
    ...ofAgents,
    ...known.pools.flatMap(({ id, members }) =>
      members.map(({ model_id }): Reference => [keyOf('model-pools', id), 'models', model_id]),
    ),
    ...known.models.flatMap(({ id, provider_id }): Reference[] =>
      provider_id === undefined ? [] : [[keyOf('models', id), 'providers', provider_id]],
    ),
    ...(known.diagnostics ?? []).flatMap(({ resource, depends_on }): Reference[] =>
      depends_on && isKind(resource.namespace) && isKind(depends_on.namespace)
        ? [[keyOf(resource.namespace, resource.id), depends_on.namespace, depends_on.id]]
        : [],
    ),
  ];
};

/** All entries and the missing targets of their references. Agents with the same model are next to each other. */
export const graphOf = (known: Known): Graph => {
  const nodes = new Map<string, GraphNode>();
  const add = (kind: Kind, id: string, isMissing: boolean): void => {
    const key = keyOf(kind, id);
    if (!nodes.has(key)) nodes.set(key, { key, kind, id, isMissing });
  };
  const all: readonly (readonly [Kind, readonly Named[]])[] = [
    ['agents', known.agents],
    ['model-pools', known.pools],
    ['mcp-servers', known.mcpServers],
    ['a2a-servers', known.a2aServers],
    ['models', known.models],
    ['providers', known.providers],
  ];
  for (const [kind, entries] of all) for (const { id } of entries) add(kind, id, false);
  const missing =
    known.diagnostics &&
    new Set(known.diagnostics.flatMap(({ depends_on: on }) => (on ? keyOf(on.namespace, on.id) : [])));
  const edges = new Map<string, GraphEdge>();
  for (const [from, kind, id] of referencesOf(known)) {
    const to = keyOf(kind, id);
    if (!nodes.has(from)) continue;
    add(kind, id, missing?.has(to) ?? true);
    edges.set(`${from} ${to}`, { from, to, isDangling: nodes.get(to)?.isMissing ?? false });
  }
  const models = new Map(known.agents.map(({ id, model_id = '' }) => [keyOf('agents', id), model_id]));
  const rank = ({ key, id }: GraphNode): string => `${models.get(key) ?? ''} ${id}`;
  const columns = COLUMNS.map((kinds) =>
    [...nodes.values()]
      .filter(({ kind }) => kinds.includes(kind))
      .sort((a, b) => rank(a).localeCompare(rank(b))),
  );
  return { columns, edges: [...edges.values()] };
};

/** A node with all its direct and indirect sources and targets. */
export const reachOf = ({ edges }: Pick<Graph, 'edges'>, key: string): Set<string> => {
  const reached = new Set([key]);
  const follow = (end: 'from' | 'to', start: 'from' | 'to'): void => {
    const seen = new Set([key]);
    for (const at of seen) for (const edge of edges) if (edge[start] === at) seen.add(edge[end]);
    for (const one of seen) reached.add(one);
  };
  follow('to', 'from');
  follow('from', 'to');
  return reached;
};
