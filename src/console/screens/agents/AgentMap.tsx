import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { diagnostics } from '../../data/resources.ts';
import { DataTable } from '../../design/DataTable.tsx';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../navigation/links.tsx';
import { placeOf } from '../diagnostics/diagnosed-resource.ts';
import css from './AgentMap.module.css';
import { BOX, layoutOf } from './map-layout.ts';
import {
  AgentSpec,
  type Graph,
  type GraphNode,
  graphOf,
  ModelSpec,
  PoolSpec,
  reachOf,
} from './reference-graph.ts';
import texts from './texts.json' with { type: 'json' };

const AGENTS = recordsOf('agents', AgentSpec);
const MODELS = recordsOf('models', ModelSpec);
const POOLS = recordsOf('model-pools', PoolSpec);
const PROVIDERS = recordsOf('providers', NamedRecord);
const MCP = recordsOf('mcp-servers', NamedRecord);
const A2A = recordsOf('a2a-servers', NamedRecord);

const HEADS = ['map.agents', 'map.servers', 'map.models', 'map.providers'] as const;

const hrefOf = ({ kind, id }: Pick<GraphNode, 'kind' | 'id'>): string =>
  placeOf({ resource: { namespace: kind, id }, code: '' }) ?? '/agents';

/** Nodes and edges; pointing at a node or focusing it isolates what it reaches. */
const Picture = ({ graph }: { graph: Graph }) => {
  const t = useTexts(texts);
  const [pointed, point] = useState<string>();
  const { places, heads, edges, width, height } = useMemo(() => layoutOf(graph), [graph]);
  const lit = useMemo(() => (pointed === undefined ? undefined : reachOf(graph, pointed)), [graph, pointed]);
  const stateOf = (...keys: string[]): 'lit' | 'dim' | undefined =>
    lit && (keys.every((key) => lit.has(key)) ? 'lit' : 'dim');
  return (
    <Scroller label={t('map')} className={css.scroller}>
      <div className={css.heads} style={{ width }}>
        {HEADS.map(
          (head, column) =>
            heads.has(column) && (
              <span key={head} style={{ left: heads.get(column) }}>
                {t(head)}
              </span>
            ),
        )}
      </div>
      <div className="sheet" style={{ width, height }}>
        <svg className={css.edges} width={width} height={height} aria-hidden="true">
          {edges.map(({ from, to, isDangling, path }) => (
            <path
              key={`${from} ${to}`}
              d={path}
              data-dangling={isDangling || undefined}
              data-delegation={to.startsWith('agents/') || undefined}
              data-state={stateOf(from, to)}
            />
          ))}
        </svg>
        <ul>
          {graph.columns.flat().map((node) => {
            const { x, y } = places.get(node.key) ?? { x: 0, y: 0 };
            return (
              <li
                key={node.key}
                className={css.node}
                data-kind={node.kind}
                data-missing={node.isMissing || undefined}
                data-state={stateOf(node.key)}
                style={{ left: x, top: y - BOX.height / 2, ...BOX }}
                onPointerEnter={() => point(node.key)}
                onPointerLeave={() => point(undefined)}
                onFocus={() => point(node.key)}
                onBlur={() => point(undefined)}
              >
                <ScreenLink to={hrefOf(node)} title={`${t(`map.kind.${node.kind}`)} ${node.id}`}>
                  <code>{node.id}</code>
                </ScreenLink>
                {node.isMissing && <small>{t('map.missing')}</small>}
              </li>
            );
          })}
        </ul>
      </div>
    </Scroller>
  );
};

/** The edges as a table, for users who cannot see the picture or search for one line of it. */
const Lines = ({ graph }: { graph: Graph }) => {
  const t = useTexts(texts);
  const nodes = new Map(graph.columns.flat().map((node) => [node.key, node]));
  const node = (key: string) => {
    const found = nodes.get(key);
    return (
      found && (
        <>
          {t(`map.kind.${found.kind}`)} <ScreenLink to={hrefOf(found)}>{found.id}</ScreenLink>
        </>
      )
    );
  };
  return (
    <details className="ruled inset">
      <summary>{t('map.table')}</summary>
      <DataTable
        label={t('map.table')}
        rows={graph.edges.toSorted((a, b) => Number(b.isDangling) - Number(a.isDangling))}
        rowId={({ from, to }) => `${from} ${to}`}
        isWrong={({ isDangling }) => isDangling}
        columns={[
          { label: t('map.from'), cell: ({ from }) => node(from) },
          { label: t('map.to'), cell: ({ to }) => node(to) },
          { label: t('map.state'), cell: ({ isDangling }) => t(isDangling ? 'map.missing' : 'map.there') },
        ]}
      />
    </details>
  );
};

/** Agents and their dependencies. `hidden` are the agents that lists leave out. */
const AgentMap = ({ hidden }: { hidden: ReadonlySet<string> }) => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS);
  const models = useResource(MODELS).data;
  const pools = useResource(POOLS).data;
  const providers = useResource(PROVIDERS).data;
  const mcpServers = useResource(MCP).data;
  const a2aServers = useResource(A2A).data;
  const found = useResource(diagnostics).data?.diagnostics;
  const graph = useMemo(() => {
    // Until all of these are loaded, references of agents would be shown as missing.
    const isWhole = models && pools && providers;
    const shown = agents.data?.filter(({ id }) => !hidden.has(id));
    return graphOf({
      agents: (isWhole && shown) ?? [],
      models: models ?? [],
      pools: pools ?? [],
      providers: providers ?? [],
      mcpServers: mcpServers ?? [],
      a2aServers: a2aServers ?? [],
      diagnostics: found,
    });
  }, [agents.data, hidden, models, pools, providers, mcpServers, a2aServers, found]);
  const dangling = graph.edges.filter(({ isDangling }) => isDangling).length;
  return (
    <Loaded query={agents} off={AGENTS.off}>
      {() => (
        <Card title={t('map')} flush>
          <p className={`quiet inset ${css.hint}`}>
            {t('map.text')} {dangling > 0 && <strong>{t('map.dangling', { count: dangling })}</strong>}
          </p>
          <Picture graph={graph} />
          <Lines graph={graph} />
        </Card>
      )}
    </Loaded>
  );
};

export default AgentMap;
