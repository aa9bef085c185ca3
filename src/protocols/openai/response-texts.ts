import type { StoredItem } from '../../schema/stored-response.ts';
import { grownText } from './growing-text.ts';
import { addItem, beginDeltas, delta, emit } from './open-output.ts';
import { annotationsFor, type OutputItem, outputText } from './output.ts';
import {
  FIRST,
  idOf,
  MORE,
  type Open,
  type OpenText,
  REFUSAL,
  type State,
  stored,
  type TextKind,
} from './response-state.ts';

/** Messages and reasoning of a response (openai-responses.md 7.4, 7.5): one item is open at a time. */

/** The first text of a step has its own place; a further one follows an interruption. */
const placeOfText = (state: State, kind: TextKind) => {
  const isFirst = state.textOfStep[kind] === 0;
  const ordinal = isFirst ? FIRST[kind] : MORE + (state.partsOfStep++ % 0x70);
  return { step: state.step, ordinal };
};

/** The parts of a text that differ by its kind. */
const TEXTS = {
  message: {
    prefix: 'msg',
    begun: 'part_added',
    deltas: 'text_deltas',
    item: (id: string): OutputItem => ({
      id,
      type: 'message',
      role: 'assistant',
      content: [outputText('')],
      status: 'in_progress',
    }),
  },
  reasoning: {
    prefix: 'rs',
    begun: 'summary_part_added',
    deltas: 'summary_deltas',
    item: (id: string): OutputItem => ({
      id,
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: '' }],
      status: 'in_progress',
    }),
  },
} as const;

/**
 * Adds a delta to the open text of this kind, or to a new one.
 * @param whole the text of the step so far; without it, the deltas are concatenated
 */
export const textGrown = (state: State, kind: TextKind, text: string, whole?: string): string => {
  const { open, output } = state;
  if (open?.kind === kind) {
    grow(open, text, whole);
    return delta(output, open.place, text);
  }
  const { prefix, begun, deltas, item } = TEXTS[kind];
  const closed = closeOpen(state, 'completed');
  const id = idOf(state, prefix, placeOfText(state, kind));
  const from = state.textOfStep[kind];
  const added = addItem(output, item(id), stored(id, kind, state.step, from > 0 ? { from } : {}));
  const part = emit(output, begun, added.place);
  beginDeltas(added.place, deltas);
  const opened: OpenText = { kind, place: added.place, whole: '', start: 0 };
  grow(opened, text, whole);
  state.open = opened;
  return closed + added.frames + part + delta(output, added.place, text);
};

const grow = (open: OpenText, text: string, whole = open.whole + text): void => {
  if (open.whole === '') open.start = whole.length - text.length;
  open.whole = whole;
};

const textIn = (open: Open): string =>
  open.kind === 'function' ? grownText(open.text) : open.whole.slice(open.start);

/** @param callFollows whether a call of the same step interrupts the text */
export const closeOpen = (state: State, status: 'completed' | 'incomplete', callFollows = false): string => {
  const { open } = state;
  state.open = undefined;
  if (!open) return '';
  return CLOSE[open.kind](state, { place: open.place, text: textIn(open) }, { status, callFollows });
};

/** Brings the open item up to date. */
export const setText = (open: Open): void => {
  const { item } = open.place;
  const text = textIn(open);
  if (item.type === 'message') item.content = [outputText(text)];
  if (item.type === 'reasoning') item.summary = [{ type: 'summary_text', text }];
  if (item.type === 'function_call') item.arguments = text;
};
type Closing = { status: 'completed' | 'incomplete'; callFollows: boolean };

const NONE: readonly never[] = [];

type Closed = Pick<Open, 'place'> & { text: string };

const CLOSE: Readonly<Record<Open['kind'], (state: State, open: Closed, closing: Closing) => string>> = {
  message(state, { place, text }, { status, callFollows }) {
    const { output } = state;
    const { item, kept } = place;
    noteText(state, 'message', kept, text, callFollows);
    const isFinal = !callFollows && state.callsOfStep === 0;
    const files = isFinal ? state.files : NONE;
    if (isFinal) state.files = NONE;
    if (files.length > 0) kept.files = [...files];
    const annotations = annotationsFor({ sources: state.sources, files }, text.length);
    state.sources = NONE;
    if (item.type === 'message') {
      item.content = [outputText(text, annotations)];
      item.phase = isFinal ? 'final_answer' : 'commentary';
      item.status = status;
    }
    if (status === 'incomplete') kept.incomplete = true;
    return (
      annotations.map((_, index) => emit(output, 'annotation', place, index)).join('') +
      emit(output, 'text_done', place) +
      emit(output, 'part_done', place) +
      emit(output, 'item_done', place)
    );
  },
  reasoning(state, { place, text }, { status }) {
    const { output } = state;
    const { item, kept } = place;
    noteText(state, 'reasoning', kept, text, false);
    if (item.type === 'reasoning') {
      item.summary = [{ type: 'summary_text', text }];
      if (state.row.encrypted === true) item.encrypted_content = state.encryptedValue ?? null;
      item.status = status;
    }
    if (status === 'incomplete') kept.incomplete = true;
    return (
      emit(output, 'summary_done', place) +
      emit(output, 'summary_part_done', place) +
      emit(output, 'item_done', place)
    );
  },
  function(state, { place, text }, { status }) {
    const { item, kept } = place;
    if (item.type === 'function_call') {
      item.status = status;
      if (status === 'incomplete') item.arguments = text;
    }
    if (status === 'incomplete') kept.incomplete = true;
    const { output } = state;
    return emit(output, 'arguments_done', place) + emit(output, 'item_done', place);
  },
};

/** Notes the part of the text of the step that the item contains. */
const noteText = (
  state: State,
  kind: TextKind,
  kept: StoredItem,
  text: string,
  isInterrupted: boolean,
): void => {
  const from = state.textOfStep[kind];
  state.textOfStep[kind] = from + text.length;
  if (isInterrupted || from > 0) kept.to = from + text.length;
};

export const refused = (state: State, reason: string): string =>
  wholeMessage(
    state,
    { step: Math.max(state.step, 0), ordinal: REFUSAL },
    { type: 'refusal', refusal: reason },
    { text: reason, refusal: true },
  );

/** A message about a wait that the client cannot answer. */
export const noticed = (state: State, text: string): string =>
  wholeMessage(state, { step: Math.max(state.step, 0), ordinal: REFUSAL }, outputText(text), { text });

export const wholeMessage = (
  state: State,
  at: { step: number; ordinal: number },
  part: ReturnType<typeof outputText> | { type: 'refusal'; refusal: string },
  more: Partial<StoredItem>,
): string => {
  const { output } = state;
  const id = idOf(state, 'msg', at);
  const { place, frames } = addItem(
    output,
    { id, type: 'message', role: 'assistant', content: [part], phase: 'final_answer', status: 'completed' },
    stored(id, 'message', at.step, more),
  );
  const isRefusal = part.type === 'refusal';
  beginDeltas(place, isRefusal ? 'refusal_deltas' : 'text_deltas');
  return (
    frames +
    emit(output, 'part_added', place) +
    delta(output, place, isRefusal ? part.refusal : part.text) +
    emit(output, isRefusal ? 'refusal_done' : 'text_done', place) +
    emit(output, 'part_done', place) +
    emit(output, 'item_done', place)
  );
};
