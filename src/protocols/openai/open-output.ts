import type { EventMark, StoredItem } from '../../schema/stored-response.ts';
import {
  codeOf,
  type DeltaFrame,
  type DeltaName,
  deltaFrame,
  deltaText,
  type EventItem,
  itemFrame,
  type OfResponse,
} from './events.ts';
import type { OutputItem } from './output.ts';

/**
 * The output of a leg while it grows: its items, and a mark for each event, from which the event can be created again.
 * A mark of deltas has one number for each of them, so that a leg without a reader keeps no frames.
 */

export type OutputState = {
  items: OutputItem[];
  /** The stored fields of each item, at the same positions. */
  kept: StoredItem[];
  events: EventMark[];
  /** Number of the next event. */
  next: number;
};

export type Output = Omit<OutputState, 'events'> & { marks: (EventMark | OpenMark)[] };

/** Returns the items that were not withdrawn. */
export const outputSoFar = ({ items, kept }: Output): OutputItem[] =>
  items.filter((_, index) => kept[index]?.void !== true);

/** Lists that are shorter have no room for further elements; `push` makes room for 16 at first. */
const FEW = 8;

const appended = <Value>(list: Value[], value: Value): Value[] => {
  if (list.length < FEW) return [...list, value];
  list.push(value);
  return list;
};

/** Marks of the first events, which are the same in most responses, so that they share them. */
const FIRST_MARKS: (EventMark | undefined)[] = [];
const FIRST_NUMBERS = 8;

const markOf = (kind: number, index: number, number: number): EventMark => {
  if (index > 0 || number >= FIRST_NUMBERS) return [kind, index, number];
  const at = kind * FIRST_NUMBERS + number;
  const known = FIRST_MARKS[at] ?? [kind, index, number];
  FIRST_MARKS[at] = known;
  return known;
};

/** A mark of deltas that this process has counted, of which a leg that is open for long may have many. */
type OpenMark = {
  kind: number;
  index: number;
  number: number;
  lengths: Uint8Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;
  count: number;
};

/** A byte for each delta, up to the first one that is longer. */
const FIRST_LENGTHS = 64;
const LONGEST_IN_BYTE = 255;
const GROWTH = 4;

const addLength = (mark: OpenMark, length: number): void => {
  const { lengths, count } = mark;
  const isWide = lengths.BYTES_PER_ELEMENT > 1;
  if (count === lengths.length || (length > LONGEST_IN_BYTE && !isWide)) {
    const capacity = count === lengths.length ? GROWTH * count : lengths.length;
    const longer = isWide || length > LONGEST_IN_BYTE ? new Uint32Array(capacity) : new Uint8Array(capacity);
    longer.set(lengths);
    mark.lengths = longer;
  }
  mark.lengths[count] = length;
  mark.count = count + 1;
};

/** Returns the marks in the form of the store. */
export const marksOf = ({ marks }: Output): EventMark[] =>
  marks.map((mark) => {
    if (!('lengths' in mark)) return mark;
    const { kind, index, number, lengths, count } = mark;
    return [kind, index, number, storedLengths(lengths, count)];
  });

const storedLengths = (lengths: OpenMark['lengths'], count: number): readonly number[] | string =>
  lengths.BYTES_PER_ELEMENT === 1
    ? Buffer.from(lengths.buffer, lengths.byteOffset, count).toString('latin1')
    : Array.from(lengths.subarray(0, count));

/** An item with its position in the output. */
export type Place = {
  readonly item: OutputItem;
  readonly kept: StoredItem;
  readonly index: number;
  deltas?: Deltas | undefined;
};

type Deltas = { name: DeltaName; frame: DeltaFrame; mark: OpenMark | undefined };

export const createOutput = (begun?: OutputState): Output =>
  begun
    ? { items: [...begun.items], kept: [...begun.kept], marks: [...begun.events], next: begun.next }
    : { items: [], kept: [], marks: [], next: 0 };

/** Marks an event about the whole response. Returns its number. */
export const note = (output: Output, name: OfResponse): number => {
  const number = output.next++;
  output.marks = appended(output.marks, markOf(codeOf(name), 0, number));
  return number;
};

type OfItem = Parameters<typeof itemFrame>[0];

/** Marks an event about an item. Returns its frame. */
export const emit = (output: Output, name: OfItem, { item, index }: Place, annotation = 0): string => {
  const number = output.next++;
  output.marks = appended(output.marks, markOf(codeOf(name), index, number));
  const about: EventItem = { item, output_index: index, annotation };
  return itemFrame(name, about, number);
};

export const addItem = (
  output: Output,
  item: OutputItem,
  kept: StoredItem,
): { place: Place; frames: string } => {
  const index = output.items.length;
  output.items = appended(output.items, item);
  output.kept = appended(output.kept, kept);
  const place: Place = { item, kept, index };
  return { place, frames: emit(output, 'item_added', place) };
};

/** Must be called before the deltas of an item. */
export const beginDeltas = (place: Place, name: DeltaName): void => {
  place.deltas = { name, frame: deltaFrame(name, place.item.id, place.index), mark: undefined };
};

export const delta = (output: Output, { deltas, index }: Place, text: string): string => {
  if (!deltas) return '';
  const number = output.next++;
  const { mark = beginMark(output, deltas, { index, number }) } = deltas;
  const isNext = number === mark.number + mark.count;
  addLength(isNext ? mark : beginMark(output, deltas, { index, number }), text.length);
  return deltaText(deltas.frame, text, number);
};

const beginMark = (
  output: Output,
  deltas: Deltas,
  { index, number }: Pick<OpenMark, 'index' | 'number'>,
): OpenMark => {
  const kind = codeOf(deltas.name);
  const mark: OpenMark = { kind, index, number, lengths: new Uint8Array(FIRST_LENGTHS), count: 0 };
  deltas.mark = mark;
  output.marks = appended(output.marks, mark);
  return mark;
};

/** Forgets the deltas of an item whose text begins again. */
export const restart = (output: Output, place: Place): void => {
  const { deltas, index } = place;
  if (!deltas) return;
  const code = codeOf(deltas.name);
  output.marks = output.marks.filter((mark) => {
    const [kind, at] = 'lengths' in mark ? [mark.kind, mark.index] : mark;
    return kind !== code || at !== index;
  });
  deltas.mark = undefined;
};
