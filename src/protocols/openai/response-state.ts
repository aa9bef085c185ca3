import type {
  ResponseUsage,
  StoredItem,
  StoredItemType,
  StoredResponse,
} from '../../schema/stored-response.ts';
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
  /** The row of the leg, whose resource is part of events about the whole response. */
  row: StoredResponse;
  /** Steps of the run before this leg. */
  step: number;
  /** Names of the functions that the client executes. */
  functions: ReadonlySet<string>;
  /** Calls of the run that wait, by their ids. */
  earlier: ReadonlyMap<string, EarlierCall>;
  /** The output so far, of a leg that an earlier process began. */
  begun?: OutputState;
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

/** Lists without elements are shared: most responses have neither sources nor files. */
export type State = Pick<ResponseOptions, 'row' | 'functions'> & {
  readonly output: Output;
  /** Undefined until the first call. */
  known: Map<string, Call> | undefined;
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
  sources: readonly Source[];
  /** Ids of files that no item contains yet: the first answer without calls has them. */
  files: readonly string[];
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
  { row: { run_id } }: State,
  prefix: ItemPrefix,
  { step, ordinal }: { step: number; ordinal: number },
) => outputItemId({ prefix, run_id, step, ordinal });

/** The calls of the leg, for a further one. */
export const callsOf = (state: State): Map<string, Call> => {
  state.known ??= new Map();
  return state.known;
};

export const stored = (
  id: string,
  type: StoredItemType,
  step: number,
  more: Partial<StoredItem> = {},
): StoredItem => ({ id, type, step, ...more });
