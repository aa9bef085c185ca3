import { isObject } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import type { Say } from '../i18n/locale.ts';
import type { Failure } from './report.ts';
import { texts } from './texts.ts';

/** Why a test case failed, in words. Kinds that nobody here knows are shown as they came. */

type Key = keyof typeof texts.en;

const isKey = (key: string): key is Key => Object.hasOwn(texts.en, key);

const word = (value: unknown): string | number => {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.length === 0 ? '—' : value.join(', ');
  return redactText(JSON.stringify(value) ?? '—');
};

/** What a replay says of why it broke off. */
const whyOf = ({ failure }: Failure): string => {
  if (!isObject(failure)) return '—';
  const { kind, message, ...more } = failure;
  if (typeof message === 'string') return redactText(message);
  return [kind, ...Object.entries(more).map(([key, value]) => `${key} ${String(value)}`)].join(', ');
};

export const failureText = (failure: Failure, t: Say<Key>): string => {
  const key = `failure.${failure.kind}`;
  if (!isKey(key)) {
    const { kind, ...more } = failure;
    const told = Object.keys(more).length === 0 ? '' : ` ${redactText(JSON.stringify(more))}`;
    return `${kind}${told}`;
  }
  const values = Object.fromEntries(Object.entries(failure).map(([name, value]) => [name, word(value)]));
  return t(key, { ...values, why: whyOf(failure) });
};
