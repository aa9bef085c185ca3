import { isObject } from '../endpoint.ts';
import { encodedForms, longestFirst, parsed } from './masking.ts';
import { holdsSecrets, isSecretName } from './names.ts';
import { secretTexts, textsIn } from './redact.ts';

/**
 * The secrets that this process holds, for `maskForeign`: a peer may repeat any of them in an error.
 *
 * Each service adds those of its configuration when it publishes it, and those of its settings. A replaced secret stays
 * in the list: a run that started earlier still uses it. Services of one process share the list, since readers of one
 * must not see a secret of another.
 */
export type SecretKeeper = {
  /** Adds the secrets of an entry. Each object is scanned once. */
  note(entry: object): void;
  add(secrets: readonly (string | undefined)[]): void;
  close(): void;
};

/** Shorter texts may be ordinary words. */
const SHORTEST = 8;
/** Maximum per service; the oldest are dropped. */
const MOST = 5000;

const keepers = new Set<ReadonlySet<string>>();
let patterns: readonly string[] | undefined;

export const keepSecrets = (): SecretKeeper => {
  const seen = new WeakSet<object>();
  const kept = new Set<string>();
  keepers.add(kept);
  const add = (secrets: readonly (string | undefined)[]): void => {
    for (const secret of secrets) {
      if (secret === undefined || secret.length < SHORTEST || kept.has(secret)) continue;
      kept.add(secret);
      patterns = undefined;
      const [oldest] = kept;
      if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
    }
  };
  return {
    add,
    note(entry) {
      if (seen.has(entry)) return;
      seen.add(entry);
      add(secretsIn(entry));
    },
    close() {
      keepers.delete(kept);
      patterns = undefined;
    },
  };
};

/** Returns every form of every secret, longest first. */
export const knownSecrets = (): readonly string[] => {
  patterns ??= longestFirst(
    [...keepers].flatMap((kept) =>
      [...kept].flatMap((secret) => [secret, ...encodedForms(secret), ...piecesOf(secret)]),
    ),
  );
  return patterns;
};

const secretsIn = (entry: object): string[] => {
  // Entries are configuration, which was parsed from JSON.
  const texts = secretTexts(entry as Parameters<typeof secretTexts>[0]);
  const open = new Set(openTexts(entry));
  return texts
    .filter((text) => !open.has(text) || isSecretLike(text))
    .flatMap((text) => [text, ...textsIn(parsed(text)).filter(isSecretLike), ...credentialsOf(text)]);
};

/** Returns the values of headers and variables whose names do not mark them as secrets. */
const openTexts = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (!holdsSecrets(key) || !isObject(member)) return openTexts(member);
    return Object.entries(member).flatMap(([name, text]) => (isSecretName(name) ? [] : textsIn(text)));
  });
};

/** Whether the text is neither a plain word nor a plain URL. */
const isSecretLike = (text: string): boolean =>
  !/^[A-Za-z_]{1,15}$/.test(text) && !/^https?:\/\/[^?@]*$/.test(text);

const SCHEME = /^(?:bearer|basic|token|apikey)\s+(?<credentials>\S+)$/i;

/** Returns the credentials of a header with a leading scheme. */
const credentialsOf = (text: string): string[] => SCHEME.exec(text)?.groups?.credentials?.split('\n') ?? [];

const PIECE = 16;
const LONGEST_IN_PIECES = 512;

/** A peer may truncate a key; the pieces overlap, so that at most half a piece is left at each end. */
const piecesOf = (secret: string): string[] => {
  const { length } = secret;
  if (length < PIECE + PIECE / 2 || length > LONGEST_IN_PIECES || /\s/.test(secret)) return [];
  const starts = Array.from(
    { length: Math.floor((length - PIECE) / (PIECE / 2)) + 1 },
    (_, at) => at * (PIECE / 2),
  );
  return [...starts, length - PIECE].map((start) => secret.slice(start, start + PIECE));
};
