import { type ReactNode, useId } from 'react';
import css from './Field.module.css';

export type Control = {
  id: string;
  required?: boolean;
  'aria-invalid'?: boolean;
  'aria-describedby'?: string;
};

/**
 * A label, its control, and the hint and the error of the control. The label contains only its text: the style adds the
 * asterisk of a required field, and hints and errors are outside of the label.
 *
 * @example
 * <Field label={t('id')} error={errors.id} required>
 *   {(control) => <input {...control} type="text" value={id} onChange={…} />}
 * </Field>
 */
export const Field = (props: {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  required?: boolean | undefined;
  children: (control: Control) => ReactNode;
}) => {
  const id = useId();
  const describedBy = [props.hint !== undefined && `${id}-hint`, props.error && `${id}-error`]
    .filter(Boolean)
    .join(' ');
  return (
    <div className={css.field}>
      <label className={css.label} htmlFor={id} data-required={props.required || undefined}>
        {props.label}
      </label>
      {props.children({
        id,
        ...(props.required && { required: true }),
        ...(props.error && { 'aria-invalid': true }),
        ...(describedBy && { 'aria-describedby': describedBy }),
      })}
      {props.hint !== undefined && (
        <div className="quiet" id={`${id}-hint`}>
          {props.hint}
        </div>
      )}
      {props.error && (
        <div className="quiet bad" id={`${id}-error`}>
          {props.error}
        </div>
      )}
    </div>
  );
};

export const CheckField = (props: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) => (
  <label className={css.check}>
    <input
      type="checkbox"
      checked={props.checked}
      disabled={props.disabled}
      onChange={(event) => props.onChange(event.target.checked)}
    />
    {props.label}
  </label>
);

/** A select in a filter bar, with its label next to it. */
export const FilterSelect = (props: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, label: string])[];
  onChange: (value: string) => void;
}) => (
  <label className={css.filter}>
    {props.label}
    <select
      className={css.control}
      value={props.value}
      onChange={(event) => props.onChange(event.target.value)}
    >
      {props.options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </label>
);

/** Classes for controls that have their label elsewhere. */
export const controlLook = css.control;
export const filterLook = css.filter;
export const boxLook = css.box;
