import { BOUNDS } from '../bounds.ts';
import { UnreadableBody } from '../response.ts';
import type { Headers, Receiver } from './request.ts';
import { createBodyText } from './stream.ts';

/** A response with a complete body. */
export type TextResponse = { status: number; headers: Headers; body: string };

/**
 * Reads a body of at most `most` bytes; of a redirect or an error only the beginning. With 0 no body is read.
 *
 * Rejects with `UnreadableBody`, or with an error whose cause is the reason for the missing response.
 */
export const createTextReceiver = (most: number): Receiver<TextResponse> => {
  let head = { status: 0, headers: {} as Headers };
  let isRefused = false;
  let text = createBodyText(most);
  const result = (): TextResponse => ({ ...head, body: most === 0 ? '' : text.read() });
  return {
    start({ status, headers }) {
      head = { status, headers };
      if (most === 0) return result();
      isRefused = status >= 300;
      // One extra byte shows that a body is too long.
      text = createBodyText(isRefused ? Math.min(most, BOUNDS.errorBytes) : most + 1);
      return undefined;
    },
    data(chunk) {
      if (text.add(chunk)) return undefined;
      if (isRefused) return result();
      throw new UnreadableBody(`the body has more than ${most} bytes`, head.status);
    },
    end: result,
    broke(error, started) {
      if (!started) throw new Error('no connection', { cause: error });
      throw new UnreadableBody('the body was interrupted', head.status, { cause: error });
    },
    isFinished: () => false,
  };
};
