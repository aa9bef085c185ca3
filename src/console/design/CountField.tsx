import { type ReactNode, useState } from 'react';
import { Field } from './Field.tsx';

/** What is typed, as a value: a number where it is one, else the text, so that the check says what is wrong. */
export const countOf = (typed: string): number | string | undefined => {
  const text = typed.trim();
  if (text === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : text;
};

const shown = (value: unknown): string =>
  typeof value === 'number' || typeof value === 'string' ? String(value) : '';

/** A number; empty is `undefined`. */
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
  // `1.` is 1 and stays as it was typed; a value from elsewhere is shown as it is.
  const text = Object.is(countOf(typed), value ?? undefined) ? typed : shown(value);
  return (
    <Field
      label={props.label}
      error={props.error}
      {...(props.hint !== undefined && { hint: props.hint })}
      {...(props.required && { required: true })}
    >
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
