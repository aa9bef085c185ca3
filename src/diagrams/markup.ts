import { type Box, FONT } from './layout.ts';
import { indentOf, type Row } from './lines.ts';

/** SVG as text; all attributes and texts are escaped. */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escapeText = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');

type Attributes = Record<string, string | number>;

export const element = (name: string, attributes: Attributes, ...inside: string[]): string => {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeText(String(value))}"`);
  return `<${name}${written.join('')}>${inside.join('')}</${name}>`;
};

export const tooltip = (text: string): string => element('title', {}, escapeText(text));

export const rectangle = (box: Box, attributes: Attributes): string =>
  element('rect', { ...box, ...attributes });

type Text = { text: string; x: number; y: number; size: number; class?: string };
export const write = ({ text, size, ...place }: Text): string =>
  element('text', { ...place, 'font-size': size }, escapeText(text));

/** Returns the baseline of a line of text in a block that starts at `top`. */
export const baseline = (top: number, line: number): number => top + FONT.lineHeight * (line + 1) - 4;

const classOf = ({ line, soft }: Row, quiet: boolean): { class?: string } => {
  if (!soft && line.kind !== 'event') return { class: line.kind };
  return soft || quiet ? { class: 'soft' } : {};
};

/** Writes rows one below the other; the rows of one line are grouped with the ids of its transitions. */
export const writeRows = (
  rows: readonly Row[],
  { x, y, quiet = false }: { x: number; y: number; quiet?: boolean },
): string =>
  [...new Set(rows.map(({ line }) => line))]
    .map((line) => {
      const texts = rows.flatMap((row, index) =>
        row.line === line
          ? write({
              text: row.text,
              x: x + indentOf(row) * FONT.small * FONT.advance,
              y: baseline(y, index),
              size: FONT.small,
              ...classOf(row, quiet),
            })
          : [],
      );
      const ids = line.transitions.map(({ id }) => id);
      return ids.length
        ? element('g', { 'data-transitions': JSON.stringify(ids) }, ...texts)
        : texts.join('');
    })
    .join('');
