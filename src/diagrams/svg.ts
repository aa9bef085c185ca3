import type { MachineDescription } from './description.ts';
import { explain, isLive, type Picture, type Shown } from './diagram.ts';
import { type Box, FONT, type Placed, type PlacedArrow, type PlacedState, place } from './layout.ts';
import { drawLegend } from './legend.ts';
import { explainLines, type Kind, kindOfAll } from './lines.ts';
import { baseline, element, rectangle, tooltip, write, writeRows } from './markup.ts';
import { nameOf } from './nesting.ts';
import { chooseTint, STYLE } from './palette.ts';

/**
 * A picture as one SVG document: nested boxes for states, arrows labeled `EVENT [guard] / actions`, and descriptions
 * as tooltips. It contains no script, font or external URL. Viewers find its parts by `data-state` and `data-head` (the
 * texts of an open state), `data-from`, `data-to` and `data-transitions` (ids, as JSON), and the states that can be
 * folded or unfolded by `data-fold`.
 */

const inset = ({ x, y, width, height }: Box, by: number): Box => ({
  x: x + by,
  y: y + by,
  width: width - 2 * by,
  height: height - 2 * by,
});

const idsOf = (transitions: readonly { id: string }[]): Record<string, string> =>
  transitions.length ? { 'data-transitions': JSON.stringify(transitions.map(({ id }) => id)) } : {};

const drawHead = ({ shown: { state }, rows, x, y }: PlacedState): string =>
  write({ text: nameOf(state.path), x: x + 12, y: baseline(y + 8, 0), size: FONT.name, class: 'name' }) +
  writeRows(rows, { x: x + 12, y: y + 8 + FONT.lineHeight, quiet: true });

const markOf = (shown: Shown, live: readonly string[]): { class?: string } =>
  isLive(shown, live) ? { class: 'live' } : {};

const drawState = (machine: MachineDescription, placed: PlacedState, live: readonly string[]): string => {
  const { shown, x, y, width, height } = placed;
  const { state, open, folded, inside } = shown;
  const tint = chooseTint(machine, state);
  const box = { x, y, width, height };
  return element(
    'g',
    {
      'data-state': state.path,
      ...(open || folded ? { 'data-fold': folded ? 'folded' : 'open' } : {}),
      ...markOf(shown, live),
    },
    tooltip(explain(shown)),
    rectangle(box, { rx: 8, class: tint, 'fill-opacity': open ? 0.55 : 1 }),
    ...(state.type === 'final' ? [rectangle(inset(box, 3), { rx: 6, class: `${tint} inner` })] : []),
    ...(open ? [] : [drawHead(placed)]),
    ...(inside.length ? [element('g', idsOf(inside))] : []),
  );
};

/** The head of an open state is drawn above the arrows that lead into it. */
const drawOver = (placed: PlacedState, live: readonly string[]): string =>
  element('g', { 'data-head': placed.shown.state.path, ...markOf(placed.shown, live) }, drawHead(placed));

const pathThrough = (points: readonly { x: number; y: number }[]): string =>
  points.map(({ x, y }, index) => `${index ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');

/** Several pictures may share one page, in which ids must be unique. */
const headId = (machine: MachineDescription, kind: Kind): string => `head-${machine.id}-${kind}`;

const drawLine = (
  points: readonly { x: number; y: number }[],
  kind: Kind,
  machine: MachineDescription,
): string =>
  element('path', {
    d: pathThrough(points),
    class: `arrow ${kind}`,
    'marker-end': `url(#${headId(machine, kind)})`,
  });

const drawArrow = ({ arrow, points, label, rows }: PlacedArrow, machine: MachineDescription): string =>
  element(
    'g',
    { 'data-from': arrow.from ?? '*', 'data-to': arrow.to },
    tooltip(explainLines(arrow.lines)),
    drawLine(points, kindOfAll(arrow.lines), machine),
    rectangle(label, { rx: arrow.inward ? 10 : 4, class: arrow.inward ? 'origin' : 'chip' }),
    writeRows(rows, { x: label.x + 5, y: label.y + 2 }),
  );

const drawStart = ({ dot, points }: Placed['starts'][number], machine: MachineDescription): string =>
  element('circle', {
    cx: dot.x + dot.width / 2,
    cy: dot.y + dot.height / 2,
    r: dot.width / 2,
    class: 'dot',
  }) + drawLine(points, 'event', machine);

const arrowHead = (machine: MachineDescription, kind: Kind): string =>
  element(
    'marker',
    {
      id: headId(machine, kind),
      viewBox: '0 0 8 8',
      refX: 7.5,
      refY: 4,
      markerWidth: 8,
      markerHeight: 8,
      orient: 'auto',
      markerUnits: 'userSpaceOnUse',
    },
    element('path', { d: 'M0 0.5L8 4L0 7.5Z', class: `head ${kind}` }),
  );

const captionOf = ({ machine }: Picture): string => `${machine.name}: ${machine.description}`;

/**
 * `live`: paths of states to mark, each in the state that shows it.
 *
 * @example const text = await toSvg(pictureOf(describeMachine('run', runMachine)), ['running.inferring']);
 */
export const toSvg = async (picture: Picture, live: readonly string[] = []): Promise<string> => {
  const { machine } = picture;
  const placed = await place(picture, { titled: true });
  const width = Math.ceil(Math.max(placed.width, captionOf(picture).length * FONT.small * FONT.advance + 40));
  const legend = drawLegend(picture, { x: 20, y: placed.height, width: width - 40 });
  const height = Math.ceil(placed.height + legend.height + 12);
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
    tooltip(captionOf(picture)),
    element('style', {}, STYLE),
    element('defs', {}, ...(['event', 'error', 'timer'] as const).map((kind) => arrowHead(machine, kind))),
    rectangle({ x: 0, y: 0, width, height }, { class: 'paper' }),
    write({ text: machine.name, x: 20, y: 28, size: 16, class: 'name' }),
    write({ text: machine.description, x: 20, y: 46, size: FONT.small, class: 'soft' }),
    writeRows(placed.rows, { x: 20, y: 50, quiet: true }),
    ...placed.states.map((state) => `\n${drawState(machine, state, live)}`),
    ...placed.starts.map((start) => `\n${drawStart(start, machine)}`),
    ...placed.arrows.map((arrow) => `\n${drawArrow(arrow, machine)}`),
    ...placed.states.flatMap((state) => (state.shown.open ? `\n${drawOver(state, live)}` : [])),
    `\n${legend.drawn}\n`,
  );
};
