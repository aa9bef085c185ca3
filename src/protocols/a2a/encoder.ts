import type { Protocol } from '../../runtime/index.ts';

/** What followers of a task hear of its run: the text of the answer under way. Frames are made elsewhere. */
export type AnswerListener = {
  /** What comes next is an answer of its own, or the answer from its beginning. */
  begins(): void;
  text(delta: string): void;
};

const BEGINNINGS: readonly string[] = ['run_start', 'step_start', 'stream_reset'];

export const answerProtocol = ({ begins, text }: AnswerListener): Protocol => ({
  name: 'a2a',
  createEncoder: () => ({
    event({ event_type }) {
      if (BEGINNINGS.includes(event_type)) begins();
      return '';
    },
    text(delta) {
      text(delta);
      return '';
    },
    reasoning: () => '',
    toolDelta: () => '',
  }),
});
