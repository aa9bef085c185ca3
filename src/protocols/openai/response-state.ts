import type { ResponseUsage, StoredItem, StoredItemType } from '../../schema/stored-response.ts';
import type { CreateResource } from './events.ts';
import type { GrowingText } from './growing-text.ts';
import { type ItemPrefix, outputItemId } from './ids.ts';
import type { Output, OutputState, Place } from './open-output.ts';
import type { Source } from './output.ts';

/** The state of the encoder of a response: see `response-encoder.ts`. */

/** A call of an earlier leg that this one continues. */
export type EarlierCall = {
  step: number;
  ordinal: number;
  name: string;
  arguments: string;
  approved?: string;
};

export type ResponseOptions = {
  run_id: string;
  /** Steps of the run before this leg. */
  step: number;
  /** Names of the functions that the client executes. */
  functions: ReadonlySet<string>;
  /** Whether reasoning items contain the encrypted value of the provider. */
  encrypted: boolean;
  /** Calls of the run that wait, by their ids. */
  earlier: ReadonlyMap<string, EarlierCall>;
  /** The output so far, of a leg that an earlier process began. */
  begun?: OutputState;
  /** Calls of the run before this leg, or before the process. */
  calls: number;
  /** Ids of files for the next answer that an earlier leg, or an earlier process, has received. */
  files: readonly string[];
  /** Creates the resource for events about the whole response, from the items so far. */
  resource: CreateResource;
};

/** The first item of a kind within a step has a fixed position, and calls follow in their order. */
export const FIRST = { reasoning: 0, message: 1, call: 2 } as const;
/** Items in addition to those of calls: further texts of a step, which calls have interrupted, and questions of calls. */
export const MORE = 0x80;
export const REFUSAL = 0xff;

export type Call = {
  name: string;
  step: number;
  ordinal: number;
  n: number;
  arguments: string;
  isReady: boolean;
  isFunction: boolean;
  approved: string | undefined;
  /** Streamed while another item is open. */
  held: string;
  state: 'new' | 'waits' | 'open' | 'done';
  place: Place | undefined;
};

export type State = Pick<ResponseOptions, 'run_id' | 'functions' | 'encrypted' | 'resource'> & {
  readonly output: Output;
  readonly known: Map<string, Call>;
  /** The open text, reasoning or function call. */
  open: Open | undefined;
  step: number;
  isCounted: boolean;
  /** The output of the step was withdrawn, and the step is repeated. */
  isVoid: boolean;
  callsOfStep: number;
  partsOfStep: number;
  textOfStep: { message: number; reasoning: number };
  calls: number;
  encryptedValue: string | undefined;
  /** Sources of the step that no item contains yet. */
  sources: Source[];
  /** Ids of files that no item contains yet: the first answer without calls has them. */
  files: string[];
  usage: ResponseUsage | undefined;
  truncated: boolean;
  phase: 'before' | 'queued' | 'running' | 'sealed' | 'over';
  closing: string;
  heldFrom: number;
};

export type Open = OpenText | { kind: 'function'; place: Place; text: GrowingText };

/** `whole`: the text of the step, which the loop has too; that of the item begins at `start`. */
export type OpenText = { kind: TextKind; place: Place; whole: string; start: number };

export type TextKind = 'message' | 'reasoning';

export const idOf = (
  { run_id }: State,
  prefix: ItemPrefix,
  { step, ordinal }: { step: number; ordinal: number },
) => outputItemId({ prefix, run_id, step, ordinal });

export const stored = (
  id: string,
  type: StoredItemType,
  step: number,
  more: Partial<StoredItem> = {},
): StoredItem => ({ id, type, step, ...more });
