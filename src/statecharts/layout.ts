import type { ElkExtendedEdge, ElkNode, ElkPoint } from 'elkjs/lib/elk-api.js';
import type { MachineDescription, StateDescription } from './description.ts';
import {
  type Arrow,
  activitiesAnywhere,
  activitiesOf,
  actsAnywhere,
  arrowsOf,
  childrenOf,
  nameOf,
} from './diagram.ts';

/**
 * Places the states of a machine and routes its arrows (ELK, layered, states nested in states). Text is measured
 * by counting characters of a font of fixed width: there is no browser here to ask. Coordinates are absolute,
 * in pixels, the origin is top left.
 */

/** Sizes of the letters, in pixels. An em of a fixed-width font is 0.6 wide in all that systems ship with. */
export const FONT = { name: 13, small: 11, lineHeight: 15, advance: 0.62 } as const;

const PADDING = { x: 12, top: 8, bottom: 10 } as const;
const DOT = 12;

export type Box = { x: number; y: number; width: number; height: number };
export type PlacedState = Box & { state: StateDescription; activities: string[]; nested: boolean };
export type PlacedArrow = { arrow: Arrow; points: ElkPoint[]; label: Box };
export type Placed = {
  width: number;
  height: number;
  /** Outer states before the states inside them. */
  states: PlacedState[];
  arrows: PlacedArrow[];
  /** Where entering a state, or the machine, begins: a dot and the way from it. */
  starts: { dot: Box; points: ElkPoint[] }[];
  anywhere: (Box & { activities: string[] }) | undefined;
};

const ANYWHERE = 'any state';

const textWidth = (lines: readonly string[], size: number): number =>
  Math.ceil(Math.max(0, ...lines.map((line) => line.length)) * size * FONT.advance);

/** Room for the name of a state and what it does by itself. */
const headOf = (name: string, activities: readonly string[]): { width: number; height: number } => ({
  width: Math.max(textWidth([name], FONT.name), textWidth(activities, FONT.small)) + 2 * PADDING.x,
  height: PADDING.top + FONT.lineHeight * (1 + activities.length) + PADDING.bottom,
});

const LAYOUT = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.layered.considerModelOrder.strategy': 'PREFER_NODES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
  'elk.layered.compaction.postCompaction.strategy': 'EDGE_LENGTH',
  'elk.layered.thoroughness': '40',
  'elk.layered.spacing.nodeNodeBetweenLayers': '28',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '10',
  'elk.spacing.nodeNode': '26',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
  'elk.spacing.labelNode': '8',
} as const;

const dotOf = (parent: string | null): string => `start of ${parent ?? 'the machine'}`;

const dotNode = (parent: string | null, initial: string | null): ElkNode[] =>
  initial === null ? [] : [{ id: dotOf(parent), width: DOT, height: DOT }];

const nodeOf = (machine: MachineDescription, state: StateDescription): ElkNode => {
  const head = headOf(nameOf(state), activitiesOf(machine, state));
  const inside = childrenOf(machine, state.path);
  if (!inside.length) return { id: state.path, ...head };
  return {
    id: state.path,
    layoutOptions: {
      'elk.padding': `[top=${head.height + 6},left=16,bottom=16,right=16]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${head.width},${head.height})`,
    },
    children: [...dotNode(state.path, state.initial), ...inside.map((child) => nodeOf(machine, child))],
  };
};

/** An arrow to an earlier state is laid out from its head, so that states stand in document order all the way. */
const isUpward = ({ states }: MachineDescription, { from, to }: Arrow): boolean => {
  const rank = (path: string): number => states.findIndex((state) => state.path === path);
  return from !== null && rank(to) < rank(from);
};

const edgeOf = (arrow: Arrow, index: number, upward: boolean): ElkExtendedEdge => ({
  id: `arrow ${index}`,
  sources: [upward ? arrow.to : (arrow.from ?? ANYWHERE)],
  targets: [upward ? (arrow.from ?? ANYWHERE) : arrow.to],
  labels: [
    {
      layoutOptions: { 'elk.edgeLabels.inline': 'true' },
      text: arrow.lines.join('\n'),
      width: textWidth(arrow.lines, FONT.small) + 10,
      height: arrow.lines.length * FONT.lineHeight + 4,
    },
  ],
});

type Start = { parent: string | null; initial: string };

const startsOf = (machine: MachineDescription): Start[] =>
  [{ path: null, initial: machine.initial }, ...machine.states].flatMap(({ path, initial }) =>
    initial === null ? [] : [{ parent: path, initial }],
  );

const graphOf = (machine: MachineDescription, arrows: readonly Arrow[]): ElkNode => ({
  id: 'machine',
  layoutOptions: { ...LAYOUT, 'elk.padding': '[top=56,left=20,bottom=20,right=20]' },
  children: [
    ...dotNode(null, machine.initial),
    ...(actsAnywhere(machine) ? [{ id: ANYWHERE, ...headOf(ANYWHERE, activitiesAnywhere(machine)) }] : []),
    ...childrenOf(machine, null).map((state) => nodeOf(machine, state)),
  ],
  edges: [
    ...startsOf(machine).map(({ parent, initial }) => ({
      id: dotOf(parent),
      sources: [dotOf(parent)],
      targets: [initial],
    })),
    ...arrows.map((arrow, index) => edgeOf(arrow, index, isUpward(machine, arrow))),
  ],
});

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box> = {}): Box => ({ x, y, width, height });

const pointsOf = (edge: ElkExtendedEdge | undefined): ElkPoint[] =>
  (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);

const within = (node: ElkNode): ElkNode[] => [node, ...(node.children ?? []).flatMap(within)];
const edgesWithin = (node: ElkNode): ElkExtendedEdge[] => within(node).flatMap(({ edges = [] }) => edges);

/** Loads the layout engine, which is large, only when something is drawn. */
const runElk = async (graph: ElkNode): Promise<ElkNode> => {
  const { default: elk } = await import('elkjs/lib/elk.bundled.js');
  return new elk.default().layout(graph);
};

export const place = async (machine: MachineDescription): Promise<Placed> => {
  const arrows = arrowsOf(machine);
  const laidOut = await runElk(graphOf(machine, arrows));
  const nodes = new Map(within(laidOut).map((node) => [node.id, node]));
  const edges = new Map(edgesWithin(laidOut).map((edge) => [edge.id, edge]));
  return {
    width: laidOut.width ?? 0,
    height: laidOut.height ?? 0,
    states: machine.states.map((state) => ({
      ...boxOf(nodes.get(state.path)),
      state,
      activities: activitiesOf(machine, state),
      nested: childrenOf(machine, state.path).length > 0,
    })),
    arrows: arrows.map((arrow, index) => {
      const edge = edges.get(`arrow ${index}`);
      const points = pointsOf(edge);
      if (isUpward(machine, arrow)) points.reverse();
      return { arrow, points, label: boxOf(edge?.labels?.[0]) };
    }),
    starts: startsOf(machine).map(({ parent }) => ({
      dot: boxOf(nodes.get(dotOf(parent))),
      points: pointsOf(edges.get(dotOf(parent))),
    })),
    anywhere: nodes.has(ANYWHERE)
      ? { ...boxOf(nodes.get(ANYWHERE)), activities: activitiesAnywhere(machine) }
      : undefined,
  };
};
