import pMap from 'p-map';
import { messageOf, RequestError, statusOf } from './error.ts';
import { redactText } from './redact-text.ts';

/** The outcome of one request of a batch. `over`: the service responded with 404 or 409. */
export type Result = { id: string; outcome: 'done' | 'over' | 'failed'; said: string };

const AT_ONCE = 5;

const OVER = [404, 409];

/** Applies `work` to each id, a few at a time. A failure does not stop the others. */
export const each = (ids: readonly string[], work: (id: string) => Promise<void>): Promise<Result[]> =>
  pMap(
    ids,
    async (id): Promise<Result> => {
      try {
        await work(id);
        return { id, outcome: 'done', said: '' };
      } catch (error) {
        const reason = redactText(error instanceof RequestError ? error.message : messageOf(error, 0));
        return { id, outcome: OVER.includes(statusOf(error) ?? 0) ? 'over' : 'failed', said: reason };
      }
    },
    { concurrency: AT_ONCE },
  );
