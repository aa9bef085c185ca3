import { randomUUID } from 'node:crypto';
import { exactJson } from '../../schema/exact-integers.ts';
import type { JsonObject } from '../../schema/json.ts';
import { BOUNDS, excerpt } from '../bounds.ts';
import { toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { objectOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Calls of Chat Completions, put together from their deltas.
 *
 * The protocol numbers calls by `index` and sends id and name with the first delta of each. Services differ: they
 * leave out the index, number every call 0, leave out the id or repeat it, repeat id and name in every delta, split
 * the name, send the arguments as an object, or send all of a call at once. So a delta belongs to the call that its id
 * names, else to the last one at its index, else to the last call, unless it cannot continue that call.
 *
 * Guarantees: each call has an id of its own and a name; it is announced when its name is complete, which is when its
 * arguments begin or something else follows; calls end in the order in which they started.
 */
export type CallReader = {
  read(delta: JsonObject): void;
  /** The deprecated form of a call, which an answer can have only once. */
  readFunction(delta: JsonObject): void;
  /** Something else follows. */
  announce(): void;
  /** @throws ModelError for a call without a name */
  end(): void;
};

type Call = {
  readonly index: number | undefined;
  /** The provider's id; empty without one. */
  given: string;
  /** The id in the answer; empty until the call is announced. */
  id: string;
  name: string;
  args: string;
  extra: JsonObject | undefined;
};

type Piece = { index: number | undefined; given: string; name: string; args: string };

/** A call that is not announced yet is bounded here, and an announced one by the answer. */
const tooMuch = (what: string): ModelError =>
  new ModelError('provider', `the answer has more than ${what}`, { final: true });

/** `before` is called ahead of each announcement. `returns`: the provider is sent additions to its calls again. */
export function createCallReader(answer: AnswerWriter, before: () => void, returns: boolean): CallReader {
  const calls: Call[] = [];
  const started: Call[] = [];
  const ids = new Set<string>();
  /** The last call, as long as it is not announced. */
  let waiting: Call | undefined;

  const start = (call: Call): void => {
    before();
    call.id = call.given !== '' && !ids.has(call.given) ? call.given : `call_${randomUUID()}`;
    ids.add(call.id);
    started.push(call);
    if (waiting === call) waiting = undefined;
    if (call.extra && returns) answer.reasoningItem({ extra_content: call.extra });
    answer.callStart(call.id, call.name);
    answer.callDelta(call.id, call.args);
  };
  const announce = (): void => {
    if (waiting !== undefined && waiting.name !== '') start(waiting);
  };
  const open = ({ index, given }: Piece): Call => {
    announce();
    if (calls.length >= BOUNDS.calls) throw tooMuch(`${BOUNDS.calls} calls`);
    if (given.length > BOUNDS.nameLength) {
      throw tooMuch(`${BOUNDS.nameLength} characters in the id or name of a call`);
    }
    const call: Call = { index, given, id: '', name: '', args: '', extra: undefined };
    calls.push(call);
    waiting = call;
    return call;
  };
  const add = (call: Call, { given, name, args }: Piece): void => {
    if (call.given === '') call.given = given;
    if (call.id !== '') {
      call.args += args;
      answer.callDelta(call.id, args);
      return;
    }
    if (name !== call.name) call.name += name;
    call.args += args;
    if (call.name !== '' && (call.args !== '' || call.name.length > BOUNDS.nameLength)) start(call);
    else if (call.args.length > BOUNDS.argumentsLength) throw nameless(call, answer);
  };
  return {
    read(delta) {
      const called = objectOf(delta.function);
      const piece: Piece = {
        index: typeof delta.index === 'number' ? delta.index : undefined,
        given: notBlank(delta.id),
        name: notBlank(called?.name),
        args: argumentsOf(called?.arguments),
      };
      const found = find(calls, piece);
      if (found === undefined && isEmpty(piece)) return;
      const call = found ?? open(piece);
      call.extra ??= objectOf(delta.extra_content);
      if (found !== undefined && repeats(found, piece)) piece.args = '';
      add(call, piece);
    },
    readFunction({ name, arguments: args }) {
      const piece: Piece = {
        index: FUNCTION_INDEX,
        given: '',
        name: notBlank(name),
        args: argumentsOf(args),
      };
      const found = calls.find(({ index }) => index === FUNCTION_INDEX);
      if (found !== undefined || !isEmpty(piece)) add(found ?? open(piece), piece);
    },
    announce,
    end() {
      for (const call of calls) {
        if (call.id !== '') continue;
        if (call.name === '') throw nameless(call, answer);
        start(call);
      }
      for (const { id, args } of started) answer.callEnd(id, args);
    },
  };
}

/** No service numbers a call so. */
const FUNCTION_INDEX = -1;

const notBlank = (value: unknown): string => (typeof value === 'string' && value.trim() !== '' ? value : '');

/** An empty object is what a call has before its arguments. */
const argumentsOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const object = objectOf(value);
  return object && Object.keys(object).length > 0 ? exactJson(object) : '';
};

const isEmpty = ({ given, name, args }: Piece): boolean => given === '' && name === '' && args === '';

/** The call that a delta continues; undefined for a new one. */
function find(calls: readonly Call[], piece: Piece): Call | undefined {
  const last = calls.at(-1);
  if (last === undefined) return undefined;
  const { index, given, name } = piece;
  if (given !== '') {
    const same = calls.findLast((call) => call.given === given && isAt(call, index, name));
    if (same) return beginsAnother(same, piece) && !repeats(same, piece) ? undefined : same;
  }
  if (index === undefined) {
    // Without any number a name begins a call, unless it is repeated while the arguments are not complete.
    const begins = name !== '' && (given !== '' || name !== last.name || last.args === '');
    return begins || beginsAnother(last, piece) ? undefined : last;
  }
  const there = last.index === index ? last : calls.findLast((call) => call.index === index);
  if (there === undefined) return undefined;
  const isNew = given !== '' && there.given !== '' && name !== '';
  if (isNew && (name !== there.name || startsValue(piece.args) || isWhole(there.args))) return undefined;
  return beginsAnother(there, piece) ? undefined : there;
}

/** Where a service uses one id for two calls, they differ in their index, and each has a name. */
const isAt = (call: Call, index: number | undefined, name: string): boolean =>
  index === undefined || call.index === undefined || call.index === index || name === '';

/** A delta with a name cannot continue a call that has arguments under another name, or all of its arguments. */
const beginsAnother = (call: Call, { name, args }: Piece): boolean => {
  if (name === '' || call.name === '' || call.args === '') return false;
  return name !== call.name || (startsValue(args) && isWhole(call.args));
};

/** A service that sends a whole call repeats it under its id and index. */
const repeats = (call: Call, { index, given, args }: Piece): boolean =>
  index !== undefined &&
  call.index === index &&
  call.given === given &&
  call.args === args &&
  startsValue(args);

const startsValue = (text: string): boolean => /^\s*[[{]/.test(text);

const isWhole = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // Cut off as yet.
    return false;
  }
};

const nameless = (call: Call | undefined, answer: AnswerWriter) =>
  toStreamError(
    { message: `the answer has a call without a name: ${excerpt(call?.args || (call?.given ?? ''), 200)}` },
    answer.hasBegun(),
  );
