import type { ComponentPropsWithRef, ReactNode } from 'react';
import { Field } from './Field.tsx';

/** The usual controls, each with its label, hint and error. Other attributes belong to the control. */

type Labelled = {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  required?: boolean | undefined;
  value: string;
  onChange: (value: string) => void;
};

type Attributes<Tag extends 'input' | 'textarea' | 'select'> = Labelled &
  Omit<ComponentPropsWithRef<Tag>, keyof Labelled | 'id' | 'children'>;

/** `type` is `text` by default. */
export const InputField = ({ label, hint, error, required, onChange, ...input }: Attributes<'input'>) => (
  <Field {...{ label, hint, error, required }}>
    {(control) => (
      <input type="text" {...input} {...control} onChange={({ target }) => onChange(target.value)} />
    )}
  </Field>
);

/** `isCode`: the text is JSON or another notation. */
export const TextField = ({
  label,
  hint,
  error,
  required,
  onChange,
  isCode,
  ...area
}: Attributes<'textarea'> & { isCode?: boolean }) => (
  <Field {...{ label, hint, error, required }}>
    {(control) => (
      <textarea
        {...(isCode && { className: 'mono', spellCheck: false })}
        {...area}
        {...control}
        onChange={({ target }) => onChange(target.value)}
      />
    )}
  </Field>
);

/** An option is its value, with a text if that differs. */
export const SelectField = ({
  label,
  hint,
  error,
  required,
  onChange,
  options,
  ...select
}: Attributes<'select'> & { options: readonly (string | readonly [value: string, text: string])[] }) => (
  <Field {...{ label, hint, error, required }}>
    {(control) => (
      <select {...select} {...control} onChange={({ target }) => onChange(target.value)}>
        {options.map((option) => {
          const [value, text] = typeof option === 'string' ? [option, option] : option;
          return (
            <option key={value} value={value}>
              {text}
            </option>
          );
        })}
      </select>
    )}
  </Field>
);
