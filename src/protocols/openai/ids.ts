import { createHash } from 'node:crypto';

/**
 * Ids of the protocol (openai.md 2.5). They are derived from those of runs, threads and messages, so that nothing is
 * stored to resolve them; clients treat them as opaque.
 *
 * Guarantees: an id of a UUID run or thread resolves to exactly what it was made from. Ids of other runs (A2A clients
 * choose their own) are stable, but resolve to nothing.
 */

/** A request and its answer within a run: 0 for the first one. */
export type Leg = { run_id: string; leg: number };

export const ITEM_PREFIXES = ['msg', 'rs', 'fc', 'fco', 'mcp', 'mcpr', 'mcpa'] as const;
export type ItemPrefix = (typeof ITEM_PREFIXES)[number];

/** An output item: the step of the run, and its position among those of the step. */
export type OutputItem = { prefix: ItemPrefix; run_id: string; step: number; ordinal: number };

/** An item of the input of a run. */
export type InputItem = { prefix: InputPrefix; run_id: string; ordinal: number };
export type InputPrefix = 'msg' | 'fco' | 'mcpa';

export type ItemId =
  | ({ kind: 'output' } & OutputItem)
  | ({ kind: 'input' } & InputItem)
  /** A message that no run of this protocol made; known only within its conversation. */
  | { kind: 'stored'; seq: number };

/** `resp_` and the run with the leg. */
export const responseId = (leg: Leg): string => `resp_${legText(leg)}`;
export const parseResponseId = (id: string): Leg | undefined => legIn(id, 'resp_');

/** `chatcmpl-` and the run with the leg. */
export const completionId = (leg: Leg): string => `chatcmpl-${legText(leg)}`;
export const parseCompletionId = (id: string): Leg | undefined => legIn(id, 'chatcmpl-');

export const outputItemId = ({ prefix, run_id, step, ordinal }: OutputItem): string =>
  `${prefix}_${runText(run_id)}${hex(step, 4)}${hex(ordinal, 2)}`;

export const inputItemId = ({ prefix, run_id, ordinal }: InputItem): string =>
  `${prefix}_${runText(run_id)}i${hex(ordinal, 5)}`;

export const storedItemId = (seq: number): string => `msg_s${hex(seq, 8)}`;

export const parseItemId = (id: string): ItemId | undefined => {
  const { prefix, run, step, ordinal, input, seq } = ITEM.exec(id)?.groups ?? {};
  if (seq !== undefined) return { kind: 'stored', seq: Number.parseInt(seq, 16) };
  if (prefix === undefined || run === undefined) return undefined;
  const run_id = uuidOf(run);
  if (input !== undefined) {
    const known = INPUT_PREFIXES.find((each) => each === prefix);
    return known && { kind: 'input', prefix: known, run_id, ordinal: Number.parseInt(input, 16) };
  }
  const known = ITEM_PREFIXES.find((each) => each === prefix);
  if (!known || step === undefined || ordinal === undefined) return undefined;
  return {
    kind: 'output',
    prefix: known,
    run_id,
    step: Number.parseInt(step, 16),
    ordinal: Number.parseInt(ordinal, 16),
  };
};

const INPUT_PREFIXES: readonly InputPrefix[] = ['msg', 'fco', 'mcpa'];

const ITEM =
  /^(?:(?<prefix>[a-z]+)_(?<run>[0-9a-f]{32})(?:(?<step>[0-9a-f]{4})(?<ordinal>[0-9a-f]{2})|i(?<input>[0-9a-f]{5}))|msg_s(?<seq>[0-9a-f]{8}))$/;

/**
 * The id of a call: the run, and the number of the call among those of the run. It has 40 characters, the most that
 * OpenAI itself accepts in a request.
 */
export type CallRef = { run_id: string; ordinal: number };

export const callId = ({ run_id, ordinal }: CallRef): string =>
  `call_${digestedRun(run_id)}${ordinal.toString(36).padStart(CALL_DIGITS, '0')}`;

const CALL_DIGITS = 3;

export const parseCallId = (id: string): CallRef | undefined => {
  const { run, ordinal } = CALL.exec(id)?.groups ?? {};
  if (run === undefined || ordinal === undefined) return undefined;
  return { run_id: uuidOf(run), ordinal: Number.parseInt(ordinal, 36) };
};

const CALL = /^call_(?<run>[0-9a-f]{32})(?<ordinal>[0-9a-z]{3})$/;

/** `conv_` and the digits of a UUID; any other id of a thread is its own name. */
export const conversationId = (thread_id: string): string =>
  UUID.test(thread_id) ? `conv_${digitsOf(thread_id)}` : thread_id;

/** Returns the thread of a conversation; ids of threads are accepted as they are. */
export const threadOfConversation = (id: string): string => {
  const [, digits] = CONVERSATION.exec(id) ?? [];
  return digits === undefined ? id : uuidOf(digits);
};

/** Whether the id can only be that of a conversation of this service. */
export const isConversationId = (id: string): boolean => CONVERSATION.test(id);

const CONVERSATION = /^conv_([0-9a-f]{32})$/;

/** @param uuid the id of the stored file */
export const fileId = (uuid: string): string => `file-${digitsOf(uuid)}`;
export const parseFileId = (id: string): string | undefined => {
  const [, digits] = /^file-([0-9a-f]{32})$/.exec(id) ?? [];
  return digits === undefined ? undefined : uuidOf(digits);
};

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Several ids of a response are made from the id of its run, and a search for each hyphen costs more than slices. */
const digitsOf = (uuid: string): string =>
  uuid.slice(0, 8) + uuid.slice(9, 13) + uuid.slice(14, 18) + uuid.slice(19, 23) + uuid.slice(24);

const uuidOf = (digits: string): string =>
  [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ].join('-');

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');

/** The digits of a UUID run; otherwise `x` and a digest, which resolves to nothing. */
const runText = (run_id: string): string => (UUID.test(run_id) ? digitsOf(run_id) : `x${digestOf(run_id)}`);

/** In ids of calls the digest has no mark, so that all have the same length. */
const digestedRun = (run_id: string): string => (UUID.test(run_id) ? digitsOf(run_id) : digestOf(run_id));

const digestOf = (run_id: string): string => createHash('sha256').update(run_id).digest('hex').slice(0, 32);

const legText = ({ run_id, leg }: Leg): string => `${runText(run_id)}${hex(leg, 4)}`;

const legIn = (id: string, prefix: string): Leg | undefined => {
  const { run, leg } = LEG.exec(id.startsWith(prefix) ? id.slice(prefix.length) : '')?.groups ?? {};
  return run === undefined || leg === undefined
    ? undefined
    : { run_id: uuidOf(run), leg: Number.parseInt(leg, 16) };
};

const LEG = /^(?<run>[0-9a-f]{32})(?<leg>[0-9a-f]{4})$/;

/** Unix seconds. */
export const unixSeconds = (ms: number): number => Math.floor(ms / 1000);
