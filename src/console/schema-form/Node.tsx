import type { ReactNode } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { Button, IconButton } from '../design/Button.tsx';
import { Field } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { variantOf } from './check.ts';
import { useForm } from './context.ts';
import { Entries } from './Entries.tsx';
import { JsonBox } from './JsonBox.tsx';
import css from './SchemaForm.module.css';
import {
  EnumNode,
  FlagNode,
  hintOf,
  type NodeProps,
  NumberNode,
  optionNames,
  type SeenProps,
  TextNode,
  textIn,
  uiOf,
  withMember,
} from './scalars.tsx';
import { nameOf, type Property, placeOf, type Schema, seen } from './schema.ts';
import { asEdited, startOf } from './start.ts';
import { texts } from './texts.ts';
import { variantName } from './variant-name.ts';

/** One value of a form, by what its schema says of it. */

const Group = (props: {
  label: string;
  path: string;
  hint?: string | undefined;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  const { errors } = useForm();
  const error = errors.get(props.path);
  return (
    <fieldset className={css.group} aria-label={props.label}>
      <div className={css.groupHead}>
        <span className={css.groupName}>{props.label}</span>
        {props.hint && <span className={css.hint}>{props.hint}</span>}
        <span className={css.groupActions}>{props.actions}</span>
      </div>
      {props.children}
      {error && <p className={css.wrong}>{error}</p>}
    </fieldset>
  );
};

const ordered = (properties: readonly Property[], ui: JsonObject): readonly Property[] => {
  const order = ui['ui:order'];
  if (!Array.isArray(order)) return properties;
  const rank = ({ name }: Property): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...properties].sort((one, other) => rank(one) - rank(other));
};

/** Members of an object, without a frame. */
export const Members = (
  props: Pick<SeenProps, 'seen' | 'ui' | 'path' | 'onChange'> & { value: JsonObject },
) => {
  const { root } = useForm();
  const { seen: own, ui, path, value, onChange } = props;
  const { view } = own;
  if (view.kind !== 'object') return null;
  const known = new Set(view.properties.map(({ name }) => name));
  const shown = ordered(view.properties, ui).filter(
    ({ name, schema }) =>
      seen(schema, root).view.kind !== 'const' && uiOf(ui, name)['ui:widget'] !== 'hidden',
  );
  return (
    <div className={css.members}>
      {shown.map(({ name, schema, isRequired }) => (
        <Node
          key={name}
          schema={schema}
          ui={uiOf(ui, name)}
          label={textIn(uiOf(ui, name), 'ui:title') ?? nameOf(seen(schema, root).schema, name)}
          path={placeOf(path, name)}
          value={value[name]}
          isRequired={isRequired}
          onChange={(member) => onChange(withMember(value, name, member))}
        />
      ))}
      {view.rest && (
        <Entries
          {...props}
          draw={(inner) => <Node {...inner} />}
          rest={view.rest}
          keys={Object.keys(value).filter((key) => !known.has(key))}
        />
      )}
    </div>
  );
};

/** An entry needs no name of its own on the screen. */
const FLAT = new Set(['text', 'number', 'enum']);

const ListNode = (props: SeenProps & { items: Schema }) => {
  const t = useTexts(texts);
  const { root, forget } = useForm();
  const { items, ui, label, path, onChange } = props;
  const value: readonly unknown[] = Array.isArray(props.value) ? props.value : [];
  const isFlat = FLAT.has(seen(items, root).view.kind);
  let place = 0;
  return (
    <Group
      label={label}
      path={path}
      hint={hintOf(props)}
      actions={
        <>
          {props.seen.isNullable && <Clearing {...props} />}
          <Button
            small
            icon="plus"
            aria-label={t('add.to', { what: label })}
            onClick={() => onChange([...value, startOf(items, root)])}
          >
            {t('add')}
          </Button>
        </>
      }
    >
      {value.length === 0 && <p className={css.none}>{t('none')}</p>}
      {value.length > 0 && (
        <ol className={css.items} data-flat={isFlat || undefined}>
          {value.map((item, index) => {
            place += 1;
            return (
              <li key={place}>
                <Node
                  schema={items}
                  ui={uiOf(ui, 'items')}
                  label={`${label} ${place}`}
                  path={placeOf(path, index)}
                  value={item}
                  isRequired
                  onChange={(next) => onChange(value.with(index, next ?? null))}
                />
                <IconButton
                  small
                  icon="trash"
                  label={t('remove', { what: `${label} ${place}` })}
                  onClick={() => {
                    forget(path);
                    onChange(value.toSpliced(index, 1));
                  }}
                />
              </li>
            );
          })}
        </ol>
      )}
    </Group>
  );
};

/** The way back to nothing, for what may be nothing. */
const Clearing = (props: SeenProps) => {
  const t = useTexts(texts);
  const { forget } = useForm();
  const { seen: own, value, label, path, isRequired, onChange } = props;
  const isThere = typeof value === 'object' && value !== null && Object.keys(value).length > 0;
  if (!(isThere || (own.isNullable && value)) || (isRequired && !own.isNullable)) return null;
  const clear = (): void => {
    forget(path);
    onChange(own.isNullable ? null : undefined);
  };
  return <IconButton small icon="close" label={t('clear', { what: label })} onClick={clear} />;
};

const ObjectNode = (props: SeenProps) => {
  const { root } = useForm();
  const { seen: own, ui, label, path, value, onChange } = props;
  return (
    <Group label={label} path={path} hint={hintOf(props)} actions={<Clearing {...props} />}>
      <Members
        seen={own}
        ui={ui}
        path={path}
        value={isObject(value) ? value : {}}
        onChange={(next) => onChange(isObject(next) ? asEdited(own, root, value, next) : next)}
      />
    </Group>
  );
};

const ChoiceNode = (props: SeenProps & { variants: readonly Schema[] }) => {
  const t = useTexts(texts);
  const { root, errors, forget } = useForm();
  const { variants, seen: own, label, path, value, isRequired, onChange } = props;
  const names = optionNames(props.ui);
  const named = (variant: Schema, index: number): string =>
    String(names[index] ?? variantName(variant, root, (kind) => t(`variant.${kind}`)));
  const isSet = value !== undefined && value !== null;
  const at = isSet ? variantOf(variants, value, root) : -1;
  const chosen = variants[at];
  const choose = (typed: string): void => {
    const variant = variants[Number(typed)];
    forget(path);
    if (typed !== '' && variant) onChange(startOf(variant, root));
    else onChange(own.isNullable ? null : undefined);
  };
  const inner = chosen && seen(chosen, root);
  const hint = hintOf(props);
  return (
    <div className={css.choice}>
      <Field label={label} error={chosen ? undefined : errors.get(path)} {...(hint && { hint })}>
        {(control) => (
          <select {...control} value={at < 0 ? '' : at} onChange={(event) => choose(event.target.value)}>
            {(!isRequired || own.isNullable || at < 0) && <option value="">{t('unset')}</option>}
            {variants.map((variant, index) => {
              const name = named(variant, index);
              return (
                <option key={name} value={index}>
                  {name}
                </option>
              );
            })}
          </select>
        )}
      </Field>
      {isSet && !chosen && (
        <JsonBox label={t('json.of', { what: label })} path={path} value={value} onChange={onChange} />
      )}
      {chosen && inner?.view.kind === 'object' && isObject(value) && (
        <div className={css.nested}>
          <Members seen={inner} ui={props.ui} path={path} value={value} onChange={onChange} />
        </div>
      )}
      {chosen && inner && inner.view.kind !== 'object' && inner.view.kind !== 'const' && (
        <Node {...props} schema={chosen} label={named(chosen, at)} isRequired />
      )}
    </div>
  );
};

/** A value that is not of the kind that its schema asks for is not lost: it is shown as it is. */
const isOther = (kind: string, value: unknown): boolean => {
  if (value === undefined || value === null) return false;
  if (kind === 'object') return !isObject(value);
  if (kind === 'list') return !Array.isArray(value);
  return (kind === 'text' || kind === 'number' || kind === 'enum') && typeof value === 'object';
};

export const Node = (props: NodeProps): ReactNode => {
  const { root } = useForm();
  const own = seen(props.schema, root);
  const { view } = own;
  const inner = { ...props, seen: own };
  if (view.kind === 'json' || isOther(view.kind, props.value)) {
    const { label, path, value, onChange } = props;
    return <JsonBox label={label} path={path} value={value} hint={hintOf(inner)} onChange={onChange} />;
  }
  switch (view.kind) {
    case 'object':
      return <ObjectNode {...inner} />;
    case 'list':
      return <ListNode {...inner} items={view.items} />;
    case 'enum':
      return <EnumNode {...inner} options={view.options} />;
    case 'choice':
      return <ChoiceNode {...inner} variants={view.variants} />;
    case 'number':
      return <NumberNode {...inner} />;
    case 'flag':
      return <FlagNode {...inner} />;
    case 'text':
      return <TextNode {...inner} />;
    case 'const':
      return null;
  }
};
