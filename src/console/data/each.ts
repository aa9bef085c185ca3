import pMap from 'p-map';
import { messageOf, RequestError, statusOf } from './error.ts';
import { redactText } from './redact-text.ts';

/** What became of each of many requests. */
export type Result = { id: string; outcome: 'done' | 'over' | 'failed'; said: string };

/** So many requests are under way at a time. */
const AT_ONCE = 5;

const OVER = [404, 409];

/** Does the same to each, a few at a time; one that fails does not stop the others. */
export const each = (ids: readonly string[], work: (id: string) => Promise<void>): Promise<Result[]> =>
  pMap(
    ids,
    async (id): Promise<Result> => {
      try {
        await work(id);
        return { id, outcome: 'done', said: '' };
      } catch (error) {
        const said = redactText(error instanceof RequestError ? error.message : messageOf(error, 0));
        return { id, outcome: OVER.includes(statusOf(error) ?? 0) ? 'over' : 'failed', said };
      }
    },
    { concurrency: AT_ONCE },
  );
