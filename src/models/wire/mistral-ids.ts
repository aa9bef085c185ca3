import { createHash } from 'node:crypto';

const ID_LENGTH = 9;
const LEGAL = /^[A-Za-z0-9]{9}$/;

/** Maps an id to Mistral's format deterministically; a valid id stays unchanged. */
export const mistralCallId = (id: string): string => {
  if (LEGAL.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('base64');
  return digest.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, ID_LENGTH);
};
