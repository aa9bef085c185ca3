import { type ComponentType, Fragment, type ReactNode } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { CheckField } from '../design/Field.tsx';
import { useTexts } from '../i18n/locale.ts';
import { variantOf } from './check.ts';
import { type NodeProps, type SeenProps, useForm, useWordAt } from './context.ts';
import { listIn, nothing, textIn, uiOf, useHelp, withMember } from './hints.ts';
import { JsonBox } from './JsonBox.tsx';
import { CheckBoxes, Clearing, Entries, Group, ListNode } from './lists.tsx';
import css from './SchemaForm.module.css';
import { EnumNode, FlagNode, Lines, NumberNode, Options, TextNode } from './scalars.tsx';
import { nameOf, type Property, placeOf, type Seen, seen, type View } from './schema.ts';
import { asEdited, startOf } from './start.ts';
import texts from './texts.json' with { type: 'json' };
import { useVariants } from './variants.ts';

/** One value of a form, drawn as its schema describes it. */

const ordered = (properties: readonly Property[], ui: JsonObject): readonly Property[] => {
  const order = listIn(ui, 'ui:order');
  const rank = ({ name }: Property): number => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...properties].sort((one, other) => rank(one) - rank(other));
};

export type MembersProps = {
  seen: Seen;
  ui: JsonObject;
  path: string;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  /** The fields to show, in this order; all fields if it is absent. */
  fields?: readonly string[] | undefined;
  wrap?: ((field: string, content: ReactNode) => ReactNode) | undefined;
};

/** The members of an object, without a frame. */
export const Members = (props: MembersProps) => {
  const { root } = useForm();
  const wordAt = useWordAt();
  const { ui, path, value, onChange, fields, wrap } = props;
  const { view } = props.seen;
  if (view.kind !== 'object') return null;
  const listed = fields?.flatMap((field) => view.properties.filter(({ name }) => name === field));
  const shown = (listed ?? ordered(view.properties, ui)).filter(
    ({ name, schema }) =>
      seen(schema, root).view.kind !== 'const' && uiOf(ui, name)['ui:widget'] !== 'hidden',
  );
  return (
    <div className={css.members}>
      {shown.map(({ name, schema, isRequired }) => {
        const own = uiOf(ui, name);
        const at = placeOf(path, name);
        const node = (
          <Node
            schema={schema}
            ui={own}
            label={wordAt(at) ?? textIn(own, 'ui:title') ?? nameOf(seen(schema, root).schema, name)}
            path={at}
            value={value[name]}
            isRequired={typeof own['ui:required'] === 'boolean' ? own['ui:required'] : isRequired}
            onChange={(member) => onChange(withMember(value, name, member))}
          />
        );
        return <Fragment key={name}>{wrap ? wrap(name, node) : node}</Fragment>;
      })}
      {view.rest && !fields && (
        <Entries
          ui={ui}
          path={path}
          value={value}
          rest={view.rest}
          known={new Set(view.properties.map(({ name }) => name))}
          onChange={(next) => isObject(next) && onChange(next)}
        />
      )}
    </div>
  );
};

const ObjectNode = (props: SeenProps) => {
  const { root } = useForm();
  const help = useHelp(props);
  const { seen: own, ui, label, path, value, onChange } = props;
  return (
    <Group label={label} path={path} help={help} actions={<Clearing {...props} />}>
      <Members
        seen={own}
        ui={ui}
        path={path}
        value={isObject(value) ? value : {}}
        onChange={(next) => onChange(asEdited(own, root, value, next))}
      />
    </Group>
  );
};

/** An object that a check box adds and removes. `ui:start` contains its initial members. */
const OptionalNode = (props: SeenProps) => {
  const { root } = useForm();
  const wordAt = useWordAt();
  const { schema, seen: own, ui, label, path, value, onChange } = props;
  const start = (): unknown => (isObject(ui['ui:start']) ? ui['ui:start'] : startOf(schema, root));
  return (
    <div className="stack">
      <CheckField
        label={wordAt(path, 'apply') ?? label}
        checked={isObject(value)}
        onChange={(checked) => onChange(checked ? start() : nothing({ seen: own, isRequired: false }))}
      />
      {isObject(value) && <Members seen={own} ui={ui} path={path} value={value} onChange={onChange} />}
    </div>
  );
};

const ChoiceNode = (props: SeenProps) => {
  const t = useTexts(texts);
  const { root, forget } = useForm();
  const { label, path, value, ui, onChange } = props;
  const variants = useVariants(props.schema, path, ui);
  const schemas = variants.map(({ schema }) => schema);
  const isSet = value !== undefined && value !== null;
  const at = isSet ? variantOf(schemas, value, root) : -1;
  const chosen = variants[at];
  const inner = chosen && seen(chosen.schema, root);
  const isItem = ui['ui:isItem'] === true && inner?.view.kind === 'object';
  const choose = (next: unknown): void => {
    forget(path);
    onChange(next);
  };
  return (
    <div className={`stack ${css.choice}`} data-item={isItem || undefined}>
      {isItem ? (
        <strong>{chosen?.name}</strong>
      ) : (
        <Options {...props} options={variants} at={at} onChange={choose} />
      )}
      {isSet && !chosen && (
        <JsonBox label={t('json.of', { what: label })} path={path} value={value} onChange={onChange} />
      )}
      {inner?.view.kind === 'object' && isObject(value) && (
        <div className={isItem ? undefined : css.nested}>
          <Members seen={inner} ui={ui} path={path} value={value} onChange={onChange} />
        </div>
      )}
      {chosen && inner && inner.view.kind !== 'object' && !chosen.isFixed && (
        <Node {...props} schema={chosen.schema} label={chosen.name} isRequired />
      )}
    </div>
  );
};

const JsonNode = (props: SeenProps) => {
  const help = useHelp(props);
  const { label, path, value, seen: own, onChange } = props;
  const isObjectOnly = own.schema.type === 'object';
  return (
    <JsonBox
      label={label}
      path={path}
      value={value}
      hint={help}
      {...(isObjectOnly && { asObject: 'optional' })}
      onChange={onChange}
    />
  );
};

const KINDS: Readonly<Record<View['kind'], ComponentType<SeenProps>>> = {
  object: ObjectNode,
  list: ListNode,
  enum: EnumNode,
  choice: ChoiceNode,
  const: () => null,
  number: NumberNode,
  flag: FlagNode,
  text: TextNode,
  json: JsonNode,
};

const WIDGETS: Readonly<Record<string, ComponentType<SeenProps>>> = {
  checkboxes: CheckBoxes,
  lines: Lines,
  optional: OptionalNode,
};

/** True if the value does not match the kind of its schema. It is then shown as JSON, so that it is not lost. */
const isOther = (kind: string, value: unknown): boolean => {
  if (value === undefined || value === null) return false;
  if (kind === 'object') return !isObject(value);
  if (kind === 'list') return !Array.isArray(value);
  return (kind === 'text' || kind === 'number' || kind === 'enum') && typeof value === 'object';
};

export const Node = (props: NodeProps): ReactNode => {
  const { root, widgets } = useForm();
  const own = seen(props.schema, root);
  const name = textIn(props.ui, 'ui:widget') ?? '';
  const Kind = isOther(own.view.kind, props.value)
    ? JsonNode
    : (widgets[name] ?? WIDGETS[name] ?? KINDS[own.view.kind]);
  return <Kind {...props} seen={own} />;
};
