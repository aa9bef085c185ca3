import { partsOf } from '../../a2a/parts.ts';
import type { Protocol } from '../../runtime/index.ts';
import { blockOfActivity } from '../../schema/answer-part.ts';
import type { RunEvent } from '../../schema/run-event.ts';
import type { Answer } from './task-answer.ts';

/** Receives the progress of a run's response for the followers of its task. The frames are created elsewhere. */
export type AnswerListener = {
  update(change: (answer: Answer) => void): void;
};

/** The effect of an event on the response. */
const CHANGES: Partial<Record<RunEvent['event_type'], (answer: Answer) => void>> = {
  run_start: (answer) => answer.start(),
  step_start: (answer) => answer.open(),
  stream_reset: (answer) => answer.reset(),
  tool_call_start: (answer) => answer.ask(),
  inference_complete: (answer) => answer.close(),
};

export const answerProtocol = ({ update }: AnswerListener): Protocol => ({
  name: 'a2a',
  createEncoder: () => ({
    event(event) {
      const change = CHANGES[event.event_type];
      if (change) update(change);
      const block = event.event_type === 'activity_snapshot' ? blockOfActivity(event) : undefined;
      for (const part of block ? partsOf([block]) : []) update((answer) => answer.addPart(part));
      return '';
    },
    text(delta) {
      update((answer) => answer.add(delta));
      return '';
    },
    reasoning: () => '',
    toolDelta: () => '',
  }),
});
