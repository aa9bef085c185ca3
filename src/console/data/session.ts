import { createAtom } from '@xstate/store';
import { KEYS, onKey, readKey, writeKey } from './storage.ts';

/**
 * The admin token of this browser, and the one dialog that asks for it (console.md 2.3).
 *
 * Guarantees: however many requests are refused at once, there is one dialog, and all of them wait for the same answer;
 * who closed it, or gave a token that is refused too, is not asked again until the token changes.
 * The token leaves this module only as the header of a request.
 */

export type TokenDialog = {
  /** `refused`: a request was answered with 401. `asked`: the user opened it. */
  reason: 'refused' | 'asked';
};

/** Undefined while nothing is asked. */
export const tokenDialog = createAtom<TokenDialog | undefined>(undefined);

const readToken = (): string => {
  const stored = readKey(KEYS.token)?.trim() ?? '';
  return stored !== '' || !import.meta.env?.DEV
    ? stored
    : (import.meta.env.VITE_ADMIN_BEARER_TOKEN ?? '').trim();
};

/** Empty: there is none. */
export const token = createAtom(readToken());

/** Who the audit log names beside the hash of the token. */
export const operator = createAtom(readKey(KEYS.operator) ?? '');

/** What another tab was told, this one need not ask for; what it was not told, neither. */
const hear = (): void => {
  const heard = readToken();
  if (heard === '') settleToken('');
  token.set(heard);
  if (heard !== '') answerDialog(true);
};
export const setOperator = (name: string): void => {
  operator.set(name.trim());
  writeKey(KEYS.operator, name.trim() === '' ? null : name.trim());
};

/** The token that was refused and that its user does not want to change: nobody is asked about it again. */
let settled: string | undefined;

export const isSettled = (refused: string): boolean => refused === settled;

export const settleToken = (refused: string): void => {
  settled = refused;
};

/** The service took it: should it be refused one day, that is asked about. */
export const acceptToken = (value: string): void => {
  if (settled === value) settled = undefined;
};

let asking: { answer: Promise<boolean>; resolve(answer: boolean): void } | undefined;

/** @returns whether there is another token now */
export const askForToken = (reason: TokenDialog['reason']): Promise<boolean> => {
  if (!asking) {
    let resolve = (_: boolean): void => {};
    const answer = new Promise<boolean>((settle) => {
      resolve = settle;
    });
    asking = { answer, resolve };
    tokenDialog.set({ reason });
  }
  return asking.answer;
};

const answerDialog = (hasToken: boolean): void => {
  const waiting = asking;
  asking = undefined;
  tokenDialog.set(undefined);
  waiting?.resolve(hasToken);
};

export const saveToken = (entered: string): void => {
  const value = entered.trim();
  writeKey(KEYS.token, value);
  // Until it has been accepted, whoever is refused with it was refused by what the user has just given.
  settleToken(value);
  token.set(value);
  answerDialog(true);
};

export const cancelToken = (): void => {
  settleToken(token.get());
  answerDialog(false);
};

/** Whoever is told drops what was read with it. */
export const clearToken = (): void => {
  writeKey(KEYS.token, null);
  settleToken('');
  token.set('');
  answerDialog(false);
};

/** What may be shown of a token. */
export const tokenHint = (value: string): string =>
  value.length <= 8 ? '••••' : `${value.slice(0, 4)}…${value.slice(-2)}`;

/** What the audit log calls it: the first 16 hex digits of its SHA-256. Undefined where the browser cannot hash. */
export const tokenActor = async (value: string): Promise<string | undefined> => {
  if (value === '' || !globalThis.crypto?.subtle) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value));
  return Array.from(new Uint8Array(digest).subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
};

onKey(KEYS.token, hear);
onKey(KEYS.operator, (value) => operator.set(value ?? ''));
