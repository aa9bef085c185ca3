import { type ChangeEvent, useState } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { isSecretKey } from '../data/redaction.ts';
import { CountField } from '../design/CountField.tsx';
import { CheckField, Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { useForm } from './context.ts';
import css from './SchemaForm.module.css';
import type { Scalar, Schema, Seen } from './schema.ts';
import { texts } from './texts.ts';

/** Fields of single values. What is empty is left out, or null where only that says so. */

export type NodeProps = {
  schema: Schema;
  /** How it is shown, in the words of `ui_schema`. */
  ui: JsonObject;
  label: string;
  path: string;
  value: unknown;
  isRequired: boolean;
  /** Undefined: it is left out. */
  onChange: (value: unknown) => void;
};

export type SeenProps = NodeProps & { seen: Seen };

export const textIn = (source: JsonObject, key: string): string | undefined => {
  const value = source[key];
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const hintOf = ({ ui, seen }: Pick<SeenProps, 'ui' | 'seen'>): string | undefined =>
  textIn(ui, 'ui:description') ?? textIn(seen.schema, 'description');

const isReadOnly = ({ ui, seen }: SeenProps): boolean =>
  ui['ui:readonly'] === true || seen.schema.readOnly === true;

/** What says that there is nothing. */
const nothing = ({ seen, isRequired }: SeenProps, empty?: unknown): unknown => {
  if (seen.isNullable) return null;
  return isRequired ? empty : undefined;
};

const fieldProps = (props: SeenProps, error: string | undefined, hint = hintOf(props)) => ({
  label: props.label,
  error,
  ...(hint !== undefined && { hint }),
  ...(props.isRequired && !props.seen.isNullable && { required: true }),
});

const LONG = new Set(['textarea', 'markdown']);
const TYPES: Readonly<Record<string, string>> = { uri: 'url', email: 'email' };

/** Of a long text. */
const rowsOf = (ui: JsonObject): number => {
  const { rows } = uiOf(ui, 'ui:options');
  return typeof rows === 'number' ? rows : 5;
};

const isSecret = ({ ui, seen, path }: SeenProps): boolean =>
  ui['ui:widget'] === 'password' ||
  seen.schema.format === 'password' ||
  seen.schema.writeOnly === true ||
  isSecretKey(path.split('.').at(-1) ?? '');

/** What is stored is never on the page: only what is typed now, which replaces it. */
const SecretNode = (props: SeenProps) => {
  const t = useTexts(texts);
  const { errors } = useForm();
  const { path, value, onChange } = props;
  const [typed, type] = useState<string>();
  // A value from elsewhere is not what was typed.
  const text = typed !== undefined && typed === value ? typed : '';
  const isStored = text === '' && typeof value === 'string' && value !== '';
  return (
    <Field {...fieldProps(props, errors.get(path), isStored ? t('secret.stored') : hintOf(props))}>
      {(control) => (
        <input
          {...control}
          type="password"
          autoComplete="off"
          readOnly={isReadOnly(props)}
          value={text}
          onChange={(event) => {
            type(event.target.value);
            onChange(event.target.value === '' ? nothing(props, '') : event.target.value);
          }}
        />
      )}
    </Field>
  );
};

const PlainNode = (props: SeenProps) => {
  const { errors } = useForm();
  const { seen, ui, path, value, onChange } = props;
  const shared = {
    value: typeof value === 'string' ? value : '',
    readOnly: isReadOnly(props),
    placeholder: textIn(ui, 'ui:placeholder'),
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) =>
      onChange(target.value === '' ? nothing(props, '') : target.value),
  };
  return (
    <Field {...fieldProps(props, errors.get(path))}>
      {(control) =>
        LONG.has(textIn(ui, 'ui:widget') ?? '') ? (
          <textarea {...control} {...shared} rows={rowsOf(ui)} />
        ) : (
          <input
            {...control}
            {...shared}
            type={TYPES[String(seen.schema.format)] ?? 'text'}
            autoComplete="off"
          />
        )
      }
    </Field>
  );
};

export const TextNode = (props: SeenProps) =>
  isSecret(props) ? <SecretNode {...props} /> : <PlainNode {...props} />;

export const NumberNode = (props: SeenProps) => {
  const { errors } = useForm();
  const { seen, path, value, onChange } = props;
  const { default: usual } = seen.schema;
  const isWhole = seen.view.kind === 'number' && seen.view.isInteger;
  return (
    <CountField
      {...fieldProps(props, errors.get(path))}
      value={value ?? undefined}
      {...(typeof usual === 'number' && { placeholder: String(usual) })}
      {...(!isWhole && { step: 0.01 })}
      onChange={(next) => onChange(next ?? nothing(props, ''))}
    />
  );
};

/** What is chosen is a place among the options, so that they may be of any type. */
const Options = (props: SeenProps & { options: readonly Scalar[]; named: (option: Scalar) => string }) => {
  const t = useTexts(texts);
  const { errors } = useForm();
  const { seen, path, value, options, named, onChange } = props;
  const at = options.findIndex((option) => Object.is(option, value));
  const isSet = value !== undefined && value !== null;
  const { default: usual } = seen.schema;
  const shown = options.find((option) => option === usual);
  const unset =
    textIn(props.ui, 'ui:unset') ??
    (shown === undefined ? t('unset') : t('unset.default', { value: named(shown) }));
  const mayBeUnset = seen.isNullable || !props.isRequired || !isSet;
  return (
    <Field {...fieldProps(props, errors.get(path))}>
      {(control) => (
        <select
          {...control}
          value={isSet ? at : ''}
          disabled={isReadOnly(props)}
          onChange={(event) =>
            onChange(event.target.value === '' ? nothing(props) : options[Number(event.target.value)])
          }
        >
          {mayBeUnset && <option value="">{unset}</option>}
          {isSet && at < 0 && <option value={-1}>{JSON.stringify(value)}</option>}
          {options.map((option, index) => (
            <option key={String(option)} value={index}>
              {named(option)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

/** Names of options, where `ui_schema` has them. */
export const optionNames = (ui: JsonObject): readonly unknown[] => {
  const names = ui['ui:enumNames'];
  return Array.isArray(names) ? names : [];
};

export const EnumNode = (props: SeenProps & { options: readonly Scalar[] }) => {
  const { options, ui } = props;
  const names = optionNames(ui);
  return <Options {...props} named={(option) => String(names[options.indexOf(option)] ?? option)} />;
};

const BOTH = [true, false] as const;

export const FlagNode = (props: SeenProps) => {
  const t = useTexts(texts);
  const { seen, ui, value, onChange } = props;
  const names = optionNames(ui);
  const { default: usual } = seen.schema;
  const isBox = ui['ui:widget'] === 'checkbox';
  if ((seen.isNullable && !isBox) || (value !== undefined && value !== null && typeof value !== 'boolean')) {
    const named = (option: Scalar): string =>
      String(names[option === true ? 0 : 1] ?? t(option ? 'yes' : 'no'));
    return <Options {...props} options={BOTH} named={named} />;
  }
  const hint = hintOf(props);
  return (
    <div className={css.flag}>
      <CheckField
        label={props.label}
        checked={typeof value === 'boolean' ? value : usual === true}
        disabled={isReadOnly(props)}
        onChange={onChange}
      />
      {hint && <span className={css.hint}>{hint}</span>}
    </div>
  );
};

export const uiOf = (ui: JsonObject, name: string): JsonObject => {
  const inner = ui[name];
  return isObject(inner) ? inner : {};
};

/** Without the members that are left out. */
export const withMember = (value: JsonObject, name: string, member: unknown): JsonObject => {
  if (member !== undefined) return { ...value, [name]: member };
  const { [name]: _, ...others } = value;
  return others;
};
