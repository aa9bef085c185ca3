import { randomUUID } from 'node:crypto';
import { exactJson } from '../../schema/exact-integers.ts';
import type { JsonObject } from '../../schema/json.ts';
import { BOUNDS, excerpt } from '../bounds.ts';
import { toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { objectOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * Assembles the calls of Chat Completions from their deltas.
 *
 * The protocol numbers calls by `index` and sends id and name with the first delta of each. Services deviate: they omit
 * the index, number every call 0, omit the id or repeat it, repeat id and name in every delta, split the name, send the
 * arguments as an object, or send a whole call at once. So a delta belongs to the call that its id names, else to the
 * last one at its index, else to the last call, unless it cannot continue that call.
 *
 * Guarantees: each call has a unique id and a name; it is announced when its name is complete, which is when its
 * arguments begin or other output follows; calls end in the order in which they started.
 */
export type CallReader = {
  read(delta: JsonObject): void;
  /** Reads the deprecated form of a call, of which a completion can have only one. */
  readFunction(delta: JsonObject): void;
  /** Announces the pending call, because other output follows. */
  announce(): void;
  /** @throws ModelError for a call without a name */
  end(): void;
};

type Call = {
  readonly index: number | undefined;
  /** The provider's id; empty if it sent none. */
  given: string;
  /** The id in the completion; empty until the call is announced. */
  id: string;
  name: string;
  args: string;
  extra: JsonObject | undefined;
};

type CallFragment = { index: number | undefined; given: string; name: string; args: string };

/** A call is limited here until it is announced, and by the writer afterwards. */
const tooMuch = (what: string): ModelError =>
  new ModelError('provider', `the completion has more than ${what}`, { final: true });

/**
 * `before` is called ahead of each announcement. `returns`: whether extra fields of a call are sent back to the
 * provider.
 */
export function createCallReader(answer: AnswerWriter, before: () => void, returns: boolean): CallReader {
  const calls: Call[] = [];
  const started: Call[] = [];
  const ids = new Set<string>();
  /** The last call, until it is announced. */
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
  const open = ({ index, given }: CallFragment): Call => {
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
  const add = (call: Call, { given, name, args }: CallFragment): void => {
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
      const fragment = readFragment(delta);
      const found = find(calls, fragment);
      if (found === undefined && isEmpty(fragment)) return;
      const call = found ?? open(fragment);
      call.extra ??= objectOf(delta.extra_content);
      if (found !== undefined && repeats(found, fragment)) fragment.args = '';
      add(call, fragment);
    },
    readFunction({ name, arguments: args }) {
      const fragment = { index: FUNCTION_INDEX, given: '', name: notBlank(name), args: argumentsOf(args) };
      const found = calls.find(({ index }) => index === FUNCTION_INDEX);
      if (found !== undefined || !isEmpty(fragment)) add(found ?? open(fragment), fragment);
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

/** An index that no service uses. */
const FUNCTION_INDEX = -1;

const readFragment = (delta: JsonObject): CallFragment => {
  const called = objectOf(delta.function);
  return {
    index: typeof delta.index === 'number' ? delta.index : undefined,
    given: notBlank(delta.id),
    name: notBlank(called?.name),
    args: argumentsOf(called?.arguments),
  };
};

const notBlank = (value: unknown): string => (typeof value === 'string' && value.trim() !== '' ? value : '');

/** An empty object is a placeholder before the arguments. */
const argumentsOf = (value: unknown): string => {
  if (typeof value === 'string') return value;
  const object = objectOf(value);
  return object && Object.keys(object).length > 0 ? exactJson(object) : '';
};

const isEmpty = ({ given, name, args }: CallFragment): boolean => given === '' && name === '' && args === '';

/** The call that a delta continues; undefined for a new one. */
function find(calls: readonly Call[], fragment: CallFragment): Call | undefined {
  const last = calls.at(-1);
  if (last === undefined) return undefined;
  const { index, given, name } = fragment;
  if (given !== '') {
    const same = calls.findLast((call) => call.given === given && isAt(call, index, name));
    if (same) return beginsAnother(same, fragment) && !repeats(same, fragment) ? undefined : same;
  }
  const there = callAt(calls, last, index);
  return there === undefined || isNewCall(there, fragment) || beginsAnother(there, fragment)
    ? undefined
    : there;
}

/** The last call at the index; without an index, the last call. */
const callAt = (calls: readonly Call[], last: Call, index: number | undefined): Call | undefined =>
  index === undefined || last.index === index ? last : calls.findLast((call) => call.index === index);

/** Whether the id and the name of a delta show that it does not continue the call. */
const isNewCall = (call: Call, { index, given, name, args }: CallFragment): boolean => {
  if (name === '') return false;
  // Without an index, a name begins a call unless it is a repetition while the arguments are incomplete.
  if (index === undefined) return given !== '' || name !== call.name || call.args === '';
  if (given === '' || call.given === '') return false;
  return name !== call.name || startsValue(args) || isWhole(call.args);
};

/** If a service uses one id for two calls, their indexes differ and each has a name. */
const isAt = (call: Call, index: number | undefined, name: string): boolean =>
  index === undefined || call.index === undefined || call.index === index || name === '';

/**
 * A delta with a name cannot continue a call that has arguments under another name, or whose arguments are complete.
 */
const beginsAnother = (call: Call, { name, args }: CallFragment): boolean => {
  if (name === '' || call.name === '' || call.args === '') return false;
  return name !== call.name || (startsValue(args) && isWhole(call.args));
};

/** A service that sends whole calls may repeat one under its id and index, with its name. */
const repeats = (call: Call, { index, given, name, args }: CallFragment): boolean =>
  name !== '' &&
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
    // The text is still incomplete.
    return false;
  }
};

const nameless = (call: Call | undefined, answer: AnswerWriter) =>
  toStreamError(
    {
      message: `the completion has a call without a name: ${excerpt(call?.args || (call?.given ?? ''), 200)}`,
    },
    answer.hasBegun(),
  );
