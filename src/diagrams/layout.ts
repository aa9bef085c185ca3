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
 * Positions the states of a picture and routes its arrows (ELK, layered, states nested in states). Text is measured by
 * counting characters of a fixed-width font, because no browser is available. Coordinates are absolute, in pixels, with
 * the origin at the top left. An arrow to a state inside its source starts at a separate box with its label: an arrow
 * from the border inwards would cross the states in between.
 */

/** Font sizes in pixels. Common fixed-width system fonts have a character width of 0.6 em. */
export const FONT = { name: 13, small: 11, lineHeight: 15, advance: 0.62 } as const;

const PADDING = { x: 12, top: 8, bottom: 10 } as const;
const CHIP = { x: 5, y: 2 } as const;
const DOT = 12;
/** Height of the caption above the states: the name and the purpose of the machine. */
const TITLE = 56;
const MARGIN = 20;
const BARE_MARGIN = 8;

export type Box = { x: number; y: number; width: number; height: number };
export type PlacedState = Box & { shown: Shown; rows: Row[] };
export type PlacedArrow = { arrow: Arrow; points: ElkPoint[]; label: Box; rows: Row[] };
export type Placed = {
  width: number;
  height: number;
  /** Transitions that the machine takes in every state, below its name. */
  rows: Row[];
  /** Outer states precede the states inside them. */
  states: PlacedState[];
  arrows: PlacedArrow[];
  /** Initial markers of states and of the machine: a dot and the arrow from it. */
  starts: { dot: Box; points: ElkPoint[] }[];
};

const textWidth = (letters: number, size: number): number => Math.ceil(letters * size * FONT.advance);

export const widthOf = (rows: readonly Row[]): number =>
  textWidth(Math.max(0, ...rows.map(lengthOf)), FONT.small);

/** Returns the rows below the name of a state. */
const rowsIn = ({ activities, hidden }: Shown): Row[] =>
  [...activities, ...(hidden.length ? [plainLine(`⊞ ${hidden.length} states`)] : [])].flatMap(rowsOf);

/** Returns the label of an arrow; one that starts at a separate box also names its states. */
const rowsOn = ({ inward, lines }: Arrow): Row[] =>
  lines.flatMap((line) => {
    if (!inward || line.where.length) return rowsOf(line);
    return [...rowsOf(line), { text: 'in every state', indented: true, soft: true, line }];
  });

/** Returns the size of the name and the activities of a state. */
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

const BARE_LAYOUT = {
  ...LAYOUT,
  'elk.layered.spacing.nodeNodeBetweenLayers': '22',
  'elk.layered.spacing.edgeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
  'elk.spacing.nodeNode': '18',
  'elk.spacing.edgeNode': '12',
  'elk.spacing.edgeEdge': '8',
} as const;

const dotOf = (parent: string | null): string => `start of ${parent ?? 'the machine'}`;
const arrowId = (index: number): string => `arrow ${index}`;
const originId = (index: number): string => `origin of arrow ${index}`;

/** Layout options of a picture, apart from its content. */
export type Room = {
  /** Reserves space for the name and the purpose of the machine above the states. */
  titled: boolean;
  /** Minimum width of a state without states inside, and free space below its texts. */
  inside?: { width: number; height: number };
  /** Free space next to the name of a state. */
  besideName?: number;
  /** Draws arrows without texts, close to each other. */
  bare?: boolean;
};

/** A picture prepared for the layout engine, with every text split into rows. */
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
  arrows: picture.arrows.map((arrow, index) => ({ arrow, rows: room.bare ? [] : rowsOn(arrow), index })),
});

const dotNode = (parent: string | null, initial: string | null): ElkNode[] =>
  initial === null ? [] : [{ id: dotOf(parent), width: DOT, height: DOT }];

/** Returns the nodes inside a state, or the machine: the initial marker, the states, and the boxes of arrows. */
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
    const { inside: { width, height } = { width: 0, height: 0 }, besideName = 0 } = plan.room;
    return { id: path, width: Math.max(head.width + besideName, width), height: head.height + height };
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

/** An arrow to an earlier state is laid out in reverse, so that states stay in document order. */
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
    labels: inward || rows.length === 0 ? [] : [labelOf(rows)],
  };
};

type Start = { parent: string | null; initial: string };

const startsOf = ({ machine, states }: Picture): Start[] => [
  ...(machine.initial === null ? [] : [{ parent: null, initial: machine.initial }]),
  ...states.flatMap(({ state: { path, initial }, open }) =>
    initial === null || !open ? [] : [{ parent: path, initial }],
  ),
];

const marginOf = ({ bare }: Room): number => (bare ? BARE_MARGIN : MARGIN);

/**
 * Invisible edges to the separate boxes of arrows from every state. Otherwise, such an arrow and its target would be
 * laid out apart from the rest of the machine, with an end above it.
 */
const anchorsOf = ({ picture: { machine }, arrows }: Plan): ElkEdge[] =>
  arrows.flatMap(({ arrow, index }) =>
    arrow.inward && arrow.from === null && machine.initial !== null
      ? { id: `anchor of ${arrowId(index)}`, sources: [machine.initial], targets: [originId(index)] }
      : [],
  );

const graphOf = (plan: Plan, top: number, margin = marginOf(plan.room)): ElkNode => ({
  // Unique, because no state has a space in its path.
  id: 'the machine',
  layoutOptions: {
    ...(plan.room.bare ? BARE_LAYOUT : LAYOUT),
    'elk.padding': `[top=${top},left=${margin},bottom=${margin},right=${margin}]`,
  },
  children: nodesIn(plan, null, plan.picture.machine.initial),
  edges: [
    ...startsOf(plan.picture).map(({ parent, initial }) => ({
      id: dotOf(parent),
      sources: [dotOf(parent)],
      targets: [initial],
    })),
    ...anchorsOf(plan),
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

/** elkjs is large and may be missing, so it is loaded when something is drawn. */
const runElk: LayoutEngine = async (graph) => {
  const Elk = loadElk();
  return new Elk().layout(graph);
};

export const place = async (picture: Picture, room: Room, engine: LayoutEngine = runElk): Promise<Placed> => {
  const plan = planOf(picture, room);
  const rows = picture.activities.flatMap((line) =>
    rowsOf({ ...line, text: `in every state: ${line.text}` }),
  );
  const top = room.titled ? TITLE + rows.length * FONT.lineHeight : marginOf(room);
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
