import { useState } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { textOf } from './entry.ts';
import css from './Fields.module.css';
import { texts } from './texts.ts';
import type { EntryForm } from './use-entry.ts';

/** Fields of an entry, by their names on the wire. What is left empty says nothing. */

type FieldProps = { form: EntryForm; name: string; label: string; hint?: string };

export const TextEntry = (
  props: FieldProps & {
    required?: boolean;
    placeholder?: string | undefined;
    isFixed?: boolean;
    type?: 'text' | 'url';
  },
) => {
  const { form, name } = props;
  return (
    <Field
      label={props.label}
      hint={props.hint}
      error={form.errors.get(name)}
      {...(props.required && { required: true })}
    >
      {(control) => (
        <input
          {...control}
          type={props.type ?? 'text'}
          className={css.mono}
          placeholder={props.placeholder}
          readOnly={props.isFixed}
          value={textOf(form.draft[name])}
          onChange={({ target: { value } }) =>
            form.set({ [name]: value === '' && !props.required ? undefined : value })
          }
        />
      )}
    </Field>
  );
};

/** The id: it stays as it is once there is such an entry. */
export const IdEntry = (props: { form: EntryForm; label: string; hint?: string }) => (
  <TextEntry {...props} name="id" required isFixed={!props.form.opened.isNew} />
);

/** A number as it is typed: what is none stays a text, and is said to be wrong. */
const numberOf = (typed: string): unknown => {
  if (typed.trim() === '') return undefined;
  const value = Number(typed);
  return Number.isFinite(value) ? value : typed;
};

export const NumberEntry = (props: FieldProps & { placeholder?: string | undefined; step?: string }) => {
  const { form, name } = props;
  const value = form.draft[name];
  return (
    <Field label={props.label} hint={props.hint} error={form.errors.get(name)}>
      {(control) => (
        <input
          {...control}
          type="text"
          inputMode="decimal"
          className={css.number}
          placeholder={props.placeholder}
          value={typeof value === 'number' || typeof value === 'string' ? String(value) : ''}
          onChange={({ target }) => form.set({ [name]: numberOf(target.value) })}
        />
      )}
    </Field>
  );
};

export const SelectEntry = (
  props: FieldProps & {
    required?: boolean;
    options: readonly (readonly [value: string, text: string])[];
    /** What counts where nothing is given. */
    usual?: string;
  },
) => {
  const { form, name } = props;
  const value = textOf(form.draft[name]) || (props.usual ?? '');
  const isKnown = props.options.some(([option]) => option === value);
  return (
    <Field
      label={props.label}
      hint={props.hint}
      error={form.errors.get(name)}
      {...(props.required && { required: true })}
    >
      {(control) => (
        <select {...control} value={value} onChange={({ target }) => form.set({ [name]: target.value })}>
          {!isKnown && <option value={value}>{value}</option>}
          {props.options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

/** A list of texts, one in each line; empty lines say nothing. */
export const LinesEntry = (props: FieldProps) => {
  const { form, name } = props;
  const value = form.draft[name];
  const [typed, type] = useState(Array.isArray(value) ? value.join('\n') : '');
  return (
    <Field label={props.label} hint={props.hint} error={form.errors.get(name)}>
      {(control) => (
        <textarea
          {...control}
          className={css.mono}
          rows={3}
          value={typed}
          onChange={({ target }) => {
            type(target.value);
            const lines = target.value.split('\n').filter((line) => line.trim() !== '');
            form.set({ [name]: lines.length === 0 ? undefined : lines });
          }}
        />
      )}
    </Field>
  );
};

/** An object that somebody types: undefined while it is none. */
const readJsonObject = (text: string): { value?: JsonObject; why: string } => {
  if (text.trim() === '') return { value: {}, why: '' };
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? { value, why: '' } : { why: Array.isArray(value) ? '[…]' : String(value) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : '' };
  }
};

/** A draft whose JSON cannot be read holds the text itself: it is no object, and is said to be wrong. */
export const JsonEntry = (props: FieldProps & { rows?: number }) => {
  const t = useTexts(texts);
  const { form, name } = props;
  const value = form.draft[name];
  const [typed, type] = useState(
    isObject(value) && Object.keys(value).length > 0 ? JSON.stringify(value, null, 2) : textOf(value),
  );
  const { why } = readJsonObject(typed);
  const error = why === '' ? form.errors.get(name) : t('problem.json', { why });
  return (
    <Field label={props.label} hint={props.hint} error={error}>
      {(control) => (
        <textarea
          {...control}
          className={css.mono}
          rows={props.rows ?? 4}
          spellCheck={false}
          value={typed}
          onChange={({ target }) => {
            type(target.value);
            const read = readJsonObject(target.value).value;
            form.set({ [name]: read ?? target.value });
          }}
        />
      )}
    </Field>
  );
};

type Pair = { key: number; name: string; value: string };

const asObject = (pairs: readonly Pair[]): Record<string, string> =>
  Object.fromEntries(
    pairs.filter(({ name }) => name.trim() !== '').map(({ name, value }) => [name.trim(), value]),
  );

/** Names and values, such as headers. */
export const PairsField = (props: {
  label: string;
  value: Readonly<Record<string, string>>;
  isSecret?: boolean;
  error?: string | undefined;
  onChange: (value: Record<string, string>) => void;
}) => {
  const t = useTexts(texts);
  const [pairs, setPairs] = useState<readonly Pair[]>(() =>
    Object.entries(props.value).map(([name, value], key) => ({ key, name, value })),
  );
  const put = (next: readonly Pair[]): void => {
    setPairs(next);
    props.onChange(asObject(next));
  };
  const change = (key: number, fields: Partial<Pair>): void =>
    put(pairs.map((pair) => (pair.key === key ? { ...pair, ...fields } : pair)));
  return (
    <fieldset className={css.pairs}>
      <legend>{props.label}</legend>
      {pairs.map(({ key, name, value }) => (
        <div key={key} className={css.pair}>
          <input
            aria-label={t('pairs.name')}
            placeholder={t('pairs.name')}
            className={css.mono}
            value={name}
            onChange={({ target }) => change(key, { name: target.value })}
          />
          <input
            aria-label={`${t('pairs.value')} ${name}`}
            placeholder={t('pairs.value')}
            className={css.mono}
            type={props.isSecret ? 'password' : 'text'}
            autoComplete="off"
            value={value}
            onChange={({ target }) => change(key, { value: target.value })}
          />
          <IconButton
            small
            icon="close"
            label={t('pairs.remove', { name })}
            onClick={() => put(pairs.filter((pair) => pair.key !== key))}
          />
        </div>
      ))}
      <Button
        small
        icon="plus"
        onClick={() =>
          setPairs([...pairs, { key: Math.max(-1, ...pairs.map(({ key }) => key)) + 1, name: '', value: '' }])
        }
      >
        {t('pairs.add')}
      </Button>
      {props.error && <p className={css.error}>{props.error}</p>}
    </fieldset>
  );
};
