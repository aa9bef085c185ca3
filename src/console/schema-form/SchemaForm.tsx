import type { ReactNode } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { useAtom } from '../data/use-atom.ts';
import { useTexts } from '../i18n/locale.ts';
import { isBlank, type Problem, problemsIn } from './check.ts';
import { EMPTY, Form, type NodeProps, type Unread, unreadAt, type Widgets, type Words } from './context.ts';
import { expressionEngine } from './expressions.ts';
import { JsonBox } from './JsonBox.tsx';
import { Group } from './lists.tsx';
import { Members, Node } from './Node.tsx';
import css from './SchemaForm.module.css';
import { type Schema, seen } from './schema.ts';
import texts from './texts.json' with { type: 'json' };

/**
 * A form for any JSON object with a schema. It reports invalid values while the user types, and missing ones only after
 * an attempt to save (`errors`).
 *
 * @example
 * <SchemaForm
 *   label={t('title')} schema={schema} value={draft} onChange={setDraft} errors={errors}
 *   words={(place) => textAt(`field.${place}`)}
 *   fields={['name', { title: t('limits'), fields: ['max_rounds'] }]}
 *   ui={{ name: { 'ui:widget': 'textarea' } }}
 * />
 */
export type SchemaFormProps = {
  label: string;
  schema: Schema;
  value: JsonObject;
  onChange: (value: JsonObject) => void;
  /** Hints in the form of `ui_schema`, by field. */
  ui?: JsonObject | undefined;
  words?: Words | undefined;
  /** Inputs of the screen, by the name in `ui:widget`. */
  widgets?: Widgets | undefined;
  /** The fields and groups to show, in this order. Without it, all fields are shown. */
  fields?: readonly (string | FieldGroup)[] | undefined;
  /** Adds something to a field of the form, such as a way to reset it. */
  wrap?: ((field: string, content: ReactNode) => ReactNode) | undefined;
  /** Path of the value within the saved object; the paths of `errors` and `unread` start with it. */
  path?: string;
  /** Problems by path, such as `rules.0.tool`. */
  errors?: ReadonlyMap<string, string>;
  unread?: Unread;
  onUnread?: (path: string, text: string | undefined) => void;
  /** Edits the whole value as JSON. */
  asJson?: boolean | undefined;
};

export type FieldGroup = { title: string; fields: readonly string[]; isClosed?: boolean };

/** Texts of problems in the current language. */
export const useProblemTexts = (): ((problem: Problem) => string) => {
  const t = useTexts(texts);
  return ({ key, values }) => t(key, values);
};

const NO_HINTS: JsonObject = {};
const drawNode = (props: NodeProps): ReactNode => <Node {...props} />;

/** Consecutive fields of the same group; the title of fields outside of groups is undefined. */
const groupsOf = (fields: SchemaFormProps['fields']): (Partial<FieldGroup> & { at: string })[] => {
  if (!fields) return [{ at: '' }];
  const groups: (Partial<FieldGroup> & { at: string; fields: readonly string[] })[] = [];
  for (const entry of fields) {
    const last = groups.at(-1);
    if (typeof entry !== 'string') groups.push({ ...entry, at: entry.title });
    else if (last && last.title === undefined) last.fields = [...last.fields, entry];
    else groups.push({ fields: [entry], at: entry });
  }
  return groups;
};

export const SchemaForm = (props: SchemaFormProps) => {
  const { label, schema, value, path = '', onChange, ui = NO_HINTS } = props;
  const { errors = EMPTY.errors, unread = EMPTY.unread, onUnread = EMPTY.onUnread } = props;
  const textOf = useProblemTexts();
  // Patterns apply once their engine is loaded.
  useAtom(expressionEngine);
  const found = problemsIn(schema, value, schema, path).filter((problem) => !isBlank(problem));
  const shown = new Map([...found.map((problem) => [problem.path, textOf(problem)] as const), ...errors]);
  const form = {
    root: schema,
    base: path,
    errors: shown,
    unread,
    onUnread,
    forget: (place: string) => {
      for (const field of unreadAt(unread, place)) onUnread(field, undefined);
    },
    words: props.words ?? EMPTY.words,
    widgets: props.widgets ?? EMPTY.widgets,
    draw: drawNode,
  };
  const take = (next: unknown): void => {
    if (isObject(next)) onChange(next);
  };
  const own = seen(schema, schema);
  if (props.asJson || own.view.kind !== 'object') {
    return (
      <Form value={form}>
        <JsonBox label={label} path={path} value={value} rows={14} asObject="required" onChange={take} />
      </Form>
    );
  }
  const members = (fields: readonly string[] | undefined): ReactNode => (
    <Members seen={own} ui={ui} path={path} value={value} fields={fields} wrap={props.wrap} onChange={take} />
  );
  return (
    <Form value={form}>
      {!props.fields && shown.get(path) && <p className="quiet bad">{shown.get(path)}</p>}
      {groupsOf(props.fields).map(({ at, title, fields, isClosed }) => {
        if (title === undefined) return <div key={at}>{members(fields)}</div>;
        if (!isClosed) {
          return (
            <Group key={at} label={title} path="" isTop>
              {members(fields)}
            </Group>
          );
        }
        return (
          <details key={at} className={css.closed}>
            <summary>{title}</summary>
            {members(fields)}
          </details>
        );
      })}
    </Form>
  );
};
