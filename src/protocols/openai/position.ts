import type { Access } from '../../identity/access/access.ts';
import { textOf } from '../../schema/message.ts';
import type { Place } from '../../schema/place.ts';
import type { Principal } from '../../schema/principal.ts';
import type { RunRecord } from '../../schema/run-state.ts';
import type { StoredItem, StoredResponse } from '../../schema/stored-response.ts';
import type { Store } from '../../store/index.ts';
import { parseCallId, parseItemId, parseResponseId } from './ids.ts';
import type { InputEntry } from './input.ts';
import { outputOf, readRun } from './items.ts';
import type { OutputItem } from './output.ts';
import { itemNotFound, previousNotFound } from './response-request.ts';

/**
 * The position of a request: the end of a response, or the last item that the request refers to (openai-responses.md 5.3).
 *
 * Clients differ in what they send: the id of the previous response, all items as references, or all items in full. A
 * full item counts as a reference while its content is that of the service; with another content, the whole input is a
 * history of the client.
 */

export type Position = {
  thread: Place;
  /** Number of the last message in front of the new input; undefined: the end of the thread. */
  seq: number | undefined;
  /** The leg that ends at the position, if it is one. */
  row: StoredResponse | undefined;
};

export type Located = {
  /** Undefined: a new thread. */
  position: Position | undefined;
  /** The entries behind the position. */
  entries: readonly InputEntry[];
};

type Deps = { access: Pick<Access, 'run'>; store: Pick<Store, 'runs' | 'responses' | 'messages'> };

/** The place, the run and the stored row of a response that the principal may read. */
export type FoundLeg = { thread: Place; run: RunRecord; row: StoredResponse };

/** Returns a response that is stored for its clients. */
export const findResponse = (deps: Deps, principal: Principal, id: string): FoundLeg | undefined => {
  const named = parseResponseId(id);
  const found = named && findRun(deps, principal, named.run_id);
  const row = found?.rows.find(({ leg }) => leg === named?.leg);
  if (!found || !row || row.echo.store === false) return undefined;
  return { thread: found.thread, run: found.run, row };
};

/** @throws OpenAiError 400 */
export const behindResponse = (deps: Deps, principal: Principal, id: string): Position => {
  const found = findResponse(deps, principal, id);
  if (!found) throw previousNotFound(id);
  const { thread, row } = found;
  return { thread, seq: row.to_seq ?? row.from_seq, row };
};

/** Finds the position by the items of the input. @throws OpenAiError 404 */
export const locate = (deps: Deps, principal: Principal, entries: readonly InputEntry[]): Located => {
  const isNew: Located = { position: undefined, entries };
  let position: Position | undefined;
  let behind = 0;
  for (const [index, entry] of entries.entries()) {
    const found = findEntry(deps, principal, entry);
    if (!found && entry.kind === 'reference') throw itemNotFound(entry.reference);
    if (!found) continue;
    if (entry.kind !== 'reference' && !isUnchanged(entry, found)) return isNew;
    position = found.position;
    behind = index + 1;
  }
  if (position)
    return {
      position,
      entries: [...earlierOutputs(entries.slice(0, behind), position), ...entries.slice(behind)],
    };
  const answered = positionOfAnswers(deps, principal, entries);
  return answered ? { position: answered, entries } : isNew;
};

/** Finds the item of an entry: by its id, and for a call also by the id of the call, the only one that AI SDK sends. */
const findEntry = (deps: Deps, principal: Principal, entry: InputEntry): FoundItem | undefined => {
  const id = entry.kind === 'reference' ? entry.reference : entry.id;
  if (id !== undefined) return findItem(deps, principal, id);
  return entry.kind === 'call' ? findCall(deps, principal, entry.call_id) : undefined;
};

const findCall = (deps: Deps, principal: Principal, call_id: string): FoundItem | undefined => {
  const call = parseCallId(call_id);
  const found = call && findRun(deps, principal, call.run_id);
  const items = found?.rows.flatMap((row) => row.items);
  const item = items?.find(
    ({ type, n, void: isVoid }) => type === 'function_call' && n === call?.ordinal && !isVoid,
  );
  return found && item && outputItem(deps, found, item.id);
};

/** Returns the results of calls of the leg that stand in front of a later call of it. */
const earlierOutputs = (entries: readonly InputEntry[], { row }: Position): InputEntry[] => {
  const numbers = new Set(row?.items.map(({ n }) => n));
  return entries.filter((entry) => {
    const call = entry.kind === 'output' ? parseCallId(entry.call_id) : undefined;
    return call !== undefined && call.run_id === row?.run_id && numbers.has(call.ordinal);
  });
};

/** A request that consists of answers refers to the response that they are for. */
const positionOfAnswers = (
  deps: Deps,
  principal: Principal,
  entries: readonly InputEntry[],
): Position | undefined => {
  if (entries.some(({ kind }) => kind === 'call')) return undefined;
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'approval') return findItem(deps, principal, entry.request)?.position;
    const call = entry.kind === 'output' ? parseCallId(entry.call_id) : undefined;
    const found = call && findRun(deps, principal, call.run_id);
    const row = found?.rows.findLast(({ items }) => items.some(({ n }) => n === call?.ordinal));
    if (found && row) return { thread: found.thread, seq: row.to_seq ?? row.from_seq, row };
  }
  return undefined;
};

type Found = { thread: Place; run: RunRecord; rows: StoredResponse[] };

const findRun = ({ access, store }: Deps, principal: Principal, run_id: string): Found | undefined => {
  const { scope, id } = access.run(principal, run_id, 'read');
  const run = store.runs.get(scope, id);
  if (run?.activation?.trace.adapter !== 'openai') return undefined;
  const rows = store.responses.ofRun(scope, run);
  return rows.length === 0 ? undefined : { thread: { scope, id: run.thread_id }, run, rows };
};

export type FoundItem = {
  position: Position;
  /** The item of an output; undefined for one of an input. */
  item: OutputItem | undefined;
  /** The text of a message of an input. */
  text: string | undefined;
};

/** Finds an item of a response by its id. */
export const findItem = (deps: Deps, principal: Principal, id: string): FoundItem | undefined => {
  const named = parseItemId(id);
  if (!named || named.kind === 'stored') return undefined;
  const found = findRun(deps, principal, named.run_id);
  if (!found) return undefined;
  return named.kind === 'output' ? outputItem(deps, found, id) : inputItem(deps, found, id);
};

const outputItem = ({ store }: Deps, { thread, run, rows }: Found, id: string): FoundItem | undefined => {
  const row = rows.find(({ items }) => items.some((item) => item.id === id && !item.void));
  if (!row) return undefined;
  const index = row.items.findIndex((item) => item.id === id);
  const messages = Array.from(store.messages.ofRun(thread.scope, thread.id, run.run_id, {}));
  const item = outputOf(row, readRun(messages.map(({ message }) => message)))[index];
  const kept = row.items[index];
  if (!item || !kept) return undefined;
  const seq = endOfStep(kept, row, messages);
  const isEnd = seq === row.to_seq;
  return { position: { thread, seq, row: isEnd ? row : undefined }, item, text: undefined };
};

type MessageRows = readonly {
  seq: number;
  message: { metadata?: { step_index?: number | undefined } | undefined };
}[];

/** Returns the end of the leg for items of its last step. */
const endOfStep = ({ step }: StoredItem, row: StoredResponse, messages: MessageRows): number => {
  const isLast = row.items.every((item) => item.step <= step);
  if (isLast && row.to_seq !== undefined) return row.to_seq;
  const end = messages.findLast(({ message }) => message.metadata?.step_index === step);
  return end?.seq ?? row.to_seq ?? row.from_seq;
};

const inputItem = ({ store }: Deps, { thread, run, rows }: Found, id: string): FoundItem | undefined => {
  const messages = Array.from(store.messages.ofRun(thread.scope, thread.id, run.run_id, {}));
  const found = messages.find(({ message }) => message.id === id);
  if (found) {
    const { seq, message } = found;
    return { position: { thread, seq, row: undefined }, item: undefined, text: textOf(message.content) };
  }
  const row = rows.find(({ inputs }) => inputs.some((input) => input.id === id));
  if (!row) return undefined;
  return { position: { thread, seq: row.from_seq, row: undefined }, item: undefined, text: undefined };
};

/** Whether a full item is the one that the service has stored. */
const isUnchanged = (entry: InputEntry, { item, text }: FoundItem): boolean => {
  switch (entry.kind) {
    case 'message': {
      const stored = item?.type === 'message' ? textOfItem(item) : text;
      return stored === undefined || stored === textOf(entry.content);
    }
    case 'call':
      return item?.type !== 'function_call' || isSameCall(item, entry);
    case 'own_call':
      return item?.type !== 'mcp_call' || isSameCall(item, entry);
    default:
      return true;
  }
};

const textOfItem = ({ content }: Extract<OutputItem, { type: 'message' }>): string =>
  content.map((part) => (part.type === 'refusal' ? part.refusal : part.text)).join('');

const isSameCall = (
  item: { name: string; arguments: string },
  entry: { name: string; arguments: unknown },
): boolean => item.name === entry.name && item.arguments === JSON.stringify(entry.arguments);
