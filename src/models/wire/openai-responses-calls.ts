import { isObject } from '../../schema/endpoint.ts';
import { exactJson } from '../../schema/exact-integers.ts';
import type { Json, JsonObject } from '../../schema/json.ts';
import { BOUNDS } from '../bounds.ts';
import { toStreamError } from '../classify.ts';
import { ModelError } from '../errors.ts';
import { countOf, objectIn, objectOf, textOf } from './read.ts';
import type { AnswerWriter } from './wire.ts';

/**
 * The calls of one streamed response.
 *
 * Guarantees: each call starts and ends once, with a unique id within the completion. Its arguments are those of its
 * finished item, or else the deltas.
 * Cost per delta: a search among the calls, which checks the last one first.
 */
export type Calls = {
  open(item: JsonObject, place: number | undefined): void;
  delta(event: JsonObject): void;
  /** Receives the complete arguments before the item is finished. */
  arguments(event: JsonObject): void;
  end(item: JsonObject, place: number | undefined): void;
  /** Ends an open call with its item in the final response. */
  complete(item: JsonObject): void;
  /** Ends all open calls. `isFinished`: the provider has reported the end of the completion. */
  endAll(isFinished: boolean): void;
  any(): boolean;
};

type Call = {
  /** The id under which the call is written. */
  readonly id: string;
  /** The id that the provider sent. */
  readonly given: string;
  readonly item: string | undefined;
  readonly place: number | undefined;
  name: string;
  /** Arguments from deltas. */
  args: string;
  /** Complete arguments before the item is finished. */
  whole: string;
  /** Arguments from the start of the item; most services leave them empty. */
  readonly initial: string;
  isStarted: boolean;
  hasEnded: boolean;
};

export const createCalls = (answer: AnswerWriter): Calls => {
  const calls: Call[] = [];

  const open = (item: JsonObject, place: number | undefined): Call => {
    const given = textOf(item.call_id) || textOf(item.id) || 'call';
    const call: Call = {
      id: freeId(given, calls),
      given,
      item: textOf(item.id),
      place,
      name: textOf(item.name) ?? '',
      args: '',
      whole: '',
      initial: argumentsOf(item),
      isStarted: false,
      hasEnded: false,
    };
    calls.push(call);
    within(calls.length, BOUNDS.calls, 'calls');
    // The finished item may provide a missing name; a wrapper is replaced by the calls that it contains.
    if (call.name !== '' && call.name !== WRAPPER) start(answer, call);
    return call;
  };

  const finish = (call: Call, item: JsonObject): void => {
    if (call.hasEnded) return;
    if (!call.isStarted) call.name = textOf(item.name) || call.name;
    call.whole = argumentsOf(item) || call.whole || call.args || call.initial;
    end(answer, call);
  };

  return {
    open(item, place) {
      if (!calls.some((call) => isSame(call, item, place))) open(item, place);
    },
    delta(event) {
      const { delta } = event;
      const call = typeof delta === 'string' ? find(calls, event) : undefined;
      if (typeof delta !== 'string' || !call || call.hasEnded) return;
      call.args += delta;
      if (!call.isStarted)
        within(call.args.length, BOUNDS.argumentsLength, 'characters of arguments of one call');
      else answer.callDelta(call.id, delta);
    },
    arguments(event) {
      const call = find(calls, event);
      if (call) call.whole = argumentsOf(event) || call.whole;
    },
    end(item, place) {
      const call =
        calls.findLast((each) => isSame(each, item, place)) ??
        calls.findLast((each) => !each.hasEnded && isAt(each, item, place)) ??
        open(item, place);
      finish(call, item);
    },
    complete(item) {
      const call = calls.find(({ given, hasEnded }) => !hasEnded && given === item.call_id);
      if (call) finish(call, item);
    },
    endAll(isFinished) {
      for (const call of calls) {
        if (call.hasEnded || (call.name === '' && !isFinished)) continue;
        finish(call, {});
      }
    },
    any: () => calls.length > 0,
  };
};

/** The call that an event names by its item or its position; without both, the last open call. */
const find = (calls: readonly Call[], event: JsonObject): Call | undefined => {
  const item = textOf(event.item_id);
  const place = countOf(event.output_index);
  if (item === undefined && place === undefined) return calls.findLast(({ hasEnded }) => !hasEnded);
  const last = calls.at(-1);
  if (last && last.item === item && last.place === place) return last;
  return (
    (item !== undefined && calls.findLast((call) => call.item === item)) ||
    (place !== undefined && calls.findLast((call) => call.place === place)) ||
    undefined
  );
};

/** Services may give two calls of a completion one id; a repeated event also has the same position. */
const isSame = (call: Call, item: JsonObject, place: number | undefined): boolean => {
  if (place !== undefined && call.place !== undefined && place !== call.place) return false;
  const id = textOf(item.id);
  const given = textOf(item.call_id) || id;
  if (given !== undefined && given !== call.given) return false;
  return place !== undefined || id === undefined || call.item === undefined || id === call.item;
};

/** Whether the item is the same although its call now has another id. */
const isAt = (call: Call, item: JsonObject, place: number | undefined): boolean =>
  place === undefined ? call.item !== undefined && call.item === item.id : call.place === place;

const freeId = (given: string, calls: readonly Call[]): string => {
  let id = given;
  for (let n = 2; calls.some((call) => call.id === id); n += 1) id = `${given}_${n}`;
  return id;
};

/** The writer checks the limits of a call only after its start. */
const within = (value: number, most: number, what: string): void => {
  if (value > most)
    throw new ModelError('provider', `the completion has more than ${most} ${what}`, { final: true });
};

/** A custom tool has text as its input. */
const argumentsOf = (item: JsonObject): string => {
  const args: Json | undefined = item.arguments ?? item.input;
  if (typeof args === 'string') return args;
  return isObject(args) ? exactJson(args) : '';
};

const start = (answer: AnswerWriter, call: Call): void => {
  call.isStarted = true;
  answer.callStart(call.id, call.name);
};

const end = (answer: AnswerWriter, call: Call): void => {
  call.hasEnded = true;
  if (call.name === '') {
    const error = new ModelError('provider', `the completion has a call without a name (id '${call.id}')`);
    throw toStreamError(error, answer.hasBegun());
  }
  if (!call.isStarted) {
    const wrapped = call.name === WRAPPER ? wrappedCalls(call.whole) : undefined;
    for (const [index, { name, args }] of (wrapped ?? []).entries()) {
      writeCall(answer, `${call.id}_${index}`, name, args);
    }
    if (wrapped) return;
    start(answer, call);
    answer.callDelta(call.id, call.whole);
  }
  answer.callEnd(call.id, call.whole);
};

const writeCall = (answer: AnswerWriter, id: string, name: string, args: string): void => {
  answer.callStart(id, name);
  answer.callDelta(id, args);
  answer.callEnd(id, args);
};

/** Some OpenAI models write several calls as one call of a tool that does not exist. */
const WRAPPER = 'parallel';
const PREFIX = 'functions.';

/** Undefined unless the arguments consist only of such calls. */
const wrappedCalls = (args: string): { name: string; args: string }[] | undefined => {
  const uses = objectIn(args)?.tool_uses;
  if (!Array.isArray(uses) || uses.length === 0) return undefined;
  const calls: { name: string; args: string }[] = [];
  for (const each of uses) {
    const use = objectOf(each);
    const name = textOf(use?.recipient_name);
    const parameters = objectOf(use?.parameters);
    if (!name?.startsWith(PREFIX) || name.length === PREFIX.length || !parameters) return undefined;
    calls.push({ name: name.slice(PREFIX.length), args: JSON.stringify(parameters) });
  }
  return calls;
};
