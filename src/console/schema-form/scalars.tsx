import { type ChangeEvent, useId, useState } from 'react';
import { isSecretKey } from '../data/redaction.ts';
import { CountField } from '../design/CountField.tsx';
import { CheckField, Field } from '../design/Field.tsx';
import { TextField } from '../design/Inputs.tsx';
import { Segmented } from '../design/Segmented.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type SeenProps, useForm, useWordAt } from './context.ts';
import { isReadOnly, listIn, nothing, textIn, uiOf, useHelp } from './hints.ts';
import css from './SchemaForm.module.css';
import type { Scalar } from './schema.ts';
import texts from './texts.json' with { type: 'json' };

/** Inputs for single values. An empty input leaves the value out, or sets it to null if it is nullable. */

/** The properties of the `Field` around an input. */
export const useFieldProps = (props: SeenProps) => {
  const { errors } = useForm();
  const hint = useHelp(props);
  return {
    label: props.label,
    error: errors.get(props.path),
    ...(hint !== undefined && { hint }),
    ...(props.isRequired && !props.seen.isNullable && !isReadOnly(props) && { required: true }),
  };
};

const LONG = new Set(['textarea', 'markdown']);
const TYPES: Readonly<Record<string, string>> = { uri: 'url', email: 'email' };

/** Number of rows of a multi-line input. */
const rowsOf = ({ ui }: SeenProps, usual = 5): number => {
  const { rows } = uiOf(ui, 'ui:options');
  return typeof rows === 'number' ? rows : usual;
};

const isSecret = ({ ui, seen, path }: SeenProps): boolean =>
  ui['ui:widget'] === 'password' ||
  seen.schema.format === 'password' ||
  seen.schema.writeOnly === true ||
  isSecretKey(path.split('.').at(-1) ?? '');

/** The suggested values of a text, with their names. */
const Suggestions = ({ id, ui }: { id: string; ui: SeenProps['ui'] }) => (
  <datalist id={id}>
    {listIn(ui, 'ui:suggestions').map((each, index) => (
      <option key={String(each)} value={String(each)}>
        {listIn(ui, 'ui:enumNames')[index]?.toString()}
      </option>
    ))}
  </datalist>
);

/**
 * A text, with the values of `ui:suggestions` as suggestions. A stored secret is never shown; a typed value replaces it.
 */
export const TextNode = (props: SeenProps) => {
  const t = useTexts(texts);
  const field = useFieldProps(props);
  const { seen, ui, value, onChange } = props;
  const { default: usual, format } = seen.schema;
  const secret = isSecret(props);
  const [typed, type] = useState<string>();
  const text = typeof value === 'string' ? value : '';
  const isSuggested = 'ui:suggestions' in ui;
  const list = useId();
  // A secret that was set from outside was not typed and must stay hidden.
  const isHidden = secret && text !== '' && typed !== value;
  const shared = {
    value: isHidden ? '' : text,
    readOnly: isReadOnly(props),
    placeholder: textIn(ui, 'ui:placeholder') ?? (typeof usual === 'string' ? usual : undefined),
    onChange: ({ target }: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      type(target.value);
      onChange(target.value === '' ? nothing(props, '') : target.value);
    },
  };
  return (
    <Field {...field} {...(isHidden && { hint: t('secret.stored') })}>
      {(control) =>
        LONG.has(textIn(ui, 'ui:widget') ?? '') ? (
          <textarea {...control} {...shared} rows={rowsOf(props)} />
        ) : (
          <>
            <input
              {...control}
              {...shared}
              type={secret ? 'password' : (TYPES[String(format)] ?? 'text')}
              autoComplete="off"
              spellCheck={false}
              {...(isSuggested && { list })}
            />
            {isSuggested && <Suggestions id={list} ui={ui} />}
          </>
        )
      }
    </Field>
  );
};

export const NumberNode = (props: SeenProps) => {
  const field = useFieldProps(props);
  const { seen, ui, value, onChange } = props;
  const { default: usual } = seen.schema;
  const placeholder = textIn(ui, 'ui:placeholder') ?? (typeof usual === 'number' ? String(usual) : undefined);
  const isWhole = seen.view.kind === 'number' && seen.view.isInteger;
  return (
    <CountField
      {...field}
      value={value ?? undefined}
      {...(placeholder !== undefined && { placeholder })}
      {...(!isWhole && { step: 0.01 })}
      onChange={(next) => onChange(next ?? nothing(props, ''))}
    />
  );
};

export type Option = { name: string; value: unknown };

/** A select whose options may have values of any type. */
export const Options = (props: SeenProps & { options: readonly Option[]; at: number; unset?: string }) => {
  const t = useTexts(texts);
  const wordAt = useWordAt();
  const field = useFieldProps(props);
  const { path, value, options, at, onChange } = props;
  // The empty text of a new entry is no choice, unless it is an option.
  const isSet = value !== undefined && value !== null && (value !== '' || at >= 0);
  const unset = wordAt(path, 'unset') ?? textIn(props.ui, 'ui:unset') ?? props.unset ?? t('unset');
  const mayBeUnset = props.seen.isNullable || !props.isRequired || !isSet;
  return (
    <Field {...field}>
      {(control) => (
        <select
          {...control}
          value={isSet ? at : ''}
          disabled={isReadOnly(props)}
          onChange={({ target }) =>
            onChange(target.value === '' ? nothing(props) : options[Number(target.value)]?.value)
          }
        >
          {mayBeUnset && <option value="">{unset}</option>}
          {isSet && at < 0 && <option value={-1}>{JSON.stringify(value)}</option>}
          {options.map(({ name }, index) => (
            <option key={name} value={index}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

/** The names of options: from the texts, from `ui_schema`, or the option itself. */
export const useNames = ({ path, ui }: SeenProps) => {
  const t = useTexts(texts);
  const wordAt = useWordAt();
  const usual = (option: Scalar): string =>
    typeof option === 'boolean' ? t(option ? 'yes' : 'no') : String(option);
  return (option: Scalar, index: number): string =>
    wordAt(path, String(option)) ?? String(listIn(ui, 'ui:enumNames')[index] ?? usual(option));
};

/** Few options of a required choice, as buttons. */
const Buttons = (props: SeenProps & { options: readonly Option[]; at: number }) => {
  const help = useHelp(props);
  const { options, at, seen, onChange } = props;
  const { default: usual } = seen.schema;
  const shown = at < 0 ? options.findIndex(({ value }) => value === usual) : at;
  return (
    <div className="stack">
      <Segmented
        label={props.label}
        isLabelShown
        value={String(shown)}
        options={options.map(({ name }, index) => [String(index), name] as const)}
        onChange={(index) => onChange(options[Number(index)]?.value)}
      />
      {help && <span className="quiet">{help}</span>}
    </div>
  );
};

const ScalarOptions = (props: SeenProps & { options: readonly Scalar[] }) => {
  const t = useTexts(texts);
  const nameOf = useNames(props);
  const { default: usual } = props.seen.schema;
  const options = props.options.map((option, index) => ({ name: nameOf(option, index), value: option }));
  const at = options.findIndex(({ value }) => Object.is(value, props.value));
  const first = options.find(({ value }) => value === usual);
  if (props.ui['ui:widget'] === 'buttons') return <Buttons {...props} options={options} at={at} />;
  const unset = first && t('unset.default', { value: first.name });
  return <Options {...props} options={options} at={at} {...(unset && { unset })} />;
};

export const EnumNode = (props: SeenProps) =>
  props.seen.view.kind === 'enum' && <ScalarOptions {...props} options={props.seen.view.options} />;

const BOTH = [true, false] as const;

export const FlagNode = (props: SeenProps) => {
  const help = useHelp(props);
  const { seen, ui, value, onChange } = props;
  const isOther = value !== undefined && value !== null && typeof value !== 'boolean';
  const isSelect = ui['ui:widget'] === 'select' || (seen.isNullable && ui['ui:widget'] !== 'checkbox');
  if (isSelect || isOther) return <ScalarOptions {...props} options={BOTH} />;
  return (
    <div className={css.flag}>
      <CheckField
        label={props.label}
        checked={typeof value === 'boolean' ? value : seen.schema.default === true}
        disabled={isReadOnly(props)}
        onChange={onChange}
      />
      {help && <span className="quiet">{help}</span>}
    </div>
  );
};

const linesIn = (value: unknown): string => (Array.isArray(value) ? value.join('\n') : '');

/** A list of texts with one text per line. */
export const Lines = (props: SeenProps) => {
  const field = useFieldProps(props);
  const [typed, type] = useState(() => linesIn(props.value));
  // White space can be a valid text, so only empty lines are ignored.
  const read = (text: string): string[] => text.split('\n').filter((line) => line !== '');
  // A value set from outside replaces the typed text.
  const text = linesIn(read(typed)) === linesIn(props.value) ? typed : linesIn(props.value);
  return (
    <TextField
      {...field}
      isCode
      rows={rowsOf(props, 2)}
      readOnly={isReadOnly(props)}
      value={text}
      onChange={(next) => {
        type(next);
        const lines = read(next);
        props.onChange(lines.length > 0 ? lines : nothing(props, []));
      }}
    />
  );
};
