import { type ReactNode, useState } from 'react';
import { isObject } from '../data/guard.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { CheckField, controlLook } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { type SeenProps, useForm, useWordAt } from './context.ts';
import { nothing, uiOf, useHelp, withMember } from './hints.ts';
import css from './SchemaForm.module.css';
import { useNames } from './scalars.tsx';
import { placeOf, type Schema, seen } from './schema.ts';
import { startOf } from './start.ts';
import texts from './texts.json' with { type: 'json' };
import { useVariants } from './variants.ts';

/** Lists, and objects whose members the schema does not name. */

export const Group = (props: {
  label: string;
  path: string;
  help?: string | undefined;
  actions?: ReactNode;
  /** A group of the form, without a value. */
  isTop?: boolean;
  children: ReactNode;
}) => {
  const error = useForm().errors.get(props.path);
  return (
    <fieldset className={`stack ${css.group} ${props.isTop ? css.top : ''}`} aria-label={props.label}>
      <div className={`row ${css.groupHead}`}>
        <span className={css.groupName}>{props.label}</span>
        {props.help && <span className="quiet">{props.help}</span>}
        <span className="row push">{props.actions}</span>
      </div>
      {props.children}
      {error && <p className="quiet bad">{error}</p>}
    </fieldset>
  );
};

/** Resets an optional value. */
export const Clearing = (props: SeenProps) => {
  const t = useTexts(texts);
  const { forget } = useForm();
  const { seen: own, value, label, path, isRequired, onChange } = props;
  const isThere = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!(isThere || (own.isNullable && value)) || (isRequired && !own.isNullable)) return null;
  const clear = (): void => {
    forget(path);
    onChange(nothing(props));
  };
  return <IconButton small icon="close" label={t('clear', { what: label })} onClick={clear} />;
};

/** Adds an item: a button, or a select if there are several kinds of items. */
const Adding = (props: SeenProps & { items: Schema; onAdd: (item: unknown) => void }) => {
  const t = useTexts(texts);
  const wordAt = useWordAt();
  const { root } = useForm();
  const variants = useVariants(props.items, placeOf(props.path, 0), uiOf(props.ui, 'items'));
  const label = wordAt(props.path, 'add');
  if (variants.length > 0) {
    const name = label ?? t('add.to', { what: props.label });
    return (
      <select
        className={`${controlLook} ${css.add}`}
        aria-label={name}
        value=""
        onChange={({ target }) => props.onAdd(variants[Number(target.value)]?.value)}
      >
        <option value="">{name}</option>
        {variants.map((variant, index) => (
          <option key={variant.name} value={index}>
            {variant.name}
          </option>
        ))}
      </select>
    );
  }
  return (
    <Button
      small
      icon="plus"
      aria-label={label ?? t('add.to', { what: props.label })}
      onClick={() => props.onAdd(startOf(props.items, root))}
    >
      {label ?? t('add')}
    </Button>
  );
};

/** Moves an item of a list whose order matters, for which the hint is `ui:orderable`. */
const Moving = (props: {
  name: string;
  items: readonly unknown[];
  index: number;
  onMove: (items: readonly unknown[]) => void;
}) => {
  const t = useTexts(texts);
  const { name, items, index, onMove } = props;
  const swapped = (other: number) => items.with(index, items[other]).with(other, items[index]);
  return (
    <>
      <IconButton
        small
        icon="arrowUp"
        label={t('up', { what: name })}
        disabled={index === 0}
        onClick={() => onMove(swapped(index - 1))}
      />
      <IconButton
        small
        icon="arrowDown"
        label={t('down', { what: name })}
        disabled={index === items.length - 1}
        onClick={() => onMove(swapped(index + 1))}
      />
    </>
  );
};

/** Kinds whose list items need no label. */
const FLAT = new Set(['text', 'number', 'enum']);

export const ListNode = (props: SeenProps) => {
  const t = useTexts(texts);
  const wordAt = useWordAt();
  const help = useHelp(props);
  const { root, forget, draw } = useForm();
  const { ui, label, path, onChange } = props;
  const items = props.seen.view.kind === 'list' ? props.seen.view.items : {};
  const value: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const isFlat = FLAT.has(seen(items, root).view.kind);
  const itemName = wordAt(placeOf(path, 0)) ?? label;
  const replace = (next: readonly unknown[]): void =>
    onChange(next.length === 0 && !props.isRequired && ui['ui:empty'] === 'omit' ? undefined : next);
  const move = (next: readonly unknown[]): void => {
    forget(path);
    replace(next);
  };
  let place = 0;
  return (
    <Group
      label={label}
      path={path}
      help={help}
      actions={
        <>
          {props.seen.isNullable && <Clearing {...props} />}
          <Adding {...props} items={items} onAdd={(item) => replace([...value, item])} />
        </>
      }
    >
      {value.length === 0 && <p className="quiet">{wordAt(path, 'none') ?? t('none')}</p>}
      {value.length > 0 && (
        <ol className={css.items} data-flat={isFlat || undefined}>
          {value.map((item, index) => {
            place += 1;
            return (
              <li key={place}>
                {draw({
                  schema: items,
                  ui: { ...uiOf(ui, 'items'), 'ui:isItem': true },
                  label: `${itemName} ${place}`,
                  path: placeOf(path, index),
                  value: item,
                  isRequired: true,
                  onChange: (next) => onChange(value.with(index, next ?? null)),
                })}
                <span className="row">
                  {ui['ui:orderable'] === true && (
                    <Moving name={`${itemName} ${place}`} items={value} index={index} onMove={move} />
                  )}
                  <IconButton
                    small
                    icon="trash"
                    label={t('remove', { what: `${itemName} ${place}` })}
                    onClick={() => move(value.toSpliced(index, 1))}
                  />
                </span>
              </li>
            );
          })}
        </ol>
      )}
    </Group>
  );
};

/** A list of fixed options, as check boxes. */
export const CheckBoxes = (props: SeenProps) => {
  const t = useTexts(texts);
  const { root } = useForm();
  const help = useHelp(props);
  const nameOf = useNames(props);
  const { view, schema } = props.seen;
  const items = view.kind === 'list' ? seen(view.items, root).view : undefined;
  const usual = Array.isArray(schema.default) ? schema.default.join(', ') : '';
  const chosen: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const toggle = (option: unknown, isOn: boolean): void => {
    const next = isOn ? [...chosen, option] : chosen.filter((other) => other !== option);
    props.onChange(next.length > 0 ? next : nothing(props, []));
  };
  return (
    <Group
      label={props.label}
      path={props.path}
      help={chosen.length === 0 && usual !== '' ? t('unset.default', { value: usual }) : help}
    >
      <span className="row">
        {(items?.kind === 'enum' ? items.options : []).map((option, index) => (
          <CheckField
            key={String(option)}
            label={nameOf(option, index)}
            checked={chosen.includes(option)}
            onChange={(isOn) => toggle(option, isOn)}
          />
        ))}
      </span>
    </Group>
  );
};

/** Members of an object whose names the schema does not define. */
export const Entries = (
  props: Pick<SeenProps, 'ui' | 'path' | 'value' | 'onChange'> & { rest: Schema; known: ReadonlySet<string> },
) => {
  const t = useTexts(texts);
  const { root, forget, draw } = useForm();
  const { ui, path, rest, onChange } = props;
  const value = isObject(props.value) ? props.value : {};
  const [typed, type] = useState('');
  const key = typed.trim();
  const mayAdd = key !== '' && !(key in value);
  const add = (): void => {
    if (!mayAdd) return;
    onChange({ ...value, [key]: startOf(rest, root) });
    type('');
  };
  return (
    <div className={`stack ${css.entries}`}>
      {Object.keys(value)
        .filter((name) => !props.known.has(name))
        .map((name) => (
          <div key={name} className={css.entry}>
            {draw({
              schema: rest,
              ui: uiOf(ui, 'additionalProperties'),
              label: name,
              path: placeOf(path, name),
              value: value[name],
              isRequired: true,
              onChange: (member) => onChange({ ...value, [name]: member ?? null }),
            })}
            <IconButton
              small
              icon="trash"
              label={t('remove', { what: name })}
              onClick={() => {
                forget(placeOf(path, name));
                onChange(withMember(value, name, undefined));
              }}
            />
          </div>
        ))}
      <div className={`row ${css.adding}`}>
        <input
          type="text"
          className={`${controlLook} mono`}
          aria-label={t('map.key', { what: path.split('.').at(-1) ?? '' })}
          value={typed}
          spellCheck={false}
          onChange={({ target }) => type(target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
        <Button small icon="plus" disabled={!mayAdd} onClick={add}>
          {t('map.add')}
        </Button>
      </div>
    </div>
  );
};
