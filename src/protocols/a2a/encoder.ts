import { partsOf } from '../../a2a/parts.ts';
import type { Protocol } from '../../runtime/index.ts';
import { blockOfActivity } from '../../schema/answer-part.ts';
import type { Answer } from './task-answer.ts';

/** What followers of a task hear of its run: the answer under way. Frames are made elsewhere. */
export type AnswerListener = {
  heard(tell: (answer: Answer) => void): void;
};

export const answerProtocol = ({ heard }: AnswerListener): Protocol => ({
  name: 'a2a',
  createEncoder: () => ({
    event(event) {
      switch (event.event_type) {
        case 'run_start':
          heard((answer) => answer.start());
          break;
        case 'step_start':
          heard((answer) => answer.open());
          break;
        case 'stream_reset':
          heard((answer) => answer.reset());
          break;
        case 'tool_call_start':
          heard((answer) => answer.ask());
          break;
        case 'inference_complete':
          heard((answer) => answer.close());
          break;
        case 'activity_snapshot': {
          const block = blockOfActivity(event);
          for (const part of block ? partsOf([block]) : []) heard((answer) => answer.addPart(part));
        }
      }
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
