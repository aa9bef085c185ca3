import type { BodyStream } from '../../http/body-stream.ts';
import { Refusal } from '../../http/errors.ts';
import { RateLimited } from '../../schema/outcome.ts';

/**
 * Limits the uploads in progress, each of which holds a connection and a temporary file (openai.md 9).
 *
 * Guarantees: an upload ends within its time, however slowly its client sends. One user cannot use the uploads of all.
 * Cost: one timer for each upload.
 */
export type UploadLimits = {
  /**
   * Counts an upload until the returned function is called.
   * @throws RateLimited when the owner has too many, Refusal when the service has
   */
  begin(owner: string, body: Pick<BodyStream, 'fail'>): () => void;
};

type Limits = { max_uploads: number; max_uploads_per_user: number; upload_timeout_secs: number };

export const createUploadLimits = ({
  max_uploads: most,
  max_uploads_per_user: mostOfOwner,
  upload_timeout_secs: secs,
}: Limits): UploadLimits => {
  let total = 0;
  const owners = new Map<string, number>();
  const add = (owner: string, delta: 1 | -1): void => {
    total += delta;
    const count = (owners.get(owner) ?? 0) + delta;
    if (count > 0) owners.set(owner, count);
    else owners.delete(owner);
  };
  return {
    begin(owner, body) {
      if ((owners.get(owner) ?? 0) >= mostOfOwner) throw tooManyOfOwner(mostOfOwner);
      if (total >= most) throw TOO_MANY;
      add(owner, 1);
      const timer = setTimeout(() => body.fail(tooSlow(secs)), secs * 1000).unref();
      return () => {
        clearTimeout(timer);
        add(owner, -1);
      };
    },
  };
};

const RETRY_SECS = 5;

const tooManyOfOwner = (most: number): RateLimited =>
  new RateLimited(`${most} uploads of the user are in progress, the most (files.max_uploads_per_user)`, {
    code: 'rate_limited',
    retryAfterSecs: RETRY_SECS,
  });

const TOO_MANY = new Refusal(503, 'too many uploads are in progress (files.max_uploads); try again', {
  'retry-after': String(RETRY_SECS),
});

const tooSlow = (secs: number): Refusal =>
  new Refusal(408, `the upload has not ended within ${secs} s (files.upload_timeout_secs)`);
