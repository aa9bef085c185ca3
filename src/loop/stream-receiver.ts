import { excerpt } from '../models/bounds.ts';
import type { InferenceSink, StopReason } from '../models/model.ts';
import { monotonic } from '../schema/clock.ts';
import { inexactInteger, inexactText } from '../schema/exact-integers.ts';
import type { ToolCall } from '../schema/message.ts';
import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import { receivePart } from './answer-parts.ts';
import { trackAttempts } from './attempts.ts';
import { newCall } from './calls.ts';
import { endProviderCalls, trackProviderCalls } from './provider-calls.ts';
import type { Attempts, RunStream, Step, StepCall, Turn } from './turn.ts';

/**
 * Receives the output of a model: deltas are passed on to the stream, calls are collected for the step.
 *
 * Guarantees: call ids are unique in a message and not blank, nor are names, regardless of the model; a call is
 * reported as ready only after the model has finished it.
 * Cost, per delta: one call and one string concatenation.
 */
export type StreamReceiver = {
  sink: InferenceSink;
  attempts: Attempts;
  /** `monotonic(clock)` at the first received output. */
  firstAt(): number | undefined;
  /**
   * The model has stopped. Calls with malformed or empty arguments are dropped if the output limit was reached, and
   * reported as ready otherwise.
   */
  settle(stop: StopReason): void;
};

/** A part, a source or a change of a provider call counts as one token of received output. */
const PART = '....';

/** Later failures replace the first ones, because a call that waits for a rate limit is repeated without a limit. */
export const MOST_RETRIES = 50;

const INTERRUPTED = 'the stream of the provider was interrupted';

export const receiveStream = (turn: Turn, step: Step, stream: RunStream = turn.stream): StreamReceiver => {
  const received: Received = {
    turn,
    step,
    stream,
    calls: createNames(),
    provided: trackProviderCalls(turn, step),
    attempts: trackAttempts(turn, () => step.text + step.reasoning + received.rest),
    rest: '',
    doubtful: [],
  };
  step.attempts = received.attempts;
  return {
    sink: createSink(received),
    attempts: received.attempts,
    firstAt: () => step.firstAt,
    settle: (stop) => settleCalls(received, stop),
  };
};

/** The output of one model call so far; the text is part of the step. */
type Received = {
  readonly turn: Turn;
  readonly step: Step;
  readonly stream: RunStream;
  readonly calls: ReturnType<typeof createNames>;
  readonly provided: ReturnType<typeof trackProviderCalls>;
  readonly attempts: Attempts;
  /** Received output other than text and reasoning. */
  rest: string;
  /** Calls with malformed or empty arguments. */
  doubtful: StepCall[];
};

const createSink = (received: Received): InferenceSink => {
  const { turn, step, stream, calls, provided, attempts } = received;
  return {
    sent(settings) {
      step.sent = settings;
    },
    text(delta) {
      noteFirst(received);
      step.text += delta;
      stream.text(delta, step.text);
    },
    reasoning(delta) {
      noteFirst(received);
      step.reasoning += delta;
      stream.reasoning(delta, step.reasoning);
    },
    reasoningEncrypted(value) {
      stream.emit({ event_type: 'reasoning_encrypted_value', encrypted_value: value });
    },
    reasoningItem(item) {
      step.reasoningItems.push({ ...item, after: { text: step.text.length, calls: calls.count() } });
    },
    part(given) {
      noteFirst(received);
      received.rest += PART;
      receivePart(turn, step, given, { model: turn.agent.model.id });
    },
    source(source) {
      noteFirst(received);
      received.rest += PART;
      provided.source(source);
    },
    providerCall(call) {
      noteFirst(received);
      received.rest += PART;
      provided.report(call);
    },
    toolStart(given, called) {
      noteFirst(received);
      received.rest += called;
      stream.emit({ event_type: 'tool_call_start', ...calls.add(given, called) });
    },
    toolDelta(given, delta) {
      received.rest += delta;
      stream.toolDelta(calls.of(given).id, delta);
    },
    toolEnd: (given, argsText) => endCall(received, given, argsText),
    toolCancel(given, _, reason) {
      stream.emit({ event_type: 'tool_call_cancel', ...calls.of(given), reason });
      calls.remove(given);
    },
    retrying({ error, wait_ms }) {
      step.retries.push({ failed_at: turn.clock.now(), error: excerpt(error), wait_ms });
      if (step.retries.length > MOST_RETRIES) step.retries.shift();
    },
    brokeOff(usage, by) {
      attempts.brokeOff(usage, by);
      endProviderCalls(turn, step, INTERRUPTED);
    },
    reset: (reason) => discard(received, reason),
  };
};

const noteFirst = ({ turn, step }: Received): void => {
  step.firstAt ??= monotonic(turn.clock);
};

const endCall = (received: Received, given: string, argsText: string): void => {
  const { turn, stream, calls, doubtful } = received;
  const call = parseCall(turn, calls.of(given), argsText);
  turn.calls.push(call);
  if (call.malformed !== undefined || argsText.trim() === '') doubtful.push(call);
  else emitReady(stream, call);
};

const emitReady = (stream: RunStream, { call: { id, name, arguments: args } }: StepCall): void =>
  stream.emit({ event_type: 'tool_call_ready', id, name, arguments: args });

/** Discards the received output, because the model starts again. */
const discard = (received: Received, reason: string): void => {
  const { turn, step, stream, provided, attempts } = received;
  const { text } = step;
  provided.takeBack(reason);
  received.rest = '';
  attempts.restart();
  step.text = '';
  step.reasoning = '';
  step.reasoningItems = [];
  step.parts = [];
  step.sources = [];
  turn.calls = [];
  received.doubtful = [];
  stream.emit({ event_type: 'stream_reset', reason, ...(text !== '' && { text }) });
};

const settleCalls = ({ turn, step, stream, doubtful }: Received, stop: StopReason): void => {
  endProviderCalls(turn, step, 'the completion ended before the call');
  if (stop !== 'MaxTokens') {
    for (const call of doubtful) emitReady(stream, call);
    return;
  }
  turn.calls = turn.calls.filter((each) => !doubtful.includes(each));
  for (const { call } of doubtful) {
    stream.emit({ event_type: 'tool_call_cancel', id: call.id, name: call.name, reason: 'output limit' });
  }
};

type Named = { id: string; name: string };

/** Maps the ids given by the model to the ids and names used here; a reused id refers to the latest call. */
const createNames = () => {
  const known = new Map<string, Named>();
  const taken = new Set<string>();
  const free = (given: string): string => {
    const wanted = given.trim() === '' ? 'call' : given;
    let id = wanted;
    for (let n = 2; taken.has(id); n += 1) id = `${wanted}_${n}`;
    return id;
  };
  return {
    add(given: string, called: string): Named {
      const named = { id: free(given), name: called.trim() === '' ? 'unnamed' : called };
      taken.add(named.id);
      known.set(given, named);
      return named;
    },
    count: () => taken.size,
    of: (given: string): Named => known.get(given) ?? { id: given, name: '' },
    remove(given: string): void {
      taken.delete(known.get(given)?.id ?? given);
      known.delete(given);
    },
  };
};

const parseCall = (turn: Turn, named: Named, argsText: string): StepCall => {
  const callWith = (value: ToolCall['arguments'], malformed?: string): StepCall =>
    newCall(turn, { ...named, arguments: value }, malformed);
  if (argsText.trim() === '') return callWith({});
  try {
    const args = JSON.parse(argsText) ?? {};
    const inexact = inexactInteger(argsText);
    if (inexact !== undefined) return callWith({}, inexactText(inexact));
    return isTooDeep(args)
      ? callWith({}, `the arguments nest deeper than ${DEEPEST} levels`)
      : callWith(args);
  } catch (error) {
    return callWith({}, `the arguments are not JSON (${error})`);
  }
};
