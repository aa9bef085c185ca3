import { createAtom } from '@xstate/store';
import { KEYS, onKey, readKey, readOfTab, writeKey, writeOfTab } from './storage.ts';

/**
 * The credential that requests carry in their header, and the single dialog that asks for it (console.md 2.3): the
 * session token of this tab, or the admin token or API key that this browser stores. Both are absent if the browser has
 * a session cookie.
 *
 * Guarantees: concurrent refusals open one dialog, and all refused requests wait for its result. A user who closed it,
 * or who entered a token that was refused too, is not asked again until the token changes. The token leaves this module
 * only as the header of a request.
 */

export type TokenDialog = {
  /** `refused`: a request failed with 401. `asked`: the user opened the dialog. */
  reason: 'refused' | 'asked';
};

export const tokenDialog = createAtom<TokenDialog | undefined>(undefined);

const readToken = (): string => {
  const stored = readOfTab(KEYS.session) ?? readKey(KEYS.token)?.trim() ?? '';
  return stored !== '' || !import.meta.env?.DEV
    ? stored
    : (import.meta.env.VITE_ADMIN_BEARER_TOKEN ?? '').trim();
};

export const token = createAtom(readToken());

/** Name that the audit log records with the hash of the token. */
export const operator = createAtom(readKey(KEYS.operator) ?? '');

/** Applies a change that another tab made to the token, including its removal, so that this tab need not ask for it. */
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

/** A refused token that the user does not want to change, so the dialog is not opened for it again. */
let settled: string | undefined;

export const isSettled = (refused: string): boolean => refused === settled;

export const settleToken = (refused: string): void => {
  settled = refused;
};

/**
 * The service accepted the token. A later refusal opens the dialog again. Routes that need no token accept its absence,
 * too, which shows nothing about the others.
 */
export const acceptToken = (value: string): void => {
  if (value !== '' && settled === value) settled = undefined;
};

let asking: { answer: Promise<boolean>; resolve(answer: boolean): void } | undefined;

/** @returns whether there is a new token */
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
  keep(value);
  // Until the service accepts the token, a refusal concerns the value that the user has just entered.
  settleToken(value);
  token.set(value);
  answerDialog(true);
};

/** Stores a token that the user did not type. If the service rejects it, the dialog asks for another one. */
export const takeToken = (value: string): void => {
  if (settled === value) settled = undefined;
  keep(value);
  token.set(value);
  if (asking) answerDialog(true);
};

/** Signs this tab in with the token of a session, which other tabs do not have (identity.md 2.6). */
export const takeSession = (value: string): void => {
  writeOfTab(KEYS.session, value);
  token.set(value);
  if (asking) answerDialog(true);
};

/** The browser has a session cookie, so requests carry no credential of this page, and a refusal of them is a new one. */
export const takeCookie = (): void => {
  writeOfTab(KEYS.session, null);
  writeKey(KEYS.token, null);
  settled = undefined;
  token.set('');
  if (asking) answerDialog(true);
};

const keep = (value: string): void => {
  writeOfTab(KEYS.session, null);
  writeKey(KEYS.token, value);
};

export const cancelToken = (): void => {
  settleToken(token.get());
  answerDialog(false);
};

/** Removes the token; its subscribers then drop everything that was read with it. */
export const clearToken = (): void => {
  writeOfTab(KEYS.session, null);
  writeKey(KEYS.token, null);
  settleToken('');
  token.set('');
  answerDialog(false);
};

/** A masked form of a token that is safe to show. */
export const tokenHint = (value: string): string =>
  value.length <= 8 ? '••••' : `${value.slice(0, 4)}…${value.slice(-2)}`;

/**
 * The id of the token in the audit log: the first 16 hex digits of its SHA-256. Undefined where the browser cannot
 * hash.
 */
export const tokenActor = async (value: string): Promise<string | undefined> => {
  if (value === '' || !globalThis.crypto?.subtle) return undefined;
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(value));
  return Array.from(new Uint8Array(digest).subarray(0, 8), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );
};

onKey(KEYS.token, hear);
onKey(KEYS.operator, (value) => operator.set(value ?? ''));
