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

export type Output = OutputState;

/** An item with its position in the output. */
export type Place = {
  readonly item: OutputItem;
  readonly kept: StoredItem;
  readonly index: number;
  deltas?: Deltas | undefined;
};

type Deltas = { name: DeltaName; frame: DeltaFrame; first: number; lengths: number[] };

export const createOutput = (begun?: OutputState): Output =>
  begun
    ? { items: [...begun.items], kept: [...begun.kept], events: [...begun.events], next: begun.next }
    : { items: [], kept: [], events: [], next: 0 };

/** Marks an event about the whole response. Returns its number. */
export const note = (output: Output, name: OfResponse): number => {
  const number = output.next++;
  output.events.push([codeOf(name), 0, number]);
  return number;
};

type OfItem = Parameters<typeof itemFrame>[0];

/** Marks an event about an item. Returns its frame. */
export const emit = (output: Output, name: OfItem, { item, index }: Place, annotation = 0): string => {
  const number = output.next++;
  output.events.push([codeOf(name), index, number]);
  const about: EventItem = { item, output_index: index, annotation };
  return itemFrame(name, about, number);
};

export const addItem = (
  output: Output,
  item: OutputItem,
  kept: StoredItem,
): { place: Place; frames: string } => {
  const index = output.items.push(item) - 1;
  output.kept.push(kept);
  const place: Place = { item, kept, index };
  return { place, frames: emit(output, 'item_added', place) };
};

/** Must be called before the deltas of an item. */
export const beginDeltas = (place: Place, name: DeltaName): void => {
  place.deltas = { name, frame: deltaFrame(name, place.item.id, place.index), first: -1, lengths: [] };
};

export const delta = (output: Output, { deltas, index }: Place, text: string): string => {
  if (!deltas) return '';
  const number = output.next++;
  if (deltas.first < 0 || number !== deltas.first + deltas.lengths.length) {
    deltas.first = number;
    deltas.lengths = [];
    output.events.push([codeOf(deltas.name), index, number, deltas.lengths]);
  }
  deltas.lengths.push(text.length);
  return deltaText(deltas.frame, text, number);
};

/** Forgets the deltas of an item whose text begins again. */
export const restart = (output: Output, place: Place): void => {
  const { deltas, index } = place;
  if (!deltas) return;
  const code = codeOf(deltas.name);
  output.events = output.events.filter(([kind, at]) => kind !== code || at !== index);
  deltas.first = -1;
};
