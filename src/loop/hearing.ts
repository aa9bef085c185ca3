import type { InferenceSink, StopReason } from '../models/model.ts';
import { monotonic } from '../schema/clock.ts';
import { inexactInteger, inexactText } from '../schema/exact-integers.ts';
import type { ToolCall } from '../schema/message.ts';
import { DEEPEST, isTooDeep } from '../schema/nesting.ts';
import { hearPart } from './answer-parts.ts';
import { trackAttempts } from './attempts.ts';
import { newCall } from './calls.ts';
import { endProviderCalls, trackProviderCalls } from './provider-calls.ts';
import type { Attempts, RunStream, Step, StepCall, Turn } from './turn.ts';

/**
 * What the loop hears of a model: deltas go to the stream as they come, calls are kept for the step.
 *
 * Guarantees: ids of calls are unique in a message and not blank, nor are names, whatever a model gives; a call that
 * is ready is one that the model has finished. Costs a delta one call and one string concatenation.
 */
export type Hearing = {
  sink: InferenceSink;
  attempts: Attempts;
  /** `monotonic(clock)` of the first thing that was heard. */
  firstAt(): number | undefined;
  /** The model has stopped: a call that came to no proper end was cut off, or is what the model wrote. */
  settle(stop: StopReason): void;
};

/** A part, a source or a change of a call of the provider counts as one token of what was received. */
const PART = '....';

const BROKE_OFF = 'the stream of the provider broke off';

export const listen = (turn: Turn, step: Step, stream: RunStream = turn.stream): Hearing => {
  const calls = createNames();
  const provided = trackProviderCalls(turn, step);
  let doubtful: StepCall[] = [];
  /** What was received in addition to text and reasoning. */
  let rest = '';
  const attempts = trackAttempts(turn, () => step.text + step.reasoning + rest);
  step.attempts = attempts;
  let firstAt: number | undefined;
  const hear = (): void => {
    firstAt ??= monotonic(turn.clock);
  };
  const tellReady = ({ call: { id, name, arguments: args } }: StepCall): void =>
    stream.emit({ event_type: 'tool_call_ready', id, name, arguments: args });
  const sink: InferenceSink = {
    sent(settings) {
      step.sent = settings;
    },
    text(delta) {
      hear();
      step.text += delta;
      stream.text(delta);
    },
    reasoning(delta) {
      hear();
      step.reasoning += delta;
      stream.reasoning(delta);
    },
    reasoningEncrypted(value) {
      stream.emit({ event_type: 'reasoning_encrypted_value', encrypted_value: value });
    },
    reasoningItem(item) {
      step.reasoningItems.push({ ...item, after: { text: step.text.length, calls: calls.count() } });
    },
    part(given) {
      hear();
      rest += PART;
      hearPart(turn, step, given, { model: turn.agent.model.id });
    },
    source(source) {
      hear();
      rest += PART;
      provided.source(source);
    },
    providerCall(call) {
      hear();
      rest += PART;
      provided.report(call);
    },
    toolStart(given, called) {
      hear();
      rest += called;
      stream.emit({ event_type: 'tool_call_start', ...calls.add(given, called) });
    },
    toolDelta(given, delta) {
      rest += delta;
      stream.toolDelta(calls.of(given).id, delta);
    },
    toolEnd(given, argsText) {
      const asked = parseCall(turn, calls.of(given), argsText);
      turn.calls.push(asked);
      if (asked.malformed !== undefined || argsText.trim() === '') doubtful.push(asked);
      else tellReady(asked);
    },
    toolCancel(given, _, reason) {
      stream.emit({ event_type: 'tool_call_cancel', ...calls.of(given), reason });
      calls.remove(given);
    },
    brokeOff(usage, by) {
      attempts.brokeOff(usage, by);
      endProviderCalls(turn, step, BROKE_OFF);
    },
    reset(reason) {
      const { text } = step;
      provided.takeBack(reason);
      rest = '';
      attempts.restart();
      step.text = '';
      step.reasoning = '';
      step.reasoningItems = [];
      step.parts = [];
      step.sources = [];
      turn.calls = [];
      doubtful = [];
      stream.emit({ event_type: 'stream_reset', reason, ...(text !== '' && { text }) });
    },
  };
  return {
    sink,
    attempts,
    firstAt: () => firstAt,
    settle(stop) {
      endProviderCalls(turn, step, 'the answer ended before the call');
      if (stop !== 'MaxTokens') return doubtful.forEach(tellReady);
      turn.calls = turn.calls.filter((each) => !doubtful.includes(each));
      for (const { call } of doubtful) {
        stream.emit({ event_type: 'tool_call_cancel', id: call.id, name: call.name, reason: 'output limit' });
      }
    },
  };
};

type Named = { id: string; name: string };

/** The calls of a message as they are named here, by the id that the model gave last. */
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
  const asked = (value: ToolCall['arguments'], malformed?: string): StepCall =>
    newCall(turn, { ...named, arguments: value }, malformed);
  if (argsText.trim() === '') return asked({});
  try {
    const args = JSON.parse(argsText) ?? {};
    const inexact = inexactInteger(argsText);
    if (inexact !== undefined) return asked({}, inexactText(inexact));
    return isTooDeep(args) ? asked({}, `the arguments nest deeper than ${DEEPEST} levels`) : asked(args);
  } catch (error) {
    return asked({}, `the arguments are not JSON (${error})`);
  }
};
