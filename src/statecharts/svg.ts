import type { MachineDescription, StateDescription } from './description.ts';
import { explain, nameOf } from './diagram.ts';
import { type Box, FONT, type Placed, type PlacedArrow, type PlacedState, place } from './layout.ts';
import { STATUS_TAGS, STYLE, type Tint } from './palette.ts';

/**
 * A machine as one SVG document: states as boxes in boxes, arrows labelled `EVENT [guard] / actions`, and what
 * the machine says about each of them as a tooltip. No script, no font and no address from outside.
 */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeText = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

type Attributes = Record<string, string | number>;

const element = (name: string, attributes: Attributes, ...inside: string[]): string => {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(String(value))}"`);
  return `<${name}${written.join('')}>${inside.join('')}</${name}>`;
};

const tooltip = (text: string): string => element('title', {}, escapeText(text));

const rectangle = (box: Box, attributes: Attributes): string => element('rect', { ...box, ...attributes });

type Line = { text: string; x: number; y: number; size: number; class?: string };
const write = ({ text, size, ...place }: Line): string =>
  element('text', { ...place, 'font-size': size }, escapeText(text));

const baseline = (top: number, line: number): number => top + FONT.lineHeight * (line + 1) - 4;

/** The status that a state stands for: its own tag, else that of the nearest state around it. */
const tintOf = (machine: MachineDescription, state: StateDescription): Tint => {
  const own = STATUS_TAGS.find((tag) => state.tags.includes(tag));
  if (own) return own;
  const parent = machine.states.find(({ path }) => path === state.parent);
  return parent ? tintOf(machine, parent) : 'plain';
};

const inset = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x + by,
  y: y + by,
  width: width - 2 * by,
  height: height - 2 * by,
});

const drawState = (machine: MachineDescription, placed: PlacedState): string => {
  const { state, activities, nested, x, y, width, height } = placed;
  const tint = tintOf(machine, state);
  const box = { x, y, width, height };
  return element(
    'g',
    { 'data-state': state.path },
    tooltip(explain(machine, state)),
    rectangle(box, { rx: 8, class: tint, 'fill-opacity': nested ? 0.55 : 1 }),
    ...(state.type === 'final' ? [rectangle(inset(box, 3), { rx: 6, class: `${tint} inner` })] : []),
    write({ text: nameOf(state), x: x + 12, y: baseline(y + 8, 0), size: FONT.name, class: 'name' }),
    ...activities.map((text, index) =>
      write({ text, x: x + 12, y: baseline(y + 8, index + 1), size: FONT.small, class: 'soft' }),
    ),
  );
};

const pathThrough = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }, index) => `${index ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

const drawLine = (points: readonly { x: number; y: number }[], head: string): string =>
  element('path', { d: pathThrough(points), class: 'arrow', 'marker-end': `url(#${head})` });

const drawLabel = ({ arrow, label }: PlacedArrow): string =>
  rectangle(label, { rx: 4, class: 'chip' }) +
  arrow.lines
    .map((text, index) => write({ text, x: label.x + 5, y: baseline(label.y + 2, index), size: FONT.small }))
    .join('');

const drawArrow = (placed: PlacedArrow, head: string): string =>
  element(
    'g',
    { 'data-from': placed.arrow.from ?? '*', 'data-to': placed.arrow.to },
    tooltip(placed.arrow.descriptions.join('\n')),
    drawLine(placed.points, head),
    drawLabel(placed),
  );

const drawStart = ({ dot, points }: Placed['starts'][number], head: string): string =>
  element('circle', {
    cx: dot.x + dot.width / 2,
    cy: dot.y + dot.height / 2,
    r: dot.width / 2,
    class: 'dot',
  }) + drawLine(points, head);

const drawAnywhere = ({ activities, ...box }: NonNullable<Placed['anywhere']>): string =>
  rectangle(box, { rx: Math.min(box.height / 2, 16), class: 'plain rule' }) +
  write({ text: 'any state', x: box.x + 12, y: baseline(box.y + 8, 0), size: FONT.name, class: 'soft' }) +
  activities
    .map((text, index) =>
      write({ text, x: box.x + 12, y: baseline(box.y + 8, index + 1), size: FONT.small, class: 'soft' }),
    )
    .join('');

const arrowHead = (id: string): string =>
  element(
    'marker',
    { id, viewBox: '0 0 8 8', refX: 7.5, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto' },
    element('path', { d: 'M0 0.5L8 4L0 7.5Z', class: 'head' }),
  );

/** @example const text = await toSvg(describeMachine('run', runMachine)); */
export const toSvg = async (machine: MachineDescription): Promise<string> => {
  const placed = await place(machine);
  const caption = `${machine.name}: ${machine.description}`;
  const width = Math.ceil(Math.max(placed.width, caption.length * FONT.small * FONT.advance + 40));
  const height = Math.ceil(placed.height);
  // Several pictures may share one page, where ids are common to all.
  const head = `head-${machine.id}`;
  return element(
    'svg',
    {
      xmlns: 'http://www.w3.org/2000/svg',
      class: 'statechart',
      role: 'img',
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
    },
    tooltip(caption),
    element('style', {}, STYLE),
    element('defs', {}, arrowHead(head)),
    rectangle({ x: 0, y: 0, width, height }, { class: 'paper' }),
    write({ text: machine.name, x: 20, y: 28, size: 16, class: 'name' }),
    write({ text: machine.description, x: 20, y: 46, size: FONT.small, class: 'soft' }),
    ...placed.states.map((state) => `\n${drawState(machine, state)}`),
    ...(placed.anywhere ? [drawAnywhere(placed.anywhere)] : []),
    ...placed.starts.map((start) => `\n${drawStart(start, head)}`),
    ...placed.arrows.map((arrow) => `\n${drawArrow(arrow, head)}`),
    '\n',
  );
};
