import { useMemo, useState } from 'react';
import { isObject } from '../data/guard.ts';
import { fromEditable, MovedSecret, toEditable } from '../data/redaction.ts';
import { TextField } from '../design/Inputs.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useForm } from './context.ts';
import texts from './texts.json' with { type: 'json' };

/** Edits any value as JSON. Valid JSON becomes the value; invalid text is kept in the form and cannot be saved. */

type Reading = { value: unknown } | { problem: 'problem.json' | 'problem.secret' | 'problem.object' };

type AsObject = 'required' | 'optional';

type Known = { secrets: ReadonlyMap<string, unknown>; asObject: AsObject | undefined };

const readJson = (text: string, { secrets, asObject }: Known): Reading => {
  if (text.trim() === '' && asObject !== 'required') return { value: undefined };
  try {
    const value = fromEditable(JSON.parse(text), secrets);
    return asObject && !isObject(value) ? { problem: 'problem.object' } : { value };
  } catch (error) {
    return { problem: error instanceof MovedSecret ? 'problem.secret' : 'problem.json' };
  }
};

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

export const JsonBox = (props: {
  label: string;
  path: string;
  value: unknown;
  hint?: string | undefined;
  rows?: number;
  /** Accepts only objects; with `optional`, an empty text means no value. */
  asObject?: AsObject;
  onChange: (value: unknown) => void;
}) => {
  const t = useTexts(texts);
  const { path, value, asObject, onChange } = props;
  const { errors, unread, onUnread } = useForm();
  const editable = useMemo(() => toEditable(value), [value]);
  const known = { secrets: editable.secrets, asObject };
  const shown = value === undefined ? '' : JSON.stringify(editable.value, null, 2);
  // The typed text stays while it is equivalent to the value.
  const [typed, type] = useState(shown);
  const reading = readJson(typed, known);
  const isSame = 'value' in reading && sameJson(reading.value, value);
  const text = unread[path] ?? (isSame ? typed : shown);
  const wrong = unread[path] === undefined ? undefined : readJson(unread[path], known);
  const change = (next: string): void => {
    type(next);
    const read = readJson(next, known);
    onUnread(path, 'problem' in read ? next : undefined);
    if ('value' in read) onChange(read.value);
  };
  return (
    <TextField
      label={props.label}
      hint={props.hint}
      error={wrong && 'problem' in wrong ? t(wrong.problem) : errors.get(path)}
      isCode
      rows={props.rows ?? Math.min(16, Math.max(3, text.split('\n').length))}
      value={text}
      onChange={change}
    />
  );
};
