import type { Ending } from '../../../src/protocols/openai/response-encoder.ts';
import { createResponseEncoder, sealOutput } from '../../../src/protocols/openai/response-encoder.ts';
import type { ResponseOptions } from '../../../src/protocols/openai/response-state.ts';
import type { RunEvent } from '../../../src/schema/run-event.ts';
import type { StoredResponse } from '../../../src/schema/stored-response.ts';

/** A leg of a response without a runtime and a store. */

export const RUN = '0193a0b0-0000-7000-8000-000000000001';

export const storedRow = (changes: Partial<StoredResponse> = {}): StoredResponse => ({
  run_id: RUN,
  thread_id: '0193a0b0-0000-7000-8000-0000000000aa',
  leg: 1,
  status: 'in_progress',
  created_at: 1_765_000_400_000,
  from_seq: 0,
  echo: { model: 'support' },
  inputs: [],
  items: [],
  events: [],
  next: 0,
  reserved: 1000,
  calls: 0,
  ...changes,
});

export const startLeg = (options: Partial<ResponseOptions> = {}) => {
  const row = storedRow();
  const encoder = createResponseEncoder({
    row,
    step: 0,
    functions: new Set(['pick']),
    earlier: new Map(),
    ...options,
  });
  let text = '';
  const end = (ending: Ending, changes: Partial<StoredResponse> = {}): void => {
    sealOutput(encoder.state, ending, () =>
      Object.assign(row, { status: ending.status, ended_at: row.created_at }, changes),
    );
    text += encoder.event({
      event_type: 'run_finish',
      thread_id: 'T',
      run_id: RUN,
      termination: { type: 'natural_end' },
    });
  };
  return {
    encoder,
    row,
    play(...events: RunEvent[]): void {
      for (const event of events) text += encoder.event(event);
    },
    add(frames: string): void {
      text += frames;
    },
    end,
    text: () => text,
    events: () => parseFrames(text),
  };
};

export type Parsed = { type: string; sequence_number: number; [key: string]: unknown };

/** @throws if a frame does not have the form of the reference */
export const parseFrames = (text: string): Parsed[] => {
  const frames = text.split('\n\n').filter((each) => each !== '' && !each.startsWith(':'));
  return frames.flatMap((each) => {
    if (each === 'data: [DONE]') return [];
    const [, type, json] = /^event: (.+)\ndata: (.+)$/s.exec(each) ?? [];
    if (json === undefined) throw new Error(`not a frame: ${each}`);
    const event: Parsed = JSON.parse(json);
    if (event.type !== type) throw new Error(`event '${type}' has type '${event.type}'`);
    return [event];
  });
};

/** The types without their common prefix. */
export const typesOf = (events: readonly Parsed[]): string[] =>
  events.map(({ type }) => type.replace(/^response\./, ''));
