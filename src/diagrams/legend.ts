import type { Picture } from './diagram.ts';
import { FONT } from './layout.ts';
import { element, write } from './markup.ts';

/** The legend of a picture: the meaning of the strokes and marks that occur in it. */

const SAMPLE = 34;
const GAP = 26;
const ROW = 20;

type Entry = { sample: string; text: string };

const stroke = (kind: string, from = 0): string =>
  element('path', { d: `M${from} 0L26 0`, class: `arrow ${kind}` });
const mark = (text: string): string => write({ text, x: 9, y: 4, size: FONT.small });
const box = (width: number, look: string): string =>
  element('rect', { x: 0, y: -6, width, height: 12, rx: 3, class: look });

const entriesOf = ({ states, arrows }: Picture): Entry[] => {
  const lines = [...arrows.map((arrow) => arrow.lines), ...states.map(({ activities }) => activities)].flat();
  const has = (kind: string): boolean => lines.some((line) => line.kind === kind);
  const open = new Set(states.flatMap(({ state, open }) => (open ? state.path : [])));
  const entries: [boolean, Entry][] = [
    [arrows.length > 0, { sample: stroke('event'), text: 'an event, or a service is done' }],
    [has('error'), { sample: stroke('error'), text: 'a service fails' }],
    [has('timer'), { sample: stroke('timer'), text: 'a delay ends' }],
    [
      arrows.some(({ from, inward }) => from !== null && !inward && open.has(from)),
      {
        sample: box(14, 'plain') + stroke('event', 14),
        text: 'from a border: in every state inside, or those named',
      },
    ],
    [
      arrows.some(({ inward }) => inward),
      { sample: box(26, 'origin'), text: 'in every state around it, or those named' },
    ],
    [
      lines.some(({ text }) => text.startsWith('↻')),
      { sample: mark('↻'), text: 'leads to the state itself' },
    ],
    [states.some(({ hidden }) => hidden.length > 0), { sample: mark('⊞'), text: 'states folded away' }],
  ];
  return entries.flatMap(([is, entry]) => (is ? entry : []));
};

const widthOf = ({ text }: Entry): number => SAMPLE + Math.ceil(text.length * FONT.small * FONT.advance);

/** Places entries in rows of this width. */
export const drawLegend = (
  picture: Picture,
  { x, y, width }: { x: number; y: number; width: number },
): { drawn: string; height: number } => {
  let [left, top] = [0, 0];
  const drawn = entriesOf(picture).map((entry) => {
    if (left > 0 && left + widthOf(entry) > width) [left, top] = [0, top + ROW];
    const transform = `translate(${x + left} ${y + top + ROW / 2})`;
    left += widthOf(entry) + GAP;
    const text = write({ text: entry.text, x: SAMPLE, y: 4, size: FONT.small, class: 'soft' });
    return element('g', { transform }, entry.sample, text);
  });
  return { drawn: drawn.length ? element('g', { class: 'legend' }, ...drawn) : '', height: top + ROW };
};
