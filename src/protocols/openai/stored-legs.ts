import type { Message } from '../../schema/message.ts';
import type { Run } from '../../schema/run.ts';
import type { StoredItem, StoredResponse } from '../../schema/stored-response.ts';
import type { Store } from '../../store/index.ts';
import { isOfResponse, nameOf } from './events.ts';
import { parseItemId } from './ids.ts';
import { outputOf, type RunMessages, readRun } from './items.ts';
import type { OutputState } from './open-output.ts';
import type { OutputItem } from './output.ts';
import { type EarlierCall, MORE } from './response-state.ts';

/** Reads legs of responses from the store: their texts are those of the history (openai-responses.md 12). */

export type LegStore = Pick<Store, 'messages' | 'retractions' | 'stopped'>;

/** Restores the output that an earlier process has written; items of its unfinished step begin again. */
export const stateOf = (store: LegStore, scope: string, row: StoredResponse): OutputState => {
  const found = storedOutput(store, scope, row);
  const end = found.findIndex((item, index) => !item && row.items[index]?.void !== true);
  const count = end < 0 ? found.length : end;
  return {
    items: found.slice(0, count).map((item) => item ?? WITHDRAWN),
    kept: row.items.slice(0, count),
    events: row.events.filter((mark) => isOfResponse(nameOf(mark)) || mark[1] < count),
    next: row.reserved,
  };
};

/** The place of an item that was withdrawn. */
const WITHDRAWN: OutputItem = { id: '', type: 'reasoning', summary: [], status: 'incomplete' };

/** Returns the items of a leg at their positions; undefined for those that the history does not contain. */
export const storedOutput = (
  store: LegStore,
  scope: string,
  row: StoredResponse,
): (OutputItem | undefined)[] => {
  const { run_id, thread_id } = row;
  const messages = messagesOf(store, scope, { run_id, thread_id });
  const [stopped] = store.stopped
    .range(scope, thread_id, { from: row.from_seq })
    .filter((each) => each.run_id === run_id);
  return outputOf(row, readRun(messages), stopped?.message);
};

/** The messages of a run, without those that a client has deleted. */
const messagesOf = (
  { messages, retractions }: Pick<LegStore, 'messages' | 'retractions'>,
  scope: string,
  { run_id, thread_id }: Pick<Run, 'run_id' | 'thread_id'>,
): Message[] => {
  const rows = Array.from(messages.ofRun(scope, thread_id, run_id, {}));
  const [first] = rows;
  const last = rows.at(-1);
  if (!first || !last) return [];
  const hidden = new Set(
    retractions
      .range(scope, thread_id, first.seq, last.seq)
      .flatMap((each) => ('external' in each && each.external ? each.seq : [])),
  );
  return rows.filter(({ seq }) => !hidden.has(seq)).map(({ message }) => message);
};

/** The calls that a leg may continue: those that waited at the end of an earlier one. */
export const earlierCalls = (
  store: LegStore,
  scope: string,
  rows: readonly StoredResponse[],
): ReadonlyMap<string, EarlierCall> => {
  const [first] = rows;
  if (!first) return new Map();
  const run = readRun(messagesOf(store, scope, first));
  const found = rows.flatMap(({ items }) => items.map((item) => earlierCall(item, run)));
  return new Map(found.filter((each) => each !== undefined));
};

const earlierCall = (
  { id, call, step, asked }: StoredItem,
  run: RunMessages,
): [id: string, call: EarlierCall] | undefined => {
  const place = parseItemId(id);
  const known = call === undefined ? undefined : (asked ?? run.calls.get(call));
  if (call === undefined || !known || place?.kind !== 'output') return undefined;
  const ordinal = place.ordinal >= MORE ? place.ordinal - MORE : place.ordinal;
  return [call, { step, ordinal, ...known, ...(asked && { approved: id }) }];
};
