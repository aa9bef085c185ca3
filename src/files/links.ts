import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Links to the content of a file that need no other credential (openai.md 9.4): an HMAC of the id and the time at which
 * the link expires, with a secret of the data folder.
 */
export type Links = {
  /**
   * Returns a link that is valid from a time on, by default from now: absolute with the public URL of the service, else
   * its path and query. The link of one time is always the same.
   *
   * @param at milliseconds
   */
  link(id: string, at?: number): string;
  /** Whether a signature belongs to the file and has not expired. */
  isValid(id: string, link: { expires: string; signature: string }): boolean;
};

export const createLinks = ({
  key,
  ttlSecs,
  publicUrl,
  now,
}: {
  key: Buffer;
  ttlSecs: number;
  publicUrl: string | undefined;
  /** Milliseconds. */
  now(): number;
}): Links => {
  const sign = (id: string, expires: string): Buffer =>
    createHmac('sha256', key).update(`${id}\n${expires}`).digest();
  const origin = publicUrl === undefined ? '' : new URL(publicUrl).origin;
  const path = (id: string, at: number): string => {
    const expires = String(Math.floor(at / 1000) + ttlSecs);
    const signature = sign(id, expires).toString('hex');
    return `/v1/files/${id}/content?expires=${expires}&signature=${signature}`;
  };
  return {
    link: (id, at = now()) => origin + path(id, at),
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
