import type { MachineDescription } from './description.ts';
import type { Picture, Shown } from './diagram.ts';
import {
  type ElkEdge,
  type ElkLabel,
  type ElkNode,
  type ElkPoint,
  type LayoutEngine,
  loadElk,
} from './elk.ts';
import { lengthOf, plainLine, type Row, rowsOf } from './lines.ts';
import type { Arrow } from './merge.ts';
import { nameOf } from './nesting.ts';

/**
 * Places the states of a picture and routes its arrows (ELK, layered, states nested in states). Text is measured
 * by counting characters of a font of fixed width: there is no browser here to ask. Coordinates are absolute,
 * in pixels, the origin is top left. An arrow to a state inside the one that it comes from begins at a box of
 * its own that holds its label: a way from the border inwards would cross what lies between.
 */

/** Sizes of the letters, in pixels. An em of a fixed-width font is 0.6 wide in all that systems ship with. */
export const FONT = { name: 13, small: 11, lineHeight: 15, advance: 0.62 } as const;

const PADDING = { x: 12, top: 8, bottom: 10 } as const;
const CHIP = { x: 5, y: 2 } as const;
const DOT = 12;
/** What stands above the states: the name and the purpose of the machine. */
const TITLE = 56;
const MARGIN = 20;

export type Box = { x: number; y: number; width: number; height: number };
export type PlacedState = Box & { shown: Shown; rows: Row[] };
export type PlacedArrow = { arrow: Arrow; points: ElkPoint[]; label: Box; rows: Row[] };
export type Placed = {
  width: number;
  height: number;
  /** What the machine takes in every state, below its name. */
  rows: Row[];
  /** Outer states before the states inside them. */
  states: PlacedState[];
  arrows: PlacedArrow[];
  /** Where entering a state, or the machine, begins: a dot and the way from it. */
  starts: { dot: Box; points: ElkPoint[] }[];
};

const textWidth = (letters: number, size: number): number => Math.ceil(letters * size * FONT.advance);

export const widthOf = (rows: readonly Row[]): number =>
  textWidth(Math.max(0, ...rows.map(lengthOf)), FONT.small);

/** What a state shows below its name. */
const rowsIn = ({ activities, hidden }: Shown): Row[] =>
  [...activities, ...(hidden.length ? [plainLine(`⊞ ${hidden.length} states`)] : [])].flatMap(rowsOf);

/** The label of an arrow; one that begins at a box of its own says what it begins in. */
const rowsOn = ({ inward, lines }: Arrow): Row[] =>
  lines.flatMap((line) => {
    if (!inward || line.where.length) return rowsOf(line);
    return [...rowsOf(line), { text: 'in every state', indented: true, soft: true, line }];
  });

/** Room for the name of a state and what it does by itself. */
const headOf = ({ state }: Shown, rows: readonly Row[]): { width: number; height: number } => ({
  width: Math.max(textWidth(nameOf(state.path).length, FONT.name), widthOf(rows)) + 2 * PADDING.x,
  height: PADDING.top + FONT.lineHeight * (1 + rows.length) + PADDING.bottom,
});

const chipOf = (rows: readonly Row[]): { width: number; height: number } => ({
  width: widthOf(rows) + 2 * CHIP.x,
  height: rows.length * FONT.lineHeight + 2 * CHIP.y,
});

const LAYOUT = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.edgeRouting': 'ORTHOGONAL',
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
const arrowId = (index: number): string => `arrow ${index}`;
const originId = (index: number): string => `origin of arrow ${index}`;

/** How a picture is laid out, beside what is in it. */
export type Room = {
  /** For the name and the purpose of the machine above the states. */
  titled: boolean;
  /** What a state without states inside is at least wide, and has below its texts, for those who put something there. */
  inside?: { width: number; height: number };
};

/** A picture on its way to the layout engine, with every text in rows. */
type Plan = {
  room: Room;
  picture: Picture;
  states: { shown: Shown; rows: Row[] }[];
  arrows: { arrow: Arrow; rows: Row[]; index: number }[];
};

const planOf = (picture: Picture, room: Room): Plan => ({
  room,
  picture,
  states: picture.states.map((shown) => ({ shown, rows: rowsIn(shown) })),
  arrows: picture.arrows.map((arrow, index) => ({ arrow, rows: rowsOn(arrow), index })),
});

const dotNode = (parent: string | null, initial: string | null): ElkNode[] =>
  initial === null ? [] : [{ id: dotOf(parent), width: DOT, height: DOT }];

/** What lies in a state, or in the machine: where it begins, the states, and the boxes from which arrows start. */
const nodesIn = (plan: Plan, parent: string | null, initial: string | null): ElkNode[] => [
  ...dotNode(parent, initial),
  ...plan.arrows.flatMap(({ arrow: { inward, from }, rows, index }) =>
    inward && from === parent ? { id: originId(index), ...chipOf(rows) } : [],
  ),
  ...plan.states.flatMap(({ shown, rows }) =>
    shown.state.parent === parent ? nodeOf(plan, shown, rows) : [],
  ),
];

const nodeOf = (plan: Plan, shown: Shown, rows: readonly Row[]): ElkNode => {
  const head = headOf(shown, rows);
  const { path, initial } = shown.state;
  if (!shown.open) {
    const { width, height } = plan.room.inside ?? { width: 0, height: 0 };
    return { id: path, width: Math.max(head.width, width), height: head.height + height };
  }
  return {
    id: path,
    layoutOptions: {
      'elk.padding': `[top=${head.height + 6},left=16,bottom=16,right=16]`,
      'elk.nodeSize.constraints': 'MINIMUM_SIZE',
      'elk.nodeSize.minimum': `(${head.width},${head.height})`,
    },
    children: nodesIn(plan, path, initial),
  };
};

/** An arrow to an earlier state is laid out from its head, so that states stand in document order all the way. */
const isUpward = ({ states }: MachineDescription, { from, to, inward }: Arrow): boolean => {
  const rank = (path: string): number => states.findIndex((state) => state.path === path);
  return from !== null && !inward && rank(to) < rank(from);
};

const labelOf = (rows: readonly Row[]): ElkLabel => ({
  layoutOptions: { 'elk.edgeLabels.inline': 'true' },
  text: rows.map(({ text }) => text).join('\n'),
  ...chipOf(rows),
});

const edgeOf = ({ arrow, rows, index }: Plan['arrows'][number], upward: boolean): ElkEdge => {
  const { from, to, inward } = arrow;
  const origin = inward || from === null ? originId(index) : from;
  return {
    id: arrowId(index),
    sources: [upward ? to : origin],
    targets: [upward ? origin : to],
    labels: inward ? [] : [labelOf(rows)],
  };
};

type Start = { parent: string | null; initial: string };

const startsOf = ({ machine, states }: Picture): Start[] => [
  ...(machine.initial === null ? [] : [{ parent: null, initial: machine.initial }]),
  ...states.flatMap(({ state: { path, initial }, open }) =>
    initial === null || !open ? [] : [{ parent: path, initial }],
  ),
];

const graphOf = (plan: Plan, top: number): ElkNode => ({
  // No state has a space in its path.
  id: 'the machine',
  layoutOptions: { ...LAYOUT, 'elk.padding': `[top=${top},left=${MARGIN},bottom=${MARGIN},right=${MARGIN}]` },
  children: nodesIn(plan, null, plan.picture.machine.initial),
  edges: [
    ...startsOf(plan.picture).map(({ parent, initial }) => ({
      id: dotOf(parent),
      sources: [dotOf(parent)],
      targets: [initial],
    })),
    ...plan.arrows.map((planned) => edgeOf(planned, isUpward(plan.picture.machine, planned.arrow))),
  ],
});

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box> = {}): Box => ({ x, y, width, height });

const pointsOf = (edge: ElkEdge | undefined): ElkPoint[] =>
  (edge?.sections ?? []).flatMap(({ startPoint, bendPoints = [], endPoint }) => [
    startPoint,
    ...bendPoints,
    endPoint,
  ]);

const within = (node: ElkNode): ElkNode[] => [node, ...(node.children ?? []).flatMap(within)];
const edgesWithin = (node: ElkNode): ElkEdge[] => within(node).flatMap(({ edges = [] }) => edges);

/** elkjs is large and may be left out of an install, so it is loaded when something is drawn. */
const runElk: LayoutEngine = async (graph) => {
  const Elk = loadElk();
  return new Elk().layout(graph);
};

export const place = async (picture: Picture, room: Room, engine: LayoutEngine = runElk): Promise<Placed> => {
  const plan = planOf(picture, room);
  const rows = picture.activities.flatMap((line) =>
    rowsOf({ ...line, text: `in every state: ${line.text}` }),
  );
  const top = room.titled ? TITLE + rows.length * FONT.lineHeight : MARGIN;
  const laidOut = await engine(graphOf(plan, top));
  const nodes = new Map(within(laidOut).map((node) => [node.id, node]));
  const edges = new Map(edgesWithin(laidOut).map((edge) => [edge.id, edge]));
  return {
    width: laidOut.width ?? 0,
    height: laidOut.height ?? 0,
    rows,
    states: plan.states.map((state) => ({ ...boxOf(nodes.get(state.shown.state.path)), ...state })),
    arrows: plan.arrows.map(({ arrow, rows, index }) => {
      const edge = edges.get(arrowId(index));
      const points = pointsOf(edge);
      if (isUpward(picture.machine, arrow)) points.reverse();
      const label = boxOf(arrow.inward ? nodes.get(originId(index)) : edge?.labels?.[0]);
      return { arrow, points, label, rows };
    }),
    starts: startsOf(picture).map(({ parent }) => ({
      dot: boxOf(nodes.get(dotOf(parent))),
      points: pointsOf(edges.get(dotOf(parent))),
    })),
  };
};
