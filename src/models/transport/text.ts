import { BOUNDS } from '../bounds.ts';
import { UnreadableBody } from '../response.ts';
import type { Headers, Receiver } from './request.ts';
import { createBodyText } from './stream.ts';

/** A response whose body has an end. */
export type TextResponse = { status: number; headers: Headers; body: string };

/**
 * Reads a body of at most `most` bytes; of a redirect or a refusal at most its beginning. With 0 no body is read.
 *
 * Rejects with `UnreadableBody`, or with an error whose cause is why there was no response.
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
      // One byte more shows that a body is too long.
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
      throw new UnreadableBody('the body broke off', head.status, { cause: error });
    },
    isFinished: () => false,
  };
};
