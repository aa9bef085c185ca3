import type { ChartLevels } from '../../schema/chart.ts';
import {
  anyObject,
  fields,
  flag,
  type Guard,
  list,
  number,
  object,
  ShapeError,
  text,
} from '../data/guard.ts';

/** Guards for charts that the service provides at run time, instead of those built into the console. */

const oneOf =
  <const Word extends string>(...words: readonly Word[]): Guard<Word> =>
  (value, at) => {
    const found = words.find((word) => word === value);
    if (found === undefined) throw new ShapeError(at, `one of ${words.join(', ')}`);
    return found;
  };

const texts: Guard<Record<string, string>> = (value, at) =>
  Object.fromEntries(
    Object.entries(anyObject(value, at)).map(([key, each]) => [key, text(each, `${at}.${key}`)]),
  );

const box = { x: number, y: number, width: number, height: number };
const points = list(object({ x: number, y: number }));
const rows = list(object({ text, indented: flag, soft: flag }));

const Chart = object({
  width: number,
  height: number,
  states: list(
    object({
      ...box,
      ...fields(text, 'path', 'name', 'about'),
      tint: oneOf('plain', 'created', 'running', 'waiting', 'done', 'completed', 'failed', 'cancelled'),
      open: flag,
      final: flag,
      hidden: list(text),
      rows,
    }),
  ),
  arrows: list(
    object({
      points,
      label: object(box),
      rows,
      kind: oneOf('event', 'error', 'timer'),
      inward: flag,
      transitions: list(text),
      names: list(text),
      about: text,
    }),
  ),
  starts: list(object({ dot: object(box), points })),
  inside: texts,
});

export const Charts: Guard<ChartLevels> = object({
  name: text,
  description: text,
  levels: list(Chart),
  compact: list(Chart),
});
