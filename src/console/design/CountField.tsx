import { type ReactNode, useState } from 'react';
import { Field } from './Field.tsx';

/** The typed value: a number if it is one, otherwise the text, so that the validation can report it. */
export const countOf = (typed: string): number | string | undefined => {
  const text = typed.trim();
  if (text === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
};

const shown = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : '';

/** An input for a number; empty means `undefined`. */
export const CountField = (props: {
  label: string;
  value: unknown;
  onChange: (value: number | string | undefined) => void;
  hint?: ReactNode;
  error?: string | undefined;
  placeholder?: string;
  step?: number;
  required?: boolean;
}) => {
  const { value } = props;
  const [typed, type] = useState(() => shown(value));
  // `1.` equals 1 and stays as typed; a value set from outside replaces the typed text.
  const text = Object.is(countOf(typed), value ?? undefined) ? typed : shown(value);
  return (
    <Field label={props.label} hint={props.hint} error={props.error} required={props.required}>
      {(control) => (
        <input
          {...control}
          type="text"
          inputMode={props.step === undefined ? 'numeric' : 'decimal'}
          placeholder={props.placeholder}
          value={text}
          onChange={(event) => {
            type(event.target.value);
            props.onChange(countOf(event.target.value));
          }}
        />
      )}
    </Field>
  );
};
