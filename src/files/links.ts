import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Links to the content of a file that need no other credential (openai.md 9.4): an HMAC of the id and the time at which
 * the link expires, with a secret of the data folder.
 */
export type Links = {
  /** Returns the path and the query of a link that is valid from now on. */
  path(id: string): string;
  /** Whether a signature belongs to the file and has not expired. */
  isValid(id: string, link: { expires: string; signature: string }): boolean;
};

export const createLinks = ({
  key,
  ttlSecs,
  now,
}: {
  key: Buffer;
  ttlSecs: number;
  /** Milliseconds. */
  now(): number;
}): Links => {
  const sign = (id: string, expires: string): Buffer =>
    createHmac('sha256', key).update(`${id}\n${expires}`).digest();
  return {
    path(id) {
      const expires = String(Math.floor(now() / 1000) + ttlSecs);
      const signature = sign(id, expires).toString('hex');
      return `/v1/files/${id}/content?expires=${expires}&signature=${signature}`;
    },
    isValid(id, { expires, signature }) {
      if (!EXPIRES.test(expires) || !SIGNATURE.test(signature)) return false;
      return (
        timingSafeEqual(Buffer.from(signature, 'hex'), sign(id, expires)) && Number(expires) * 1000 > now()
      );
    },
  };
};

const EXPIRES = /^\d{1,15}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;
