import type { InferenceSink } from '../models/model.ts';
import type { RunEvent, RunEventOf } from '../schema/run-event.ts';
import type { OutputPlan } from './output.ts';
import type { RunStream, Step, Turn } from './turn.ts';

/**
 * The stream to readers of an answer that must be a structured result.
 *
 * Guarantees: a result call is never reported to readers. Text that may be the result is held back until it has been
 * validated, unless the provider constrains it to the schema; text before a tool call is not held back.
 * Cost: nothing for a run without a schema.
 */
export type OutputReader = {
  /** Receives the deltas of the inference. */
  stream: RunStream;
  /** The sink without the result call, whose arguments are stored in the step. */
  sinkFor(plan: OutputPlan, sink: InferenceSink): InferenceSink;
};

export const createOutputReader = (turn: Turn, step: Step): OutputReader => {
  const { stream } = turn;
  let holds = false;
  return {
    stream: {
      ...stream,
      emit(event) {
        stream.emit(event.event_type === 'stream_reset' ? withoutUnsent(step, event) : event);
      },
      text(delta, whole) {
        if (holds) step.unsent += delta;
        else stream.text(delta, whole);
      },
    },
    sinkFor(plan, sink) {
      holds = plan.mode !== 'native';
      return plan.mode === 'tool' ? withoutResult(turn, { step, tool: plan.tool, sink }) : sink;
    },
  };
};

/** Readers drop only the text that they have received. */
const withoutUnsent = (step: Step, { text = '', ...event }: RunEventOf<'stream_reset'>): RunEvent => {
  const sent = text.slice(0, text.length - step.unsent.length);
  step.unsent = '';
  return { ...event, ...(sent !== '' && { text: sent }) };
};

/** Sends the held text of the step as one delta. */
export const sendHeld = ({ stream }: Pick<Turn, 'stream'>, step: Step): void => {
  if (step.unsent === '') return;
  stream.text(step.unsent);
  step.unsent = '';
};

const withoutResult = (
  turn: Turn,
  { step, tool, sink }: { step: Step; tool: string; sink: InferenceSink },
): InferenceSink => {
  const results = new Set<string>();
  return {
    ...sink,
    toolStart(id, name) {
      if (name === tool) results.add(id);
      else {
        sendHeld(turn, step);
        sink.toolStart(id, name);
      }
    },
    toolDelta(id, delta) {
      if (!results.has(id)) sink.toolDelta(id, delta);
    },
    toolEnd(id, args) {
      if (results.has(id)) step.result = args;
      else sink.toolEnd(id, args);
    },
    toolCancel(id, name, reason) {
      if (!results.delete(id)) sink.toolCancel?.(id, name, reason);
    },
    reset(reason) {
      results.clear();
      step.result = undefined;
      sink.reset?.(reason);
    },
  };
};
