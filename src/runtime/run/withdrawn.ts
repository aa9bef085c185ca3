import type { RunEvent } from '../../schema/run-event.ts';
import type { WithdrawnText } from '../deps.ts';

/** Keeps the texts that an execution has streamed and withdrawn, for clients of protocols that cannot withdraw text. */
export type Withdrawn = {
  note(event: RunEvent): void;
  texts(): readonly WithdrawnText[];
};

/** Texts of one execution. */
const MOST_TEXTS = 64;

export const createWithdrawn = (): Withdrawn => {
  const texts: WithdrawnText[] = [];
  let message_id = '';
  return {
    note(event) {
      if (event.event_type === 'step_start') {
        message_id = event.message_id;
        for (const [index, each] of texts.entries())
          if (each.before === undefined && each.message_id !== message_id)
            texts[index] = { ...each, before: message_id };
      } else if (event.event_type === 'stream_reset' && event.text !== undefined && texts.length < MOST_TEXTS)
        texts.push({ message_id, text: event.text, before: undefined });
    },
    texts: () => texts,
  };
};
