import { isObject } from '../data/guard.ts';
import { redactText } from '../data/redact-text.ts';
import type { Say } from '../i18n/locale.ts';
import type { Failure } from './report.ts';
import texts from './texts.json' with { type: 'json' };

/** The reason why a test case failed. Unknown kinds are shown as received. */

type Key = keyof typeof texts;

const isKey = (key: string): key is Key => Object.hasOwn(texts, key);

const word = (value: unknown): string | number => {
  if (typeof value === 'string') return redactText(value);
  if (typeof value === 'number') return value;
  if (Array.isArray(value)) return value.length === 0 ? '—' : value.join(', ');
  return redactText(JSON.stringify(value) ?? '—');
};

/** The reason that a replay gives for its abort. */
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
    const details = Object.keys(more).length === 0 ? '' : ` ${redactText(JSON.stringify(more))}`;
    return `${kind}${details}`;
  }
  const values = Object.fromEntries(Object.entries(failure).map(([name, value]) => [name, word(value)]));
  return t(key, { ...values, why: whyOf(failure) });
};
