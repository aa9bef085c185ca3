import { useMemo, useState } from 'react';
import { useResource } from '../../data/queries.ts';
import { NamedRecord, recordsOf } from '../../data/records.ts';
import { diagnostics } from '../../data/resources.ts';
import { Card } from '../../design/Layout.tsx';
import { Loaded } from '../../design/Loaded.tsx';
import { Scroller } from '../../design/Scroller.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { ScreenLink } from '../../shell/links.tsx';
import { placeOf } from '../diagnostics/places.ts';
import css from './AgentMap.module.css';
import {
  AgentSpec,
  type Graph,
  type GraphEdge,
  type GraphNode,
  graphOf,
  ModelSpec,
  PoolSpec,
  reachOf,
} from './reference-graph.ts';
import { texts } from './texts.ts';

const AGENTS = recordsOf('agents', AgentSpec);
const MODELS = recordsOf('models', ModelSpec);
const POOLS = recordsOf('model-pools', PoolSpec);
const PROVIDERS = recordsOf('providers', NamedRecord);
const MCP = recordsOf('mcp-servers', NamedRecord);
const A2A = recordsOf('a2a-servers', NamedRecord);

const COLUMN = 280;
const WIDTH = 190;
const ROW = 34;
const HEIGHT = 26;
/** For delegations, which lead back to their own column. */
const LEFT = 40;

const HEADS = ['map.agents', 'map.servers', 'map.models', 'map.providers'] as const;

/** Columns that have something. */
const columnsOf = ({ columns }: Graph): { nodes: GraphNode[]; head: (typeof HEADS)[number] }[] =>
  HEADS.flatMap((head, place) => {
    const nodes = columns[place] ?? [];
    return nodes.length === 0 ? [] : [{ nodes, head }];
  });

type Place = { x: number; y: number };

const placesOf = (graph: Graph): ReadonlyMap<string, Place> =>
  new Map(
    columnsOf(graph).flatMap(({ nodes }, column) =>
      nodes.map(({ key }, row) => [key, { x: LEFT + column * COLUMN, y: row * ROW + HEIGHT / 2 }] as const),
    ),
  );

const pathOf = (from: Place, to: Place): string => {
  if (from.x === to.x)
    return `M${from.x} ${from.y}C${from.x - LEFT} ${from.y} ${to.x - LEFT} ${to.y} ${to.x} ${to.y}`;
  const start = from.x + WIDTH;
  const middle = (start + to.x) / 2;
  return `M${start} ${from.y}C${middle} ${from.y} ${middle} ${to.y} ${to.x} ${to.y}`;
};

const hrefOf = ({ kind, id }: Pick<GraphNode, 'kind' | 'id'>): string =>
  placeOf({ resource: { namespace: kind, id }, code: '' }) ?? '/agents';

const Picture = ({ graph }: { graph: Graph }) => {
  const t = useTexts(texts);
  const [pointed, point] = useState<string>();
  const places = useMemo(() => placesOf(graph), [graph]);
  const lit = useMemo(() => (pointed === undefined ? undefined : reachOf(graph, pointed)), [graph, pointed]);
  const rows = Math.max(...graph.columns.map(({ length }) => length));
  const stateOf = (isLit: boolean): 'lit' | 'dim' | undefined =>
    lit === undefined ? undefined : isLit ? 'lit' : 'dim';
  const draw = ({ from, to, isDangling }: GraphEdge) => {
    const [start, end] = [places.get(from), places.get(to)];
    return start && end ? (
      <path
        key={`${from} ${to}`}
        d={pathOf(start, end)}
        data-dangling={isDangling || undefined}
        data-state={stateOf(lit?.has(from) === true && lit.has(to))}
      />
    ) : null;
  };
  const columns = columnsOf(graph);
  const width = LEFT + (columns.length - 1) * COLUMN + WIDTH;
  return (
    <Scroller label={t('map')} className={css.scroller}>
      <div className={css.heads} style={{ width }}>
        {columns.map(({ head }, column) => (
          <span key={head} style={{ left: LEFT + column * COLUMN }}>
            {t(head)}
          </span>
        ))}
      </div>
      <div className={css.picture} style={{ width, height: rows * ROW }}>
        <svg className={css.edges} width={width} height={rows * ROW} aria-hidden="true">
          {graph.edges.map(draw)}
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
                data-state={stateOf(lit?.has(node.key) ?? false)}
                style={{ left: x, top: y - HEIGHT / 2, width: WIDTH, height: HEIGHT }}
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

/** The same for who does not see a picture, or looks for one line of it. */
const Lines = ({ graph }: { graph: Graph }) => {
  const t = useTexts(texts);
  const nodes = new Map(graph.columns.flat().map((node) => [node.key, node]));
  const cell = (key: string) => {
    const node = nodes.get(key);
    return node ? (
      <>
        {t(`map.kind.${node.kind}`)} <ScreenLink to={hrefOf(node)}>{node.id}</ScreenLink>
      </>
    ) : null;
  };
  const worst = graph.edges.toSorted((a, b) => Number(b.isDangling) - Number(a.isDangling));
  return (
    <details className={css.lines}>
      <summary>{t('map.table')}</summary>
      <Scroller label={t('map.table')} className={css.table}>
        <table>
          <thead>
            <tr>
              <th>{t('map.from')}</th>
              <th>{t('map.to')}</th>
              <th>{t('map.state')}</th>
            </tr>
          </thead>
          <tbody>
            {worst.map(({ from, to, isDangling }) => (
              <tr key={`${from} ${to}`} data-dangling={isDangling || undefined}>
                <td>{cell(from)}</td>
                <td>{cell(to)}</td>
                <td>{t(isDangling ? 'map.missing' : 'map.there')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroller>
    </details>
  );
};

/** Agents with what they stand on. What cannot be read is left out of it, and so is what would be called missing then. */
const AgentMap = () => {
  const t = useTexts(texts);
  const agents = useResource(AGENTS);
  const models = useResource(MODELS);
  const pools = useResource(POOLS).data;
  const providers = useResource(PROVIDERS);
  const mcpServers = useResource(MCP).data;
  const a2aServers = useResource(A2A).data;
  const found = useResource(diagnostics).data?.diagnostics;
  const isWhole = models.data !== undefined && pools !== undefined && providers.data !== undefined;
  const graph = useMemo(
    () =>
      graphOf({
        agents: isWhole ? (agents.data ?? []) : [],
        models: models.data ?? [],
        pools: pools ?? [],
        providers: providers.data ?? [],
        mcpServers: mcpServers ?? [],
        a2aServers: a2aServers ?? [],
        diagnostics: found,
      }),
    [isWhole, agents.data, models.data, pools, providers.data, mcpServers, a2aServers, found],
  );
  const dangling = graph.edges.filter(({ isDangling }) => isDangling).length;
  return (
    <Loaded query={agents} off={AGENTS.off}>
      {() => (
        <Card title={t('map')} flush>
          <p className={css.hint}>
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
