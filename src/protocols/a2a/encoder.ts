import { partsOf } from '../../a2a/parts.ts';
import type { Protocol } from '../../runtime/index.ts';
import { blockOfActivity } from '../../schema/answer-part.ts';
import type { RunEvent } from '../../schema/run-event.ts';
import type { Answer } from './task-answer.ts';

/** What followers of a task hear of its run: the answer under way. Frames are made elsewhere. */
export type AnswerListener = {
  heard(says: (answer: Answer) => void): void;
};

/** What an event says of the answer. */
const SAYS: Partial<Record<RunEvent['event_type'], (answer: Answer) => void>> = {
  run_start: (answer) => answer.start(),
  step_start: (answer) => answer.open(),
  stream_reset: (answer) => answer.reset(),
  tool_call_start: (answer) => answer.ask(),
  inference_complete: (answer) => answer.close(),
};

export const answerProtocol = ({ heard }: AnswerListener): Protocol => ({
  name: 'a2a',
  createEncoder: () => ({
    event(event) {
      const says = SAYS[event.event_type];
      if (says) heard(says);
      const block = event.event_type === 'activity_snapshot' ? blockOfActivity(event) : undefined;
      for (const part of block ? partsOf([block]) : []) heard((answer) => answer.addPart(part));
      return '';
    },
    text(delta) {
      heard((answer) => answer.add(delta));
      return '';
    },
    reasoning: () => '',
    toolDelta: () => '',
  }),
});
