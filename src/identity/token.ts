import { hash, timingSafeEqual } from 'node:crypto';

/** Compares digests, so that the time taken reveals neither content nor length. */
export const createTokenCheck = (configured: string): ((given: string) => boolean) => {
  const expected = digest(configured);
  return (given) => timingSafeEqual(digest(given), expected);
};

const digest = (token: string): Buffer => hash('sha256', token, 'buffer');
