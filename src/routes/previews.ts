import { z } from 'zod';
import { isRewound, type Message, textOf } from '../schema/message.ts';
import type { Place } from '../schema/place.ts';
import type { Run } from '../schema/run.ts';
import type { MessageBounds, Store } from '../store/index.ts';

/**
 * The first words of the input of a run or thread: shown by lists that are requested with `preview=true`, and searched
 * with `q`.
 * Cost: one read of up to `MESSAGES` messages per row. After `MOST_CHARACTERS` of messages, the remaining rows of the
 * page have no preview, and a search ends its page, so that a page does not decode many large files.
 */

const LENGTH = 60;

/** A search reads more of the input than a list shows. */
const SEARCHED_LENGTH = 600;

const MESSAGES = 3;

const MOST_CHARACTERS = 4 * 1024 * 1024;

export const PreviewQuery = z
  .enum(['true', 'false'])
  .optional()
  .meta({ description: '`true`: rows have a `preview`, the first 60 characters of the input, or null' });

export const SearchQuery = z
  .string()
  .max(200)
  .optional()
  .transform((text) => text?.trim().toLowerCase() || undefined)
  .meta({
    description:
      'only rows that contain each of these words, in any case: in the first 600 characters of the input, the title, or an id of the row',
  });

type Bounds = Pick<MessageBounds, 'from' | 'to'>;

export type Preview = (thread: Place, bounds: Bounds) => string | null;

/** The beginning of the input of each row of one page. */
const createInputs = ({ messages }: Pick<Store, 'messages'>) => {
  let characters = 0;
  return {
    isSpent: () => characters > MOST_CHARACTERS,
    read({ scope, id }: Place, bounds: Bounds): string {
      for (const { message } of messages.range(scope, id, { ...bounds, limit: MESSAGES })) {
        characters += lengthOf(message);
        const text = isInput(message) ? beginningOf(textOf(message.content)) : '';
        if (text !== '') return text;
      }
      return '';
    },
  };
};

/** Creates the previews of one page. */
export const createPreview = (store: Pick<Store, 'messages'>): Preview => {
  const inputs = createInputs(store);
  return (thread, bounds) => (inputs.isSpent() ? null : shortened(inputs.read(thread, bounds)) || null);
};

/** The messages of a run that are its input; undefined for a run without input. */
export const inputOf = ({ input }: Run): { thread_id: string; bounds: Bounds } | undefined =>
  input?.range && {
    thread_id: input.thread_id,
    bounds: { from: input.range.from_seq, to: input.range.to_seq },
  };

export type Searched = {
  /** Texts of the row in addition to its input. */
  texts: readonly (string | undefined)[];
  thread: Place;
  /** The messages that are the input; undefined if there is none. */
  bounds: Bounds | undefined;
};

/** Creates the search of one page. */
export const createTextSearch = (store: Pick<Store, 'messages'>, query: string) => {
  const inputs = createInputs(store);
  const words = query.split(/\s+/);
  return {
    isSpent: inputs.isSpent,
    matches({ texts, thread, bounds }: Searched): boolean {
      const known = texts.join('\n').toLowerCase();
      const open = words.filter((word) => !known.includes(word));
      if (open.length === 0) return true;
      const input = bounds === undefined ? '' : inputs.read(thread, bounds).toLowerCase();
      return open.every((word) => input.includes(word));
    },
  };
};

const isInput = (message: Message): boolean =>
  message.role === 'user' && message.visibility !== 'internal' && !isRewound(message);

const lengthOf = ({ content }: Message): number =>
  content.reduce((sum, block) => {
    if (block.type === 'text') return sum + block.text.length;
    return 'source' in block && 'data' in block.source ? sum + block.source.data.length : sum;
  }, 0);

const beginningOf = (text: string): string => text.slice(0, SEARCHED_LENGTH).trim().replace(/\s+/g, ' ');

/** Characters are code points, so that no surrogate pair is split. */
const shortened = (text: string): string => {
  const characters = Array.from(text);
  return characters.length <= LENGTH ? text : `${characters.slice(0, LENGTH).join('')}…`;
};
