import { isObject } from '../endpoint.ts';
import { formsOf, longestFirst, parsed } from './masking.ts';
import { holdsSecrets, isSecretName } from './names.ts';
import { secretTexts, textsIn } from './redact.ts';

/**
 * The secrets that this process holds, for `maskForeign`: a peer may repeat any of them in an error.
 *
 * Each service adds those of its configuration as it publishes it, and those of its settings. A secret that was
 * replaced stays: a run that began earlier still uses it. Services of one process share the list, since a secret of
 * one is no text for the readers of another.
 */
export type SecretKeeper = {
  /** The secrets in an entry. The same object is looked at once. */
  note(entry: object): void;
  add(secrets: readonly (string | undefined)[]): void;
  close(): void;
};

/** A shorter text may be a word of any message. */
const SHORTEST = 8;
/** Of one service; the oldest are dropped. */
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

/** Every form of every secret, the longest first. */
export const knownSecrets = (): readonly string[] => {
  patterns ??= longestFirst(
    [...keepers].flatMap((kept) =>
      [...kept].flatMap((secret) => [secret, ...formsOf(secret), ...piecesOf(secret)]),
    ),
  );
  return patterns;
};

const secretsIn = (entry: object): string[] => {
  // What is noted is configuration, which was JSON.
  const texts = secretTexts(entry as Parameters<typeof secretTexts>[0]);
  const open = new Set(openTexts(entry));
  return texts
    .filter((text) => !open.has(text) || isTelling(text))
    .flatMap((text) => [text, ...textsIn(parsed(text)).filter(isTelling), ...credentialsOf(text)]);
};

/** Values of headers and variables whose names do not say that they are secrets. */
const openTexts = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => {
    if (!holdsSecrets(key) || !isObject(member)) return openTexts(member);
    return Object.entries(member).flatMap(([name, text]) => (isSecretName(name) ? [] : textsIn(text)));
  });
};

/** No plain word and no plain address. */
const isTelling = (text: string): boolean =>
  !/^[A-Za-z_]{1,15}$/.test(text) && !/^https?:\/\/[^?@]*$/.test(text);

const SCHEME = /^(?:bearer|basic|token|apikey)\s+(?<credentials>\S+)$/i;

/** Of a header with a scheme in front. */
const credentialsOf = (text: string): string[] => SCHEME.exec(text)?.groups?.credentials?.split('\n') ?? [];

const PIECE = 16;
const LONGEST_IN_PIECES = 512;

/** A peer may cut a key off; the pieces overlap, so that at most half a piece is left at each end. */
const piecesOf = (secret: string): string[] => {
  const { length } = secret;
  if (length < PIECE + PIECE / 2 || length > LONGEST_IN_PIECES || /\s/.test(secret)) return [];
  const starts = Array.from(
    { length: Math.floor((length - PIECE) / (PIECE / 2)) + 1 },
    (_, at) => at * (PIECE / 2),
  );
  return [...starts, length - PIECE].map((start) => secret.slice(start, start + PIECE));
};
